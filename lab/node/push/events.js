// The event manager, and its emitters.

import { log } from './log.js';

const emitters = new Map();

class Emitter {
  constructor(name) {
    this.name = name;
    this.requests = [];
  }

  // The next emit begins an interval after this one, or when this one ends if it takes longer.
  start(interval) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const began = performance.now();
      this.start(interval);
      this.emit(began);
    }, interval);
  }

  emit(began) {
    const created = Date.now();
    // Requests that arrive meanwhile belong to the next emit.
    const requests = this.requests;
    this.requests = [];
    requests.forEach((request, index) => {
      const duration = performance.now() - began;
      const connections = { total: requests.length, place: index + 1 };
      const event = { timings: { duration, sent: Date.now(), created }, name: this.name, connections };
      if (request.emit(event)) this.requests.push(request);
    });
    log('emitted', this.name, 'to', requests.length);
  }
}

export function emitter(name) {
  if (!emitters.has(name)) emitters.set(name, new Emitter(name));
  return emitters.get(name);
}

// Creates the event, or changes its interval.
export function setEvent(name, interval) {
  emitter(name).start(interval);
}

export function clearEvents() {
  for (const { timer } of emitters.values()) clearTimeout(timer);
}
