// Foxglove's WebSocket protocol, by its own library: a channel of JSON messages for each instance.

import protocol from '@foxglove/ws-protocol';
import { WebSocketServer } from 'ws';
import { createServer, serve } from './records.js';

const http = createServer();
const server = new protocol.FoxgloveServer({ name: 'oasis-lab' });
const sockets = new WebSocketServer({ server: http, handleProtocols: (offered) => server.handleProtocols(offered) });
sockets.on('connection', (socket, request) => {
  server.handleConnection(socket, `${request.socket.remoteAddress}:${request.socket.remotePort}`);
});

const channels = new Map();
const announce = (topic) => channels.set(topic, server.addChannel({ topic, encoding: 'json', schemaName: '', schema: '' }));
const put = (instance, time, text) => server.sendMessage(channels.get(instance), BigInt(time), Buffer.from(text));
serve(http, put, announce);
