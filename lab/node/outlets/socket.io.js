// Socket.IO: an event with the name of the instance for each record.

import { Server } from 'socket.io';
import { createServer, serve } from './records.js';

const http = createServer();
const server = new Server(http, { cors: { origin: '*' } });
serve(http, (instance, _, text) => server.emit(instance, JSON.parse(text)));
