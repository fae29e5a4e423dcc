// Several processes on one port, as SocketCluster has them. Arguments: number of workers, bytes of the file that answers a ping (0: the counter), address.

import cluster from 'node:cluster';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const [workers, bytes] = process.argv.slice(2, 4).map(Number);
const host = process.argv[4] ?? '127.0.0.1';

// What a worker answers to a ping: its number and its counter, or its number and a file.
function answers(worker) {
  const file = 'x'.repeat(bytes);
  let count = 0;
  return () => {
    count += 1;
    return bytes > 0 ? `${worker}:${file}` : `${worker}:${count}`;
  };
}

// The page of figure 3.2: it pings, and shows the counter of the worker that it has reached.
async function show(_, response) {
  const page = await readFile(new URL('page.html', import.meta.url));
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page);
}

// Starts the workers, and says when all of them listen. `attach` gets an HTTP server and a function that makes the answer to a ping.
export function serve(attach) {
  if (cluster.isWorker) {
    const server = createServer(show);
    attach(server, answers(process.env.WORKER));
    server.listen({ host, port: 0, backlog: 4096 });
    return;
  }
  const pids = [];
  for (let worker = 0; worker < workers; worker += 1) {
    pids.push(cluster.fork({ WORKER: worker }).process.pid);
  }
  let listening = 0;
  cluster.on('listening', (_, { port }) => {
    listening += 1;
    if (listening === workers) console.log(`ready ${host}:${port} ${pids.join(',')}`);
  });
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
}
