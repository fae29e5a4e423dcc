// `ws` as its documentation shows it: one `send` for each message. Orders come on standard input, as for the lab's other servers.

import { createInterface } from 'node:readline';
import { WebSocketServer } from 'ws';

const PACKET = 136;

let sequence = 0;

// The fields of an EISA packet that subscribers look at (docs/reference/eisa.md).
function packet() {
  const bytes = Buffer.alloc(PACKET);
  const microseconds = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000));
  sequence += 1;
  bytes.write('EISA\x01\x01', 'latin1');
  bytes.writeUInt32LE(Number(microseconds / 1_000_000n), 24);
  bytes.writeUInt32LE(Number(microseconds % 1_000_000n), 28);
  bytes.writeUInt32LE(sequence, 32);
  return bytes;
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: '/ws', backlog: 1024 }, () => {
  console.log(`ready 127.0.0.1:${server.address().port}`);
});

const orders = createInterface({ input: process.stdin });
orders.on('line', (line) => {
  const [order, burst] = line.split(' ');
  if (order !== 'round') throw new Error(`no order for this server: ${line}`);
  const messages = Array.from({ length: Number(burst) }, packet);
  for (const client of server.clients) {
    for (const message of messages) client.send(message);
  }
});
orders.on('close', () => process.exit(0));
