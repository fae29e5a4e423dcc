// The instrumented push server in Node.js: `http` alone, as the study of 2011 has it. `--cluster N` starts N workers that share the port.
// The calls and the form of the answers are the same in every server of the experiment: lab/rivals/README.md.

import cluster from 'node:cluster';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { listen } from './server.js';

const { values: flags } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    cluster: { type: 'string' },
  },
});

if (flags.cluster && cluster.isPrimary) {
  startWorkers(Number(flags.cluster));
} else {
  listen(flags.host, Number(flags.port), (port) => (cluster.isWorker ? process.send({ port }) : ready(port)));
}
if (cluster.isPrimary) createInterface({ input: process.stdin }).on('close', () => process.exit(0));

function startWorkers(count) {
  let listening = 0;
  for (let number = 0; number < count; number += 1) {
    cluster.fork().on('message', (message) => {
      if (message.port) {
        listening += 1;
        if (listening === count) ready(message.port);
        return;
      }
      // A call reaches one worker only, and is meant for all.
      for (const worker of Object.values(cluster.workers)) worker.send(message);
    });
  }
}

function ready(port) {
  console.log(`ready ${flags.host}:${port}`);
}
