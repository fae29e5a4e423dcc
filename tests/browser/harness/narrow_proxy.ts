import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';

/** A proxy that refuses some doors, as real ones do: upgrades, or streams without an end. */
export class NarrowProxy {
  private constructor(private readonly server: Server) {}

  static async to(
    dac: string,
    shut: { readonly websocket: boolean; readonly streams: readonly string[] },
  ): Promise<NarrowProxy> {
    const { hostname, port } = new URL(dac);
    const server = createServer((incoming, outgoing) => {
      if (shut.streams.some((name) => incoming.url?.startsWith(`/api/v1/samples/${name}`))) {
        outgoing.writeHead(502);
        outgoing.end();
        return;
      }
      const { method, url: path, headers } = incoming;
      const onward = request({ hostname, port, method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      // The DAC must notice that a reader has left.
      outgoing.on('close', () => onward.destroy());
      incoming.pipe(onward);
    });
    server.on('upgrade', (incoming, socket, head) => {
      if (shut.websocket) {
        socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
        return;
      }
      const onward = connect(Number(port), hostname);
      const lines = incoming.rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
      onward.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
      for (const end of [socket, onward]) end.on('error', () => end.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new NarrowProxy(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
