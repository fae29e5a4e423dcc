import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { takePicture } from './picture.ts';
import { layoutLink, Plant } from './plant.ts';

/** A small plant with a past of one minute, for pictures. */

const NODE = 'plant-7';
const PAST_MS = 75_000;
const LARGE = { width: 1320, height: 825 };
const SMALL_WINDOW = { width: 1220, height: 765 };

let browser: Browser;
let up: Oasis;
let plant: Plant;
let folder: string;

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
  plant = await Plant.start(up.channel, NODE);
  const now = Date.now();
  // The node dropped samples: a gap with a cause.
  plant.engine(now - PAST_MS, now - 31_000);
  plant.engine(now - 28_400, now, 130);
  plant.wind(now - PAST_MS, now);
  const events: [number, number, string][] = [
    [70, 9, 'engine: speeding up to 1500 rpm'],
    [52, 9, 'engine: running'],
    [31, 13, 'spool: full, samples are dropped'],
    [28, 9, 'spool: empty again'],
    [17, 17, 'bearing: above 95 degrees, coolant valve opened'],
    [6, 9, 'bearing: back below 80 degrees'],
  ];
  for (const [ago, level, message] of events) plant.log(now - 1000 * ago, level, message);
  await testRun('soak, valve half open', ['night', 'pump 3'], 'bearing warm after 40 s');
  await testRun('speed up to 1500 rpm', ['pump 3'], '');
  plant.feed();
});

afterAll(async () => {
  await browser.close();
  await plant.stop();
  await up.stop();
  await rm(folder, { recursive: true });
});

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
const ledgerGeometry = {
  grid: {
    root: {
      type: 'branch',
      size: 1330,
      data: [
        {
          type: 'branch',
          size: 270,
          data: [
            { type: 'leaf', size: 665, data: { views: ['a'], activeView: 'a', id: '1' } },
            { type: 'leaf', size: 665, data: { views: ['c'], activeView: 'c', id: '4' } },
          ],
        },
        { type: 'leaf', size: 400, data: { views: ['x'], activeView: 'x', id: '2' } },
        { type: 'leaf', size: 230, data: { views: ['y'], activeView: 'y', id: '3' } },
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

const ledger = () =>
  layoutLink(
    up.url,
    [everything[0], everything[2], { id: 'x', kind: 'ledger' }, { id: 'y', kind: 'test-runs' }],
    ledgerGeometry,
  );
const panels = () => layoutLink(up.url, everything, geometry());

it.each([
  ['page', 'dark', LARGE, () => `${up.url}#watch=${NODE}/engine,controller/processor`],
  ['panels', 'dark', SMALL_WINDOW, panels],
  ['panels-light', 'light', SMALL_WINDOW, panels],
  ['ledger', 'dark', LARGE, ledger],
] as const)('%s', async (name, colorScheme, viewport, address) => {
  const visit = await Visit.to(browser, address(), { colorScheme, viewport });
  await expect.poll(() => visit.page.getByTestId('chart').count()).toBeGreaterThan(1);
  // Rates of counters need some seconds.
  await visit.page.waitForTimeout(6000);
  await takePicture(visit.page, name);
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

it('phone', async () => {
  const visit = await Visit.to(browser, layoutLink(up.url, everything.slice(0, 3)), {
    colorScheme: 'dark',
    viewport: { width: 360, height: 740 },
    deviceScaleFactor: 2,
  });
  await visit.page.waitForTimeout(4000);
  await takePicture(visit.page, 'page-phone');
  await visit.close();
});
