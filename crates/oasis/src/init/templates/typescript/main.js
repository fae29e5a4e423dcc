// @ts-check
// Prints the newest sample of this host's processor.

import { decodeBatch, parseSchema } from '@oasis/wire';

const url = new URL(process.argv[2] ?? (process.env.OASIS_URL || 'http://127.0.0.1:7070'));

/** The first node with this instance, which may have just connected. */
async function findNode(instance, attempts = 100) {
  const listed = await fetch(new URL(`/api/v1/instances?instance=${instance}`, url));
  if (!listed.ok) throw new Error(`${url} answers with status ${listed.status}: ${await listed.text()}`);
  const [first] = (await listed.json()).instances;
  if (first) return first.node;
  if (attempts === 0) throw new Error(`no node of ${url} has the instance ${instance}`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  return findNode(instance, attempts - 1);
}

const node = await findNode('processor');
const socket = new WebSocket(new URL('/ws', url.href.replace(/^http/, 'ws')), 'oasis.v1');
socket.binaryType = 'arraybuffer';
socket.onopen = () => socket.send(JSON.stringify({ op: 'subscribe', id: 1, node, instance: 'processor' }));
socket.onclose = ({ code, reason }) => {
  console.error(`${url} has closed the connection: ${reason || code}`);
  process.exit(1);
};

/** @type {import('@oasis/wire').Metric[]} */
let metrics = [];
socket.onmessage = ({ data }) => {
  if (data instanceof ArrayBuffer) {
    const batch = decodeBatch(new Uint8Array(data), metrics.map(({ type }) => type));
    console.log(node, ...metrics.map(({ name, unit }, index) => `${name}=${batch.metrics[index].at(-1)}${unit ?? ''}`));
    return;
  }
  const { op, instance, ...rest } = JSON.parse(data);
  if (op === 'subscribed') {
    metrics = [...parseSchema(instance.schema).metrics];
    console.log('@name@ runs; Ctrl-C ends it.');
  } else if (op === 'error') {
    console.error(rest);
  }
};
