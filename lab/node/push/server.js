// The four calls over HTTP.

import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { clearEvents, setEvent } from './events.js';
import { log, setLogging } from './log.js';
import { accept } from './requests.js';

const BACKLOG = 4096;
const MAX_BODY = 4096;

export function listen(host, port, onListening) {
  const server = createServer(serve);
  // A comet request has no end.
  server.requestTimeout = 0;
  server.timeout = 0;
  if (cluster.isWorker) process.on('message', apply);
  server.listen({ host, port, backlog: BACKLOG }, () => onListening(server.address().port));
}

function serve(request, response) {
  const url = new URL(request.url, 'http://server');
  const parameter = (name) => url.searchParams.get(name);
  switch (url.pathname) {
    case '/timestamp':
      return answer(response, { client: Number(parameter('client')), server: Date.now() });
    case '/log':
      everywhere({ call: 'log', isEnabled: parameter('enabled') === 'true' });
      return answer(response, { logging: parameter('enabled') === 'true' });
    case '/event/set': {
      const event = { name: parameter('name'), interval: Number(parameter('interval')) };
      everywhere({ call: 'set', ...event });
      return answer(response, { event });
    }
    case '/event/clear':
      everywhere({ call: 'clear' });
      return answer(response, { cleared: true });
    case '/request':
      return receive(request, response);
    default:
      return answer(response, { error: `no call ${url.pathname}` }, 404);
  }
}

function receive(request, response) {
  const created = { time: Date.now(), clock: performance.now() };
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    body += chunk;
    if (body.length > MAX_BODY) request.destroy();
  });
  request.on('end', () => accept(new URLSearchParams(body), created, response));
}

function answer(response, content, status = 200) {
  log(status, content);
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify(content)}\n`);
}

// In a cluster the primary process passes a call on to all workers, this one included.
function everywhere(message) {
  if (cluster.isWorker) process.send(message);
  else apply(message);
}

function apply({ call, isEnabled, name, interval }) {
  if (call === 'log') setLogging(isEnabled);
  else if (call === 'set') setEvent(name, interval);
  else clearEvents();
}
