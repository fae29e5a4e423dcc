import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { launch, Visit } from '../harness/browser.ts';
import { dropFile } from '../harness/drop_file.ts';
import { BINARY, Oasis } from '../harness/oasis.ts';
import { PlainNode } from '../harness/plain_node.ts';
import { takePicture } from './picture.ts';
import { grid, LOG_LEVEL, layoutLink, Plant } from './plant.ts';

/** One picture for each guide that is about the page. */

const SCREEN = { width: 1280, height: 720 };
const WIDE = { width: 1440, height: 720 };
const NODE = 'plant-7';
const MINUTE = 60_000;
/** Timeout where `expect.poll` does not suffice. */
const LOADED = { timeout: 30_000 };

/** The type of the log records of programs: pdl/instrument/log.pdl. */
const LOG_RECORD = {
  name: 'OASIS::Program::LogProbe',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    LOG_LEVEL,
    { name: 'target', type: 'string', label: 'Target' },
    { name: 'message', type: 'string', label: 'Message' },
    { name: 'span', type: 'string', label: 'Span' },
  ],
};

const BUDGET = `
[node]
name = "plant-7"
overhead_budget = 0.01
probes = [
  { probe = "processor", hertz = 100, importance = 9 },
  { probe = "cpu", hertz = 100, importance = 5 },
  { probe = "process", name = "oasis", hertz = 100 },
]
`;
const RECORDER = `
[node]
name = "plant-7"
probes = [
  { probe = "processor", hertz = 10 },
  { probe = "memory", hertz = 50, record = { before_s = 10, after_s = 5, triggers = ["physical_memory_avail < 100000"] } },
]
`;

let browser: Browser;
let folder: string;
/** Stop the processes of a picture after it, also if a step has failed. */
let ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oasis-'));
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

/** Stops a process after the picture. */
function stopping<T extends { stop(): Promise<void> }>(started: T): T {
  ends.push(() => started.stop());
  return started;
}

async function open(url: string, viewport = SCREEN): Promise<Visit> {
  return Visit.to(browser, url, { colorScheme: 'dark', viewport });
}

/** Starts a DAC and a node with a configuration file. */
async function up(configuration: string): Promise<Oasis> {
  const file = join(folder, 'oasis.toml');
  await writeFile(file, configuration);
  return stopping(await Oasis.up('--config', file));
}

it('overhead', async () => {
  const oasis = await up(BUDGET);
  const visit = await open(`${oasis.url}#watch=${NODE}/processor`);
  const { page } = visit;
  await expect.poll(() => page.getByTestId('instance-slowed').count(), LOADED).toBeGreaterThan(0);
  // Until the governor has settled.
  await page.waitForTimeout(8000);
  const box = await page.getByTestId('instance').last().boundingBox();
  if (!box) throw new Error('no instance');
  await takePicture(page, 'overhead', { x: 0, y: 84, width: 640, height: box.y + box.height - 70 });
  await visit.close();
});

it('rates and flight recorder', async () => {
  const oasis = await up(RECORDER);
  const rates = await open(`${oasis.url}#watch=${NODE}/processor`, WIDE);
  await rates.seesSamples('processor', 100, MINUTE);
  await takePicture(rates.page, 'change-rates');
  await rates.part('processor', 'hertz-preset-10').click();
  await rates.part('processor', 'keep').click();
  await rates.part('processor', 'labels-open').click();
  const node = rates.page.getByTestId('labels-node');
  await node.getByTestId('label-text').fill('site=graz');
  await node.getByTestId('label-add').click();
  await expect.poll(() => rates.page.getByTestId('label').count()).toBe(1);
  await rates.page.keyboard.press('Escape');
  await takePicture(rates.page, 'keep-settings');
  await rates.close();

  const recorder = await open(`${oasis.url}#watch=${NODE}/memory`, WIDE);
  const state = () => recorder.part('memory', 'card-state').getAttribute('data-state');
  await expect.poll(state).toBe('armed');
  await recorder.part('memory', 'trigger').click();
  await expect.poll(state).toBe('live');
  // The seconds after the trigger.
  await recorder.page.waitForTimeout(6000);
  await takePicture(recorder.page, 'flight-recorder');
  await recorder.close();
});

it('fleet and layouts', async () => {
  const dac = stopping(await Oasis.dac());
  const now = Date.now();
  const names = ['plant-4', 'plant-5', 'plant-6', NODE];
  const plants = await Promise.all(names.map((name, index) => Plant.start(dac.channel, name, index * 9000)));
  for (const plant of plants) {
    plant.engine(now - MINUTE, now);
    plant.wind(now - MINUTE, now);
    plant.feed();
  }
  const charts = names.map((node, index) => ({
    id: `p${index}`,
    kind: 'series',
    mode: 'lines',
    title: 'Temperatures',
    sources: [{ target: { node, instance: 'engine' }, metrics: ['bearing', 'winding', 'coolant'] }],
  }));
  const fleet = await open(layoutLink(dac.url, charts, grid([charts.slice(0, 2), charts.slice(2)])));
  await expect.poll(() => fleet.page.getByTestId('chart').count()).toBe(4);
  await fleet.page.waitForTimeout(4000);
  await takePicture(fleet.page, 'fleet');

  for (const name of ['night shift', 'test bench']) await saveLayout(fleet, name);
  await takePicture(fleet.page, 'layouts');
  await fleet.close();
  for (const plant of plants) await plant.stop();
});

it('computed values', async () => {
  const dac = stopping(await Oasis.dac());
  const plant = stopping(await Plant.start(dac.channel, NODE));
  const now = Date.now();
  plant.engine(now - MINUTE, now - 22_000);
  plant.engine(now - 19_000, now, 150);
  plant.feed();
  const metric = (name: string) => `"${NODE}"/engine.${name}`;
  const panels = [
    {
      kind: 'series',
      mode: 'lines',
      sources: [{ target: { node: NODE, instance: 'engine' }, metrics: ['torque'] }],
      expressions: [`mean(${metric('torque')}, 5)`, `${metric('bearing')} - ${metric('coolant')}`],
    },
    { kind: 'spectrum', expressions: [metric('torque')], size: 512, window: 'hann', isDecibel: true },
    { kind: 'xy', expressions: [metric('winding'), metric('bearing')] },
    { kind: 'statistics', expressions: [metric('torque'), `${metric('bearing')} - ${metric('coolant')}`] },
    { kind: 'number', expressions: [metric('bearing')] },
    {
      kind: 'text',
      text: `# Soak test\n\n- Bearing **{{ ${metric('bearing')} }}**, ${'`'}95 °C${'`'} is too hot\n- Above coolant: {{ ${metric('bearing')} - ${metric('coolant')} }}\n\n> Valve half open since 9:40.`,
    },
  ].map((panel, index) => ({ ...panel, id: `p${index}` }));
  const [chart, spectrum, xy, statistics, number, text] = panels;
  const places = grid([
    [chart, spectrum],
    [xy, statistics],
    [number, text],
  ]);
  const visit = await open(layoutLink(dac.url, panels, places), { width: 1680, height: 900 });
  await expect.poll(() => visit.page.getByTestId('text-value').count(), LOADED).toBe(2);
  await expect.poll(() => visit.page.getByTestId('spectrum-note').textContent()).toContain('Hz');
  await visit.page.waitForTimeout(4000);
  await takePicture(visit.page, 'compute-values');
  await visit.close();
});

it('logs', async () => {
  const dac = stopping(await Oasis.dac());
  const machine = await PlainNode.start(dac.channel, 'machine', [
    { name: 'log', schema: LOG_RECORD, kind: 'event' },
  ]);
  const records: [number, number, string, string, string][] = [
    [52.4, 9, 'pump', 'pump started', 'turn:pump'],
    [47.1, 5, 'valve', 'position 40 %', 'turn:valve'],
    [31.9, 13, 'pump', 'inlet pressure low: 0.8 bar', 'turn:pump'],
    [30.2, 9, 'valve', 'position 65 %', 'turn:valve'],
    [18.8, 17, 'pump', 'dry run detected, motor stopped', 'turn:pump'],
    [9.6, 9, 'operator', 'alarm acknowledged', ''],
    [2.3, 9, 'pump', 'pump started', 'turn:pump'],
  ];
  for (const [ago, level, logger, message, span] of records) {
    machine.flush('log', [Date.now() - 1000 * ago], [Uint8Array.of(level), [logger], [message], [span]]);
  }
  const log = await open(`${dac.url}#watch=machine/log`);
  await expect.poll(() => log.page.getByText('dry run detected').count()).toBeGreaterThan(0);
  await expect.poll(() => log.page.getByText('Reading the archive').count()).toBe(0);
  await takePicture(log.page, 'log-records');
  await log.close();
  await machine.stop();
});

it('past, test runs and replay', async () => {
  const archive = join(folder, 'archive');
  const dac = stopping(await Oasis.dac({}, '--archive', archive));
  const plant = await Plant.start(dac.channel, NODE);
  const then = Date.now() - 26 * 60 * MINUTE;
  for (let minute = 0; minute < 10; minute++) {
    const from = then + minute * MINUTE;
    plant.engine(from, from + (minute === 6 ? 35_000 : MINUTE), minute === 7 ? 1250 : 0);
    plant.wind(from, from + MINUTE);
  }
  await vi.waitFor(async () => expect(await dac.received()).toBeGreaterThan(29_000), LOADED);
  expect((await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' })).ok).toBe(true);

  const engine = { node: NODE, instance: 'engine' };
  const panels = [
    {
      id: 'p0',
      kind: 'series',
      mode: 'lines',
      title: 'Temperatures',
      sources: [{ target: engine, metrics: ['bearing', 'winding', 'coolant'] }],
    },
    { id: 'p1', kind: 'states', sources: [{ target: engine, metrics: ['mode', 'brake'] }] },
  ];
  const range = { live: false, from: then, to: then + 10 * MINUTE };
  const past = await open(layoutLink(dac.url, panels, grid([panels]), range));
  await expect.poll(() => past.page.getByTestId('chart').count()).toBeGreaterThan(0);
  await past.page.waitForTimeout(2000);
  const box = await past.page.locator('.u-over').first().boundingBox();
  if (!box) throw new Error('no chart');
  await past.page.mouse.move(box.x + box.width * 0.67, box.y + box.height / 2);
  await past.page.waitForTimeout(500);
  await takePicture(past.page, 'past');
  await past.close();

  plant.feed();
  await testRun(dac, 'soak, pump 3 cold', '');
  await testRun(dac, 'soak, pump 3 hot', 'valve half open');
  const runs = await open(layoutLink(dac.url, [{ id: 'p0', kind: 'test-runs' }]));
  await expect.poll(() => runs.page.getByTestId('test-run-pick').count()).toBe(2);
  for (const pick of (await runs.page.getByTestId('test-run-pick').all()).reverse()) await pick.click();
  await runs.page.getByTestId('test-run-compare').click();
  await runs.page.getByTestId('comparison').waitFor();
  await takePicture(runs.page, 'test-runs');
  await runs.close();
  await plant.stop();
  await dac.stop();

  const live = stopping(await Oasis.dac());
  const replay = spawn(BINARY, ['replay', archive, '--speed', '10', '--loop', '--dac', live.channel], {
    stdio: 'ignore',
  });
  try {
    const visit = await open(`${live.url}#watch=replay:${NODE}/engine`);
    await vi.waitFor(async () => expect(await live.received()).toBeGreaterThan(20_000), { timeout: MINUTE });
    await takePicture(visit.page, 'replay');
    await visit.close();
  } finally {
    await ended(replay);
  }
});

/** Saves the layout of a page in the DAC; leaves the dialog open. */
async function saveLayout({ page }: Visit, name: string): Promise<void> {
  if ((await page.getByTestId('layout').count()) === 0) await page.keyboard.press('o');
  await page.getByTestId('layout-name').fill(name);
  await page.getByTestId('save-layout').click();
  await page.getByTestId('open-saved').filter({ hasText: name }).waitFor();
}

/** Records a test run of some hundred samples. */
async function testRun(dac: Oasis, name: string, notes: string): Promise<void> {
  const runs = `${dac.url}/api/v1/test-runs`;
  const body = JSON.stringify({ name, tags: ['night'], notes });
  const { id } = (await (await fetch(runs, { method: 'POST', body })).json()) as { id: number };
  const before = await dac.received();
  await vi.waitFor(async () => expect(await dac.received()).toBeGreaterThan(before + 400), LOADED);
  await fetch(`${runs}/${id}/stop`, { method: 'POST' });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.kill()) await once(child, 'exit');
}

it('import of a recording', async () => {
  const oasis = stopping(await Oasis.dac({}, '--archive', join(folder, 'import')));
  const visit = await open(oasis.url);
  await visit.page.getByTestId('filter').waitFor();
  const times = Array.from({ length: 400 }, (_, second) => new Date(Date.UTC(2024, 4, 1, 10, 0, second)));
  const rows = times.map(
    (time, second) => `${time.toISOString()},${(20 + second / 40).toFixed(2)},${second % 5}`,
  );
  await dropFile(visit, 'drive.csv', `time,speed [m/s],gear\n${rows.join('\n')}\n`);
  await visit.page.getByTestId('import-store').waitFor();
  await takePicture(visit.page, 'import-on-the-page');
  await visit.close();
});
