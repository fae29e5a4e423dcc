// The request manager: comet requests stay, a long poll ends with its first event or its maximum duration.

import { emitter } from './events.js';
import { log } from './log.js';

// Requests that wait for an event, all events together.
let connections = 0;

class Request {
  constructor(form, created, response) {
    this.data = {
      type: form.get('type'),
      events: (form.get('events') ?? '').split(',').filter(Boolean),
      duration: Number(form.get('duration')),
    };
    this.created = created;
    this.response = response;
    this.isOpen = true;
    connections += 1;
    this.start = connections;
  }

  // Returns whether the request waits for more.
  emit(event) {
    if (!this.isOpen) return false;
    this.send({ event });
    return this.isOpen;
  }

  send(response) {
    const { clock, time } = this.created;
    const timings = { duration: performance.now() - clock, sent: Date.now(), created: time };
    const content = { response, request: this.data, timings, connections: { finish: connections, start: this.start } };
    const line = `${JSON.stringify(content)}\n`;
    if (this.data.type === 'comet') {
      this.response.write(line);
    } else {
      this.end();
      this.response.end(line);
    }
  }

  end() {
    if (!this.isOpen) return;
    this.isOpen = false;
    connections -= 1;
    clearTimeout(this.timer);
  }
}

export function accept(form, created, response) {
  const request = new Request(form, created, response);
  log('request', request.data);
  response.writeHead(200, { 'Content-Type': 'application/json' });
  if (request.data.type === 'comet') response.flushHeaders();
  else request.timer = setTimeout(() => request.send({ timeout: true }), request.data.duration);
  response.on('close', () => request.end());
  for (const name of request.data.events) emitter(name).requests.push(request);
}
