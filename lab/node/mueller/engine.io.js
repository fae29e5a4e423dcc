// engine.io as in figure B.2 of the paper, over WebSocket alone: without sticky sessions, several processes cannot share a long poll.

import { Server } from 'engine.io';
import { serve } from './workers.js';

serve((http, answer) => {
  const engine = new Server({ transports: ['websocket'] });
  engine.attach(http);
  engine.on('connection', (socket) => {
    socket.on('message', () => socket.send(answer()));
  });
});
