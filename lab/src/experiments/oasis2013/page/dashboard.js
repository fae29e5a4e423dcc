// The dashboard of 2012: a table for each probe instance, filled through one of the doors below. It counts what it shows, and how old that is.
//
// Parameters of the address: door, dac and outlet (HOST:PORT), node, instances (with commas; those of the node if absent), and is_measured: the page then
// reports to the lab.

const DOORS = {
  'ajax-file': 'AJAX, flat file',
  'ajax-memory': 'AJAX, memory',
  'ajax-database': 'AJAX, database',
  'ajax-long-poll': 'AJAX, dropped and resumed',
  'ajax-binary': 'AJAX, binary',
  poll: 'poll',
  'long-poll': 'long poll',
  events: 'server-sent events',
  'websocket-2012': 'WebSocket of 2012',
  websocket: 'WebSocket',
  'axum-events': 'server-sent events of axum',
  'socket.io': 'Socket.IO',
  foxglove: 'Foxglove',
};
/** Ways that a DAC has only if it was started with them. */
const OUTLETS = ['ajax-file', 'ajax-memory', 'ajax-database', 'ajax-long-poll', 'ajax-binary', 'axum-events', 'socket.io', 'foxglove'];
/** The thesis, appendix B: a connection is dropped after this time, and resumed after that. */
const DROPPED = 5000;
const RESUMED = 1000;
/** From an answer of a poll to the next request. */
const INTERVAL = 150;
/** Between two reports to the lab. */
const REPORT = 200;
/** The samples whose age is noted: section 5.4. */
const [FIRST, LAST] = [50, 100];
/** Messages whose newest sample's age is noted. */
const NEWEST = 1000;

const parameters = new URLSearchParams(location.search);
const door = parameters.get('door') ?? 'websocket';
const dac = parameters.get('dac') ?? location.host;
const outlet = parameters.get('outlet') ?? location.host;
const node = parameters.get('node') ?? 'host';
const now = () => performance.timeOrigin + performance.now();
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
const say = (text) => { document.getElementById('state').textContent = text; };

/** One probe instance on the page. */
class Instance {
  received = 0;
  /** Messages that have arrived, and their bytes: what a frame or a line has, without the headers of packets. */
  messages = 0;
  bytes = 0;
  /** Characters of the response that has come so far: AJAX keeps all of it. */
  held = 0;
  ages = [];
  newest = [];
  shown;
  stop = () => {};

  constructor(name) {
    this.name = name;
    const section = document.getElementById('instance').content.cloneNode(true).firstElementChild;
    section.querySelector('caption').textContent = name;
    section.querySelector('[name=unregister]').onclick = () => this.stop();
    section.querySelector('[name=hertz]').onclick = () => this.command(section.querySelector('input').value);
    document.querySelector('main').append(section);
    this.rows = section.querySelector('tbody');
    this.counter = section.querySelector('output');
  }

  /** Counts a message. */
  count(bytes, messages = 1) {
    this.messages += messages;
    this.bytes += bytes;
  }

  /** Notes samples that have arrived, of which the last one is shown: its number and metrics; `timeOf` returns milliseconds by number. */
  note(count, last, timeOf, metrics) {
    const arrived = now();
    this.received += count;
    for (let sequence = Math.max(FIRST, last - count + 1); sequence <= Math.min(LAST, last); sequence += 1) {
      this.ages.push(arrived - timeOf(sequence));
    }
    if (last >= FIRST && this.newest.length < NEWEST) this.newest.push(arrived - timeOf(last));
    this.metrics = metrics;
    this.shown ??= requestAnimationFrame(() => this.show());
  }

  show() {
    this.shown = undefined;
    this.counter.textContent = this.received;
    const entries = Object.entries(this.metrics ?? {});
    while (this.rows.rows.length < entries.length) {
      const row = this.rows.insertRow();
      row.insertCell();
      row.insertCell();
    }
    entries.forEach(([name, value], index) => {
      const [head, cell] = this.rows.rows[index].cells;
      head.textContent = name;
      cell.textContent = value;
    });
  }

  async command(text) {
    const body = JSON.stringify({ node, instance: this.name, command: 'hertz', hertz: Number(text) });
    const answer = await fetch(`http://${dac}/api/v1/commands`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    say(answer.ok ? `${this.name} has ${text} Hz` : ((await answer.json()).detail ?? answer.statusText));
  }
}

/** A message of the text doors. */
function noteMessage(instance, message) {
  const samples = message.samples ?? [];
  const last = samples.at(-1);
  if (!last) return;
  const timeOf = (sequence) => (samples.find((sample) => sample.sequence === sequence) ?? last).time / 1e6;
  instance.note(samples.length, last.sequence, timeOf, last.metrics);
}

/** The bytes of a frame of a WebSocket that the server sends: RFC 6455, section 5.2. */
function frame(length) {
  return length + (length < 126 ? 2 : length < 65536 ? 4 : 10);
}

/** AJAX with an XMLHttpRequest whose response does not end: the newest record is the last line of all that has come. */
function streamed(instance) {
  const request = new XMLHttpRequest();
  let shown = -1;
  let at = 0;
  request.onprogress = () => {
    const text = request.responseText;
    instance.held = text.length;
    const end = text.lastIndexOf('\n');
    const lines = text.slice(at, end + 1).split('\n').filter(Boolean);
    at = end + 1;
    for (const line of lines) instance.count(line.length + 1);
    const record = text.slice(text.lastIndexOf('\n', end - 1) + 1, end).trim();
    if (!record) return;
    const { sequence, time, metrics } = JSON.parse(record);
    if (sequence === shown) return;
    shown = sequence;
    instance.note(1, sequence, () => time / 1e6, metrics);
  };
  request.onerror = () => say(`${instance.name}: the connection has ended`);
  request.open('GET', `http://${outlet}/ajax/${encodeURIComponent(instance.name)}`);
  request.send();
  instance.stop = () => request.abort();
}

/** The same, dropped and resumed again and again. */
async function droppedAndResumed(instance) {
  for (;;) {
    streamed(instance);
    await sleep(DROPPED);
    instance.stop();
    await sleep(RESUMED);
  }
}

/** AJAX with batches: a character of the response is a byte. */
function binary(instance, { decodeBatch, schemas }) {
  const request = new XMLHttpRequest();
  let at = 0;
  request.overrideMimeType('text/plain; charset=x-user-defined');
  request.onprogress = () => {
    const text = request.responseText;
    instance.held = text.length;
    const byte = (place) => text.charCodeAt(place) & 0xff;
    while (at + 4 <= text.length) {
      const length = byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24);
      if (at + 4 + length > text.length) return;
      const bytes = Uint8Array.from({ length }, (_, index) => byte(at + 4 + index));
      at += 4 + length;
      if (length > 0) instance.count(4 + length);
      if (length > 0) noteBatch(instance, bytes, schemas.get(instance.name), decodeBatch);
    }
  };
  request.open('GET', `http://${outlet}/ajax/${encodeURIComponent(node)}/${encodeURIComponent(instance.name)}`);
  request.send();
  instance.stop = () => request.abort();
}

/** Decodes the columns of a batch, and shows its last sample. */
function noteBatch(instance, bytes, schema, decodeBatch) {
  const { count, firstSequence, times, metrics } = decodeBatch(bytes, schema.metrics.map(({ type }) => type));
  const last = count - 1;
  const shown = schema.metrics.map(({ name }, index) => [name, metrics[index][last]]);
  const first = Number(firstSequence);
  instance.note(count, first + last, (sequence) => Number(times[sequence - first]) / 1e6, Object.fromEntries(shown));
}

/** Reads the metrics of a packet. */
function codecOf(schema) {
  const read = (source) => Object.fromEntries(schema.metrics.map(({ name, type }) => [name, source[type]()]));
  return { name: schema.name, uuid: schema.uuid, read };
}

async function polled(instance, path, more, rest) {
  let position;
  let isStopped = false;
  instance.stop = () => { isStopped = true; };
  while (!isStopped) {
    const query = new URLSearchParams({ node, instance: instance.name, ...(position ? { resume: position, ...more } : { from: 'now' }) });
    const answer = await fetch(`http://${dac}/api/v1/samples${position ? path : ''}?${query}`);
    const text = await answer.text();
    const body = JSON.parse(text);
    if (!answer.ok) throw new Error(body.detail);
    position = body.next;
    instance.count(text.length);
    const samples = body.messages.flatMap((message) => message.samples ?? []);
    noteMessage(instance, { samples });
    if (rest) await sleep(rest);
  }
}

function events(instance) {
  const source = new EventSource(`http://${dac}/api/v1/samples/events?${new URLSearchParams({ node, instance: instance.name })}`);
  source.addEventListener('samples', ({ data }) => {
    instance.count(data.length);
    noteMessage(instance, JSON.parse(data));
  });
  instance.stop = () => source.close();
}

/** The doors of 2012 and of today have one WebSocket for all instances. */
function websocketOf2012(instances, { decodePacket, decodePacketHeader, registerCommand, unregisterCommand, schemas }) {
  const socket = new WebSocket(`ws://${dac}/ws`);
  const known = new Map(instances.map((instance) => [instance.name, [instance, codecOf(schemas.get(instance.name))]]));
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => {
    for (const instance of instances) {
      socket.send(registerCommand(node, instance.name));
      instance.stop = () => socket.send(unregisterCommand(node, instance.name));
    }
  };
  socket.onmessage = ({ data }) => {
    const bytes = new Uint8Array(data);
    const found = known.get(decodePacketHeader(bytes).instance);
    if (!found) return;
    const [instance, codec] = found;
    const { sequence, seconds, microseconds, sample } = decodePacket(bytes, codec);
    instance.count(frame(bytes.length));
    instance.note(1, sequence, () => seconds * 1e3 + microseconds / 1e3, sample);
  };
  socket.onclose = ({ reason }) => say(`closed ${reason}`);
}

function websocket(instances, { decodeBatch }) {
  const socket = new WebSocket(`ws://${dac}/ws`, 'oasis.v1');
  const topics = new Map();
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => instances.forEach(({ name }, id) => {
    socket.send(JSON.stringify({ op: 'subscribe', id, node, instance: name }));
  });
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') {
      const message = JSON.parse(data);
      if (message.op === 'subscribed') {
        const instance = instances[message.id];
        topics.set(message.topic, [instance, message.instance.schema]);
        instance.stop = () => socket.send(JSON.stringify({ op: 'unsubscribe', id: message.id, topic: message.topic }));
      } else if (message.op === 'error') {
        say(message.message);
      }
      return;
    }
    const bytes = new Uint8Array(data);
    const known = topics.get(new DataView(data).getUint32(4, true));
    if (!known) return;
    known[0].count(frame(bytes.length));
    noteBatch(known[0], bytes, known[1], decodeBatch);
  };
  socket.onclose = ({ reason }) => say(`closed ${reason}`);
}

/** A record of a server that has JSON for each sample. */
function noteRecord(instance, { sequence, time, metrics }) {
  instance.note(1, sequence, () => time / 1e6, metrics);
}

function eventsOfAxum(instance) {
  const source = new EventSource(`http://${outlet}/events/${encodeURIComponent(instance.name)}`);
  source.onmessage = ({ data }) => {
    instance.count(data.length);
    noteRecord(instance, JSON.parse(data));
  };
  instance.stop = () => source.close();
}

function socketIo(instances, { io }) {
  const socket = io(`http://${outlet}`, { transports: ['websocket'] });
  for (const instance of instances) {
    socket.on(instance.name, (record) => noteRecord(instance, record));
    instance.stop = () => socket.off(instance.name);
  }
  socket.on('connect_error', (error) => say(`${error}`));
}

/** Foxglove's protocol: channels are advertised; a message is an octet 1, the subscription's number, a time of eight bytes, and the record. */
function foxglove(instances) {
  const socket = new WebSocket(`ws://${outlet}`, 'foxglove.websocket.v1');
  const decoder = new TextDecoder();
  socket.binaryType = 'arraybuffer';
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') {
      const { op, channels = [] } = JSON.parse(data);
      if (op !== 'advertise') return;
      const ours = channels.map(({ id, topic }) => ({ id: instances.findIndex(({ name }) => name === topic), channelId: id }));
      const subscriptions = ours.filter(({ id }) => id >= 0);
      socket.send(JSON.stringify({ op: 'subscribe', subscriptions }));
      for (const { id } of subscriptions) {
        instances[id].stop = () => socket.send(JSON.stringify({ op: 'unsubscribe', subscriptionIds: [id] }));
      }
      return;
    }
    const bytes = new DataView(data);
    const instance = bytes.getUint8(0) === 1 && instances[bytes.getUint32(1, true)];
    if (!instance) return;
    instance.count(frame(data.byteLength));
    noteRecord(instance, JSON.parse(decoder.decode(new Uint8Array(data, 13))));
  };
  socket.onclose = ({ reason }) => say(`closed ${reason}`);
}

async function get(path) {
  const answer = await fetch(`http://${dac}/api/v1/${path}`);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
  return body;
}

/** The instances to show: those that the address names, or all that the DAC has of the node. */
async function namesOfInstances() {
  const named = parameters.get('instances');
  if (named) return named.split(',');
  const { instances } = await get(`instances?${new URLSearchParams({ node })}`);
  if (instances.length === 0) throw new Error(`the DAC has no instances of ${node}`);
  return instances.map(({ instance }) => instance);
}

/** The SDK, with the schemas of the instances. */
async function sdk(shown) {
  const library = await import('/sdk/index.js');
  const { instances } = await get('instances');
  const ours = instances.filter((known) => known.node === node && shown.some(({ name }) => name === known.instance));
  const known = await Promise.all(ours.map(({ id }) => get(`instances/${id}`)));
  return { ...library, schemas: new Map(known.map(({ instance, schema }) => [instance, schema])) };
}

async function start(instances) {
  const each = (open) => instances.forEach((instance) => Promise.resolve(open(instance)).catch((error) => say(`${error}`)));
  switch (door) {
    case 'ajax-file':
    case 'ajax-memory':
    case 'ajax-database': return each(streamed);
    case 'ajax-long-poll': return each(droppedAndResumed);
    case 'ajax-binary': {
      const library = await sdk(instances);
      return each((instance) => binary(instance, library));
    }
    case 'poll': return each((instance) => polled(instance, '', {}, INTERVAL));
    case 'long-poll': return each((instance) => polled(instance, '/wait', {}, 0));
    case 'events': return each(events);
    case 'websocket-2012': return websocketOf2012(instances, await sdk(instances));
    case 'websocket': return websocket(instances, await sdk(instances));
    case 'axum-events': return each(eventsOfAxum);
    case 'socket.io': return socketIo(instances, await import('/socket.io.js'));
    case 'foxglove': return foxglove(instances);
    default: throw new Error(`no door ${door}: ${Object.keys(DOORS).join(', ')}`);
  }
}

/** Tells the lab what has arrived, until the page is closed. */
async function report(instances) {
  for (;;) {
    const result = {
      at: now(),
      browser: navigator.userAgent,
      instances: instances.map(({ name, received, messages, bytes, held, ages, newest }) => ({ name, received, messages, bytes, held, ages, newest })),
    };
    await fetch('/results', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(result) });
    await sleep(REPORT);
  }
}

function showDoors() {
  for (const [name, title] of Object.entries(DOORS)) {
    if (OUTLETS.includes(name) && name !== door) continue;
    const link = document.createElement('a');
    const query = new URLSearchParams(location.search);
    query.set('door', name);
    link.href = `?${query}`;
    link.textContent = title;
    if (name === door) link.setAttribute('aria-current', 'page');
    document.querySelector('nav').append(link);
  }
  const form = document.querySelector('form');
  form.elements.dac.value = dac;
  form.elements.node.value = node;
  // "Get Information": the same door to another node, with whatever instances that has.
  form.onsubmit = (event) => {
    event.preventDefault();
    const query = new URLSearchParams(location.search);
    query.set('dac', form.elements.dac.value);
    query.set('node', form.elements.node.value);
    query.delete('instances');
    location.search = query;
  };
}

async function run() {
  showDoors();
  const instances = (await namesOfInstances()).map((name) => new Instance(name));
  await start(instances);
  say(`${DOORS[door]}: ${node}`);
  if (parameters.has('is_measured')) await report(instances);
}

run().catch((error) => say(`${error}`));
