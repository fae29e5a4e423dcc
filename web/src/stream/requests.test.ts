import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Requests } from './requests.ts';

const LOADED = { timeout: 20_000 };

let server: Server;
let answered: [number, unknown, number][];
let received: string[];
let closed: string[];

beforeEach(async () => {
  answered = [];
  // Each server has a list of its own: a request that an earlier test canceled may reach its server late.
  const [here, left]: [string[], string[]] = [[], []];
  [received, closed] = [here, left];
  server = createServer((request, response) => {
    const { url = '' } = request;
    here.push(url);
    response.on('close', () => left.push(url));
    if (url === '/refused') response.writeHead(422).end('{"status":422}');
    else if (url === '/answered') response.end('{"messages":[]}');
    else if (url === '/broken') response.end('{"messages":');
    else if (url === '/begun') response.write('{');
    // All other requests are never answered.
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

afterEach(async () => {
  const closed = new Promise((done) => server.close(done));
  server.closeAllConnections();
  await closed;
});

const url = (path: string) => new URL(path, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
const requests = (timeoutMs?: number) => new Requests((...what) => answered.push(what), timeoutMs);

it('reports the answer of each request', async () => {
  const made = requests();
  await Promise.all(['answered', 'refused', 'broken'].map((path, id) => made.send(id, url(path))));
  expect(answered.sort(([a], [b]) => a - b)).toEqual([
    [0, { messages: [] }, 200],
    [1, { status: 422 }, 422],
    [2, undefined, 0],
  ]);
});

it('ends each request at its timeout', async () => {
  const made = requests(5);
  await Promise.all(['silent', 'begun'].map((path, id) => made.send(id, url(path))));
  expect(answered.sort(([a], [b]) => a - b)).toEqual([
    [0, undefined, 0],
    [1, undefined, 0],
  ]);
});

it('reports nothing for a canceled request, and closes it', async () => {
  const made = requests();
  const asked = made.send(1, url('silent'));
  await vi.waitFor(() => expect(received).toEqual(['/silent']), LOADED);
  made.cancel(1);
  await asked;
  await vi.waitFor(() => expect(closed).toEqual(['/silent']), LOADED);
  expect(answered).toEqual([]);
});
