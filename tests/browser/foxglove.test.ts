import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@foxglove/rosmsg';
import { MessageReader } from '@foxglove/rosmsg2-serialization';
import { type Channel, FoxgloveClient, type Parameter, type ServerInfo } from '@foxglove/ws-protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

/** Viewers that speak the protocol of Foxglove receive each sample, what is missing, and control probes: with Foxglove's own client. */

const PUMP = {
  name: 'Plant::Pump',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'speed', type: 'real64', unit: 'rad/s' },
    { name: 'total', type: 'uint64' },
    { name: 'note', type: 'string' },
  ],
};
const TIMES = Array.from({ length: 500 }, (_, index) => 1_790_000_000_000 + index);

let dac: Oasis;
let node: PlainNode;
const viewers: Viewer[] = [];

beforeAll(async () => {
  const config = join(temporaryFolder(), 'oasis.toml');
  writeFileSync(config, '[log]\ntopic_bytes = 100000\n');
  dac = await Oasis.dac({}, '--config', config);
  node = await PlainNode.start(dac.channel, 'plant-7', [
    { name: 'pump', schema: PUMP },
    { name: 'fan', schema: PUMP, hertz: 2 },
  ]);
});

afterAll(async () => {
  for (const viewer of viewers) viewer.close();
  await node.stop();
  await dac.stop();
});

interface Received {
  readonly topic: string;
  readonly time: bigint;
  readonly values: Record<string, unknown>;
}

/** A viewer that subscribes to all channels. */
class Viewer {
  readonly channels = new Map<string, Channel>();
  readonly messages: Received[] = [];
  readonly problems: string[] = [];
  readonly services = new Map<string, number>();
  info: ServerInfo | undefined;
  parameters: Parameter[] = [];
  private readonly readers = new Map<number, [topic: string, read: (data: ArrayBufferView) => unknown]>();

  private constructor(
    readonly client: FoxgloveClient,
    private readonly socket: WebSocket,
  ) {}

  static async open(
    query: string,
    subprotocol = FoxgloveClient.SUPPORTED_SUBPROTOCOL,
    of = dac,
    channels = 3,
  ): Promise<Viewer> {
    const socket = new WebSocket(`ws://${of.listen}/${query}`, [subprotocol]);
    const viewer = new Viewer(new FoxgloveClient({ ws: socket as never }), socket);
    viewers.push(viewer);
    viewer.listen();
    await expect.poll(() => viewer.channels.size).toBeGreaterThanOrEqual(channels);
    return viewer;
  }

  private listen(): void {
    const { client } = this;
    client.on('serverInfo', (info) => {
      this.info = info;
    });
    client.on('advertise', (channels) => {
      for (const channel of channels) {
        this.channels.set(channel.topic, channel);
        this.readers.set(client.subscribe(channel.id), [channel.topic, decoder(channel)]);
      }
    });
    client.on('unadvertise', (ids) => {
      for (const [topic, { id }] of this.channels) if (ids.includes(id)) this.channels.delete(topic);
    });
    client.on('message', ({ subscriptionId, timestamp, data }) => {
      const [topic, read] = this.readers.get(subscriptionId) ?? ['', () => ({})];
      this.messages.push({ topic, time: timestamp, values: read(data) as Record<string, unknown> });
    });
    client.on('status', ({ level, message }) => {
      if (level > 0) this.problems.push(message);
    });
    client.on('advertiseServices', (services) => {
      for (const { name, id } of services) this.services.set(name, id);
    });
    client.on('parameterValues', ({ parameters }) => {
      this.parameters = parameters;
    });
  }

  of(topic: string): Received[] {
    return this.messages.filter((message) => message.topic === topic);
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Reads no more. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.terminate();
  }
}

function decoder({ encoding, schema }: Channel): (data: ArrayBufferView) => unknown {
  if (encoding === 'json') return (data) => JSON.parse(Buffer.from(bytes(data)).toString());
  if (encoding === 'protobuf') return (data) => ({ bytes: data.byteLength });
  const reader = new MessageReader(parse(schema, { ros2: true }));
  return (data) => reader.readMessage(data);
}

function bytes(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Sends a sample a millisecond. */
function send(dropped = 0, to = node): void {
  const numbers = TIMES.map((_, index) => index);
  to.flush(
    'pump',
    TIMES,
    [
      Float64Array.from(numbers, (index) => index / 7),
      BigUint64Array.from(numbers, (index) => 2n ** 53n + BigInt(index)),
      numbers.map((index) => `sample ${index}`),
    ],
    dropped,
  );
}

it.each(['cdr', 'json', 'protobuf'])(
  'gives each sample with its values and times to viewers of %s',
  async (encoding) => {
    const viewer = await Viewer.open(`?encoding=${encoding}&delivery=every`);
    expect(viewer.channels.get('plant-7/pump')).toMatchObject({ encoding });
    // The newest batch that the DAC has comes first: wait for it to be through.
    const before = viewer.of('plant-7/pump').length;
    send();
    await expect.poll(() => viewer.of('plant-7/pump').length).toBeGreaterThanOrEqual(before + TIMES.length);
    const received = viewer.of('plant-7/pump').slice(-TIMES.length);
    expect(received.map(({ time }) => time)).toEqual(TIMES.map((time) => BigInt(time) * 1_000_000n));
    if (encoding === 'protobuf') return;
    const exact = (index: number) => 2n ** 53n + BigInt(index);
    // Numbers of JSON lose the last digits in JavaScript, as in every viewer.
    const total = (index: number) => (encoding === 'json' ? Number(exact(index)) : exact(index));
    expect(received.map(({ values }) => [values.speed, values.total, values.note])).toEqual(
      TIMES.map((_, index) => [index / 7, total(index), `sample ${index}`]),
    );
    expect(viewer.problems).toEqual([]);
  },
);

it('speaks both names of the protocol, and says who it is', async () => {
  for (const subprotocol of ['foxglove.sdk.v1', 'foxglove.websocket.v1']) {
    const viewer = await Viewer.open('', subprotocol);
    expect(viewer.info?.name).toMatch(/^OASIS \d/);
    expect(viewer.info?.capabilities).toEqual(['parameters', 'services']);
    expect(viewer.channels.get('plant-7/pump')?.schemaEncoding).toBe('ros2msg');
  }
});

it('says what is missing', async () => {
  const viewer = await Viewer.open('?delivery=every');
  node.count('pump', { ring: 7 });
  send(7);
  await expect.poll(() => viewer.of('/oasis/missing').length).toBe(1);
  const { node: of, instance, samples, cause } = viewer.of('/oasis/missing')[0]?.values ?? {};
  expect({ of, instance, samples, cause }).toEqual({
    of: 'plant-7',
    instance: 'pump',
    samples: 7,
    cause: 'ring_full',
  });
});

it('accounts for each sample that a slow viewer does not get', async () => {
  const viewer = await Viewer.open('?delivery=every');
  await expect.poll(() => viewer.of('plant-7/pump').length).toBeGreaterThan(0);
  const [before, missing] = [viewer.of('plant-7/pump').length, viewer.of('/oasis/missing').length];
  viewer.pause();
  const [batches, received] = [200, await dac.received()];
  for (let count = 0; count < batches; count++) send();
  const sent = batches * TIMES.length;
  await expect.poll(() => dac.received()).toBe(received + sent);
  viewer.resume();
  const skipped = () =>
    viewer
      .of('/oasis/missing')
      .slice(missing)
      .reduce((sum, { values }) => sum + Number(values.samples), 0);
  await expect.poll(() => viewer.of('plant-7/pump').length - before + skipped()).toBe(sent);
  expect(skipped()).toBeGreaterThan(0);
  expect(viewer.of('/oasis/missing').at(-1)?.values.cause).toBe('log_retention');
});

it('shows nodes that come later', async () => {
  const viewer = await Viewer.open('');
  const late = await PlainNode.start(dac.channel, 'plant-8', [{ name: 'pump', schema: PUMP }]);
  await expect.poll(() => viewer.channels.has('plant-8/pump')).toBe(true);
  await late.stop();
});

it('sets parameters and calls services', async () => {
  const viewer = await Viewer.open('');
  viewer.client.getParameters(['plant-7/fan.hertz', 'plant-7/fan.enabled'], 'first');
  await expect
    .poll(() => viewer.parameters.map(({ name, value }) => [name, value]))
    .toEqual([
      ['plant-7/fan.hertz', 2],
      ['plant-7/fan.enabled', true],
    ]);
  viewer.client.setParameters([{ name: 'plant-7/fan.hertz', value: 5 }], 'second');
  await expect.poll(() => viewer.parameters).toMatchObject([{ name: 'plant-7/fan.hertz', value: 5 }]);
  expect(node.commands.at(-1)).toMatchObject({ command: 'hertz', hertz: 5 });
  for (const [name, value, message] of [
    ['plant-7/fan.hertz', 0, 'plant-7/fan.hertz: '],
    ['plant-7/fan.hertz', 'fast', 'must be a number of hertz'],
    ['plant-7/fan.enabled', 1, 'must be true or false'],
    ['plant-7/none.hertz', 1, 'there is no parameter'],
  ] as const) {
    const before = viewer.problems.length;
    viewer.client.setParameters([{ name, value }]);
    await expect.poll(() => viewer.problems.length).toBe(before + 1);
    expect(viewer.problems.at(-1)).toContain(message);
  }
  const answers: unknown[] = [];
  viewer.client.on('serviceCallResponse', ({ callId }) => answers.push(callId));
  viewer.client.on('serviceCallFailure', ({ message }) => answers.push(message));
  const call = (serviceId: number, callId: number) =>
    viewer.client.sendServiceCallRequest({
      serviceId,
      callId,
      encoding: 'json',
      data: new DataView(new TextEncoder().encode('{}').buffer),
    });
  call(viewer.services.get('plant-7/fan/sample-now') ?? 0, 11);
  await expect.poll(() => answers).toEqual([11]);
  expect(node.commands.at(-1)).toMatchObject({ command: 'sample-now' });
  call(4_000_000, 12);
  await expect.poll(() => answers[1]).toMatch(/^there is no service 4000000:/);
});

it('goes on after subscriptions beyond the limit, and says which are refused', async () => {
  const viewer = await Viewer.open('?delivery=every');
  const channelId = viewer.channels.get('plant-7/pump')?.id ?? 0;
  const subscriptions = Array.from({ length: 1_500 }, (_, index) => ({ id: 10_000 + index, channelId }));
  viewer.send({ op: 'subscribe', subscriptions });
  await expect.poll(() => viewer.problems.length).toBe(1);
  expect(viewer.problems[0]).toMatch(
    /^\d+ subscriptions are refused \((plant-7\/pump, ){5}and \d+ more\): close panels, or raise doors.max_subscriptions, which is 1000$/,
  );
  const before = viewer.of('plant-7/pump').length;
  send();
  await expect.poll(() => viewer.of('plant-7/pump').length).toBeGreaterThan(before);
});

it('lets the DAC end beside a viewer that reads nothing', async () => {
  const other = await Oasis.dac();
  const filled = await PlainNode.start(other.channel, 'plant-7', [{ name: 'pump', schema: PUMP }]);
  const viewer = await Viewer.open('?delivery=every', 'foxglove.sdk.v1', other, 2);
  viewer.pause();
  for (let count = 0; count < 200; count++) send(0, filled);
  await expect.poll(() => other.received()).toBe(200 * TIMES.length);
  await Promise.all([other.stop(), filled.stop()]);
  expect(other.log).not.toContain('panicked');
}, 20_000);

it('refuses pages of other sites, unknown encodings, and goes on after nonsense', async () => {
  const refused = (query: string, headers: Record<string, string>) =>
    new Promise((resolve) => {
      const socket = new WebSocket(`ws://${dac.listen}/${query}`, ['foxglove.sdk.v1'], { headers });
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
      socket.on('open', () => resolve('open'));
      socket.on('error', () => {});
    });
  expect(await refused('', { origin: 'https://app.example.org' })).toBe(403);
  expect(await refused('?encoding=xml', {})).toBe(400);
  const viewer = await Viewer.open('');
  const socket = new WebSocket(`ws://${dac.listen}/`, ['foxglove.sdk.v1']);
  await new Promise((resolve) => socket.on('open', resolve));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  for (let count = 0; count <= 100; count++) socket.send(count % 2 === 0 ? 'nonsense' : Buffer.of(9, 9));
  expect(await closed).toBe(1008);
  send();
  await expect.poll(() => viewer.of('plant-7/pump').length).toBeGreaterThan(0);
});
