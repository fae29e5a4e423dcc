// SocketCluster as in figures A.2 and A.4 of the paper, with the calls of its present version. The paper's version brought its own balancers and stores; now
// node's `cluster` shares the connections out.

import socketCluster from 'socketcluster-server';
import { serve } from './workers.js';

serve((http, answer) => {
  const server = socketCluster.attach(http);
  (async () => {
    for await (const { socket } of server.listener('connection')) {
      (async () => {
        for await (const _ of socket.receiver('ping')) socket.transmit('pong', answer());
      })();
    }
  })();
});
