import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { PlainNode } from '../harness/plain_node.ts';

/** A small plant with a past of one minute, for pictures. */

const IMAGES = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
const NODE = 'plant-7';
const PAST_MS = 75_000;

const ENGINE = {
  name: 'Plant::Engine',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    {
      name: 'bearing',
      type: 'real64',
      unit: 'Cel',
      kind: 'gauge',
      label: 'Bearing',
      min: 0,
      max: 120,
      warn: { above: 80 },
      alarm: { above: 95 },
    },
    { name: 'winding', type: 'real64', unit: 'Cel', kind: 'gauge', label: 'Winding' },
    { name: 'coolant', type: 'real64', unit: 'Cel', kind: 'gauge', label: 'Coolant' },
    { name: 'torque', type: 'real64', unit: 'N.m', kind: 'gauge', label: 'Torque' },
    {
      name: 'mode',
      type: 'uint8',
      kind: 'state',
      label: 'Mode',
      enum: {
        name: 'Mode',
        values: ['IDLE', 'SPEEDING_UP', 'RUNNING', 'BRAKING'].map((name, value) => ({ name, value })),
      },
    },
    { name: 'brake', type: 'boolean', kind: 'state', label: 'Brake' },
  ],
};
const WIND = {
  name: 'Plant::Wind',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'direction', type: 'real32', unit: 'deg', label: 'Direction', min: 0, max: 359 },
    { name: 'speed', type: 'real32', unit: 'm/s', label: 'Speed', min: 0, max: 60 },
  ],
};
const LOG = {
  name: 'Plant::Log',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    {
      name: 'level',
      type: 'uint8',
      kind: 'event',
      enum: {
        name: 'Level',
        values: [
          { name: 'INFO', value: 9 },
          { name: 'WARN', value: 13 },
          { name: 'ERROR', value: 17 },
        ],
      },
      warn: { values: [13] },
      alarm: { values: [17] },
    },
    { name: 'message', type: 'string' },
  ],
};

let browser: Browser;
let up: Oasis;
let node: PlainNode;
let folder: string;
let feeding: ReturnType<typeof setInterval>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oasis-'));
  [up, browser] = await Promise.all([
    Oasis.up(
      '--name',
      'controller',
      '--probe',
      'processor@10',
      '--probe',
      'memory@2',
      '--probe',
      'heartbeat@20',
      '--probe',
      'network',
      '--archive',
      folder,
    ),
    launch(),
  ]);
  node = await PlainNode.start(up.channel, NODE, [
    { name: 'engine', schema: ENGINE, hertz: 50 },
    { name: 'wind', schema: WIND, hertz: 4 },
    { name: 'log', schema: LOG },
  ]);
  const now = Date.now();
  // The node dropped samples: a gap with a cause.
  engine(now - PAST_MS, now - 31_000);
  engine(now - 28_400, now, 130);
  wind(now - PAST_MS, now);
  const events: [number, number, string][] = [
    [70, 9, 'engine: speeding up to 1500 rpm'],
    [52, 9, 'engine: running'],
    [31, 13, 'spool: full, samples are dropped'],
    [28, 9, 'spool: empty again'],
    [17, 17, 'bearing: above 95 degrees, coolant valve opened'],
    [6, 9, 'bearing: back below 80 degrees'],
  ];
  for (const [ago, level, message] of events)
    node.flush('log', [now - 1000 * ago], [Uint8Array.of(level), [message]]);
  await testRun('soak, valve half open', ['night', 'pump 3'], 'bearing warm after 40 s');
  await testRun('speed up to 1500 rpm', ['pump 3'], '');
  let last = now;
  feeding = setInterval(() => {
    const next = Date.now();
    engine(last, next);
    wind(last, next);
    last = next;
  }, 250);
});

afterAll(async () => {
  clearInterval(feeding);
  await browser.close();
  await node.stop();
  await up.stop();
  await rm(folder, { recursive: true });
});

function range(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  return Array.from(
    { length: Math.max(0, Math.ceil(to / step) - first) },
    (_, index) => (first + index) * step,
  );
}

function engine(from: number, to: number, dropped = 0): void {
  const times = range(from, to, 20);
  if (times.length === 0) return;
  const noise = (time: number, size: number) => size * (((time * 7919) % 997) / 997 - 0.5);
  const wave = (time: number, seconds: number) => Math.sin((time / 1000 / seconds) * 2 * Math.PI);
  const column = (value: (time: number) => number) => Float64Array.from(times, value);
  node.flush(
    'engine',
    times,
    [
      column((time) => 78 + 20 * Math.max(0, wave(time, 41)) ** 3 + noise(time, 2)),
      column((time) => 66 + 7 * wave(time, 53) + noise(time, 1)),
      column((time) => 41 + 3 * wave(time + 9000, 41) + noise(time, 0.5)),
      column((time) => 180 + 60 * wave(time, 7) + 25 * wave(time, 1.3) + noise(time, 12)),
      Uint8Array.from(times, (time) => [2, 2, 3, 0, 1, 2][Math.floor(time / 9000) % 6]),
      Uint8Array.from(times, (time) => (Math.floor(time / 9000) % 6 === 2 ? 1 : 0)),
    ],
    dropped,
  );
}

function wind(from: number, to: number): void {
  const times = range(from, to, 250);
  if (times.length === 0) return;
  node.flush('wind', times, [
    Float32Array.from(times, (time) => (228 + 45 * Math.sin(time / 9000) + ((time * 31) % 40)) % 360),
    Float32Array.from(times, (time) => 6 + 4 * Math.sin(time / 7000) + ((time * 17) % 30) / 9),
  ]);
}

const target = (instance: string) => ({ node: NODE, instance });

const everything = [
  {
    id: 'a',
    kind: 'series',
    mode: 'lines',
    title: 'Temperatures',
    sources: [{ target: target('engine'), metrics: ['bearing', 'winding', 'coolant'] }],
  },
  { id: 'b', kind: 'rose', target: target('wind'), direction: 'direction', speed: 'speed' },
  {
    id: 'c',
    kind: 'series',
    mode: 'lines',
    title: 'Torque',
    sources: [{ target: target('engine'), metrics: ['torque'] }],
  },
  { id: 'd', kind: 'states', sources: [{ target: target('engine'), metrics: ['mode', 'brake'] }] },
  { id: 'f', kind: 'histogram', target: target('engine'), metric: 'torque' },
  { id: 'g', kind: 'events', targets: [target('log')] },
  { id: 'h', kind: 'gauge', target: target('engine'), metric: 'bearing' },
  { id: 'i', kind: 'alarms' },
];

/** Positions of the panels, as the docking library stores them: columns of rows of tabs. */
const places = [
  [['a'], ['c'], ['d']],
  [['b'], ['f']],
  [['h'], ['g'], ['i']],
];

function geometry() {
  const [width, height] = [1330, 900];
  const leaf = (views: readonly string[], size: number) => ({
    type: 'leaf',
    size,
    data: { views, activeView: views[0], id: views.join('') },
  });
  const branch = (rows: readonly string[][]) => ({
    type: 'branch',
    size: width / places.length,
    data: rows.map((views) => leaf(views, height / rows.length)),
  });
  return {
    grid: {
      root: { type: 'branch', size: height, data: places.map(branch) },
      width,
      height,
      orientation: 'HORIZONTAL',
    },
    panels: Object.fromEntries(
      everything.map(({ id, kind }) => [id, { id, contentComponent: kind, title: id }]),
    ),
    activeGroup: 'a',
  };
}

/** Charts above, ledger and test runs below. */
const books = {
  grid: {
    root: {
      type: 'branch',
      size: 1330,
      data: [
        {
          type: 'branch',
          size: 330,
          data: [
            { type: 'leaf', size: 665, data: { views: ['a'], activeView: 'a', id: '1' } },
            { type: 'leaf', size: 665, data: { views: ['c'], activeView: 'c', id: '4' } },
          ],
        },
        { type: 'leaf', size: 330, data: { views: ['x'], activeView: 'x', id: '2' } },
        { type: 'leaf', size: 240, data: { views: ['y'], activeView: 'y', id: '3' } },
      ],
    },
    width: 1330,
    height: 900,
    orientation: 'VERTICAL',
  },
  panels: Object.fromEntries(
    Object.entries({ a: 'series', c: 'series', x: 'ledger', y: 'test-runs' }).map(([id, kind]) => [
      id,
      { id, contentComponent: kind, title: id },
    ]),
  ),
  activeGroup: '1',
};

async function testRun(name: string, tags: readonly string[], notes: string): Promise<void> {
  const body = JSON.stringify({ name, tags, notes });
  const answer = await fetch(`${up.url}/api/v1/test-runs`, { method: 'POST', body });
  const { id } = (await answer.json()) as { id: number };
  if (name.startsWith('soak')) await fetch(`${up.url}/api/v1/test-runs/${id}/stop`, { method: 'POST' });
}

function link(panels: readonly object[], shape?: object): string {
  const layout = {
    oasis: 'layout',
    version: 1,
    panels,
    geometry: shape,
    range: { live: true, span: 60_000 },
  };
  return `${up.url}#view=${deflateRawSync(JSON.stringify(layout)).toString('base64url')}`;
}

const views = [
  { name: 'page', address: () => `${up.url}#watch=${NODE}/engine,controller/processor` },
  { name: 'panels', address: () => link(everything, geometry()) },
  {
    name: 'books',
    address: () =>
      link(
        [everything[0], everything[2], { id: 'x', kind: 'ledger' }, { id: 'y', kind: 'test-runs' }],
        books,
      ),
  },
];

for (const { name, address } of views) {
  for (const colorScheme of ['dark', 'light'] as const) {
    it(`${name}, ${colorScheme}`, async () => {
      const visit = await Visit.to(browser, address(), {
        colorScheme,
        viewport: { width: 1600, height: 1000 },
      });
      await expect.poll(() => visit.page.getByTestId('chart').count()).toBeGreaterThan(1);
      // Rates of counters need some seconds.
      await visit.page.waitForTimeout(6000);
      await visit.page.screenshot({ path: `${IMAGES}${name}${colorScheme === 'dark' ? '' : '-light'}.png` });
      expect(visit.complaints).toEqual([]);
      await visit.close();
    });
  }
}

it('phone', async () => {
  const visit = await Visit.to(browser, link(everything.slice(0, 3)), {
    colorScheme: 'dark',
    viewport: { width: 360, height: 740 },
    deviceScaleFactor: 2,
  });
  await visit.page.waitForTimeout(4000);
  await visit.page.screenshot({ path: `${IMAGES}page-phone.png` });
  await visit.close();
});
