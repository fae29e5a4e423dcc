// WindComm: wind on a canvas, by one door, and how old each reading is when it arrives.
//
// Parameters of the address: dac (HOST:PORT), node, instance, readings, interval and hold (ms). The latency of a reading is t4 - t0: when the browser has
// received it, minus when the node has read it from the serial line. Parsing and drawing come after t4.
'use strict';

const DOORS = {
  '/WindComm': ['websocket', 'WebSocket'],
  '/LongPollingWindComm': ['longpoll', 'long poll'],
  '/PollingWindComm': ['poll', 'poll'],
  '/EventsWindComm': ['events', 'server-sent events'],
  '/StreamingWindComm': ['stream', 'streaming'],
  '/BareWindComm': ['bare', 'WebSocket without OASIS'],
};

const parameters = new URLSearchParams(location.search);
const dac = parameters.get('dac') ?? '127.0.0.1:7070';
const node = parameters.get('node') ?? 'mast';
const instance = parameters.get('instance') ?? 'wind';
const wanted = Number(parameters.get('readings') ?? 1200);
const interval = Number(parameters.get('interval') ?? 150);
const hold = Number(parameters.get('hold') ?? 300);

const [door, title] = DOORS[location.pathname];
const latencies = [];
/** When the node read the first reading of the run, and when the last one arrived. */
let [first, last] = [0, 0];
/** For each answer: from its first byte, which comes with its last one, until the page has it. */
const handovers = [];
const element = (id) => document.getElementById(id);
const now = () => performance.timeOrigin + performance.now();
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** When the clocks had been compared, and when the first reading after that arrived. */
let [begun, opened] = [Infinity, Infinity];
let drawn;
let finish;
const finished = new Promise((resolve) => { finish = resolve; });

/** Notes readings that arrived at `t4`: `[t0, direction, speed]` each, times in milliseconds. */
function note(t4, readings) {
  for (const [t0, direction, speed] of readings) {
    // What the door had before the page was ready is no reading of this run, and the first one may have waited for the connection.
    if (t0 >= begun) opened = Math.min(opened, t4);
    if (t0 < opened || latencies.length >= wanted) continue;
    if (!latencies.length) first = t0;
    last = t4;
    latencies.push(t4 - t0);
    draw(direction, speed);
  }
  if (latencies.length >= wanted) finish();
}

/** The readings of a message of the text doors. */
function readingsOf(message) {
  return (message.samples ?? []).map(({ time, metrics }) => [time / 1e6, metrics.direction, metrics.speed]);
}

const topic = new URLSearchParams({ node, instance });
const address = (path, more = {}) => `http://${dac}${path}?${new URLSearchParams([...topic, ...Object.entries(more)])}`;

async function answer(path, more) {
  const response = await fetch(address(path, more));
  const text = await response.text();
  const t4 = now();
  const [timing] = performance.getEntriesByName(response.url);
  if (timing && t4 >= begun) handovers.push(t4 - performance.timeOrigin - timing.responseStart);
  // There is room for 250.
  performance.clearResourceTimings();
  const body = JSON.parse(text);
  if (!response.ok) throw new Error(body.detail ?? response.statusText);
  note(t4, body.messages.flatMap(readingsOf));
  return body.next;
}

const transports = {
  websocket() {
    const socket = new WebSocket(`ws://${dac}/ws`);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => socket.send(registration());
    socket.onmessage = ({ data }) => {
      const t4 = now();
      note(t4, [readingOf(new DataView(data))]);
    };
    return new Promise((_, fail) => { socket.onclose = ({ reason }) => fail(new Error(`closed ${reason}`)); });
  },

  /** A server that does nothing else: time, direction and speed in 16 bytes. */
  bare() {
    const socket = new WebSocket(`ws://${dac}/`);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => {
      const t4 = now();
      const reading = new DataView(data);
      note(t4, [[reading.getFloat64(0, true), reading.getFloat32(8, true), reading.getFloat32(12, true)]]);
    };
    return new Promise((_, fail) => { socket.onclose = ({ reason }) => fail(new Error(`closed ${reason}`)); });
  },

  async poll() {
    for (let resume; latencies.length < wanted; await sleep(interval)) {
      resume = await answer('/api/v1/samples', resume ? { resume } : { from: 'now' });
    }
  },

  async longpoll() {
    let resume = await answer('/api/v1/samples', { from: 'now' });
    while (latencies.length < wanted) {
      resume = await answer('/api/v1/samples/wait', { resume, timeout_ms: hold });
    }
  },

  events() {
    const events = new EventSource(address('/api/v1/samples/events'));
    events.addEventListener('samples', ({ data }) => {
      const t4 = now();
      note(t4, readingsOf(JSON.parse(data)));
    });
    return new Promise((_, fail) => {
      events.onerror = () => { if (events.readyState === EventSource.CLOSED) fail(new Error('closed')); };
    });
  },

  async stream() {
    const response = await fetch(address('/api/v1/samples/stream'));
    if (!response.ok) throw new Error((await response.json()).detail);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    for (let rest = '';;) {
      const { value, done } = await reader.read();
      const t4 = now();
      if (done) throw new Error('the stream ended');
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop();
      note(t4, lines.filter(Boolean).map((line) => JSON.parse(line)).flatMap(readingsOf));
    }
  },
};

/** The command of 2012 that subscribes: an octet, then CDR strings, 256 bytes in all. */
function registration() {
  const command = new DataView(new ArrayBuffer(256));
  command.setUint8(0, 1);
  let at = 4;
  for (const text of [node, instance].map((name) => new TextEncoder().encode(name))) {
    at += -at & 3;
    command.setUint32(at, text.length + 1, true);
    new Uint8Array(command.buffer).set(text, at + 4);
    at += 4 + text.length + 1;
  }
  return command;
}

/** The reading in a packet of 2012: docs/reference/eisa.md. */
function readingOf(packet) {
  const t0 = packet.getUint32(24, true) * 1e3 + packet.getUint32(28, true) / 1e3;
  const name = packet.getUint32(44, true);
  const data = 48 + name + (-(48 + name) & 7);
  return [t0, packet.getFloat32(data, true), packet.getFloat32(data + 4, true)];
}

/** The server's clock, of the exchange with the shortest round trip; returns the browser's clock minus that. */
async function offset() {
  let [best, shortest] = [NaN, Infinity];
  for (let exchange = 0; exchange < 15; exchange += 1) {
    const sent = now();
    const server = Number(await (await fetch('/time', { cache: 'no-store' })).text());
    const received = now();
    if (received - sent < shortest) {
      [best, shortest] = [(sent + received) / 2 - server, received - sent];
    }
  }
  return best;
}

function draw(direction, speed) {
  drawn ??= requestAnimationFrame(() => {
    drawn = undefined;
    const canvas = document.querySelector('canvas');
    const context = canvas.getContext('2d');
    const colour = getComputedStyle(document.body).color;
    context.clearRect(0, 0, 600, 600);
    context.save();
    context.translate(300, 300);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2;
    context.font = '24px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const radius of [80, 160, 240]) {
      context.beginPath();
      context.arc(0, 0, radius, 0, 2 * Math.PI);
      context.globalAlpha = 0.3;
      context.stroke();
    }
    context.globalAlpha = 1;
    [['N', 0, -270], ['E', 270, 0], ['S', 0, 270], ['W', -270, 0]].forEach((word) => context.fillText(...word));
    if (Number.isFinite(direction)) {
      // The wind comes from there: the arrow points to the middle.
      context.rotate((direction * Math.PI) / 180);
      context.lineWidth = 8;
      context.beginPath();
      context.moveTo(0, -Math.min(240, 30 + speed * 40));
      context.lineTo(0, 0);
      context.moveTo(-16, -28);
      context.lineTo(0, 0);
      context.lineTo(16, -28);
      context.stroke();
    }
    context.restore();
    element('speed').textContent = Number.isFinite(speed) ? `${speed.toFixed(2)} m/s` : 'not measured';
    element('direction').textContent = Number.isFinite(direction) ? `${direction.toFixed(0)}°` : 'calm';
    element('readings').textContent = `${latencies.length} of ${wanted}`;
    const mean = latencies.reduce((sum, latency) => sum + latency, 0) / latencies.length;
    element('latency').textContent = `${mean.toFixed(1)} ms`;
  });
}

function showDoors() {
  for (const [path, [other, name]] of Object.entries(DOORS)) {
    // The bare server is in the place of a DAC: it has no other door, and a DAC has not this one.
    if ((other === 'bare') !== (door === 'bare')) continue;
    const link = document.createElement('a');
    link.href = path + location.search;
    link.textContent = name;
    if (path === location.pathname) link.setAttribute('aria-current', 'page');
    document.querySelector('nav').append(link);
  }
}

async function run() {
  showDoors();
  document.title = `WindComm: ${title}`;
  const offsets = [await offset(), NaN];
  begun = now();
  element('state').textContent = `reading ${instance} of ${node}`;
  let error = '';
  try {
    await Promise.race([finished, transports[door]()]);
    await finished;
  } catch (caught) {
    error = `${caught}`;
  }
  offsets[1] = await offset();
  const result = { door, latencies, delivered_after: last - first, handovers, offsets, browser: navigator.userAgent, error };
  await fetch('/results', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(result),
  });
  element('state').textContent = error || 'all readings are there';
}

run().catch((error) => { element('state').textContent = `${error}`; });
