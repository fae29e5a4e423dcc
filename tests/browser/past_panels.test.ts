import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { LOADED, Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

/** Panels other than charts, on a page that shows a time weeks ago. */

const MINUTE = 60_000;
const AGO = 16 * 24 * 60 * MINUTE;

const PUMP = {
  name: 'Pump',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'pressure', type: 'real64', unit: 'bar', kind: 'gauge', min: 0, max: 10 },
    { name: 'open', type: 'boolean' },
    {
      name: 'mode',
      type: 'uint8',
      kind: 'state',
      enum: {
        name: 'Mode',
        values: [
          { name: 'IDLE', value: 0 },
          { name: 'RUN', value: 1 },
        ],
      },
    },
  ],
};
const LOG = {
  name: 'Log',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'level', type: 'uint8', kind: 'event' },
    { name: 'message', type: 'string' },
  ],
};
const INSTANCES = [
  { name: 'pump', schema: PUMP },
  { name: 'log', schema: LOG, kind: 'event' as const },
];
const PANELS = [
  { kind: 'instance', target: { node: 'plant', instance: 'pump' } },
  { kind: 'gauge', target: { node: 'plant', instance: 'pump' }, metric: 'pressure' },
  {
    kind: 'states',
    sources: [{ target: { node: 'plant', instance: 'pump' }, metrics: ['open', 'mode'] }],
  },
  { kind: 'histogram', target: { node: 'plant', instance: 'pump' }, metric: 'pressure' },
  { kind: 'histogram', target: { node: 'plant', instance: 'pump' }, metric: null },
  { kind: 'events', targets: [{ node: 'plant', instance: 'log' }] },
].map((panel, index) => ({ ...panel, id: `p${index + 1}` }));

let folder: string;
let browser: Browser;
let dac: Oasis;
let node: PlainNode;
let visit: Visit;
let then: number;

const start = async () => {
  dac = await Oasis.dac({}, '--archive', folder);
  node = await PlainNode.start(dac.channel, 'plant', INSTANCES);
};

beforeAll(async () => {
  folder = temporaryFolder();
  browser = await sharedBrowser();
  then = Math.floor((Date.now() - AGO) / MINUTE) * MINUTE;
  await start();
  // Ten minutes, a sample each second: pressure rises from 0 to 6, the mode changes once, the valve each time.
  const times = Array.from({ length: 600 }, (_, second) => then + second * 1000 + 500);
  node.flush('pump', times, [
    Float64Array.from(times, (_, second) => second / 100),
    Uint8Array.from(times, (_, second) => second % 2),
    Uint8Array.from(times, (_, second) => Number(second >= 300)),
  ]);
  const logTimes = Array.from({ length: 400 }, (_, second) => then + second * 1000 + 500);
  node.flush('log', logTimes, [
    Uint8Array.from(logTimes, () => 2),
    logTimes.map((_, second) => `step ${second}`),
  ]);
  await vi.waitFor(async () => expect(await dac.received()).toBe(1000), LOADED);
  expect((await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' })).ok).toBe(true);
  // No sample of this epoch is in the logs of the next one.
  await node.stop();
  await dac.stop();
  await start();
  node.flush('pump', [Date.now()], [Float64Array.of(9), Uint8Array.of(0), Uint8Array.of(0)]);
  node.flush('log', [Date.now()], [Uint8Array.of(2), ['today']]);
  await vi.waitFor(async () => {
    await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' });
    // A node of another test may look for its DAC at a port that this one has now.
    expect(await dac.received('plant')).toBe(2);
  }, LOADED);
  visit = await Visit.to(browser, dac.url);
  const layout = { oasis: 'layout', version: 1, panels: PANELS };
  await visit.page.evaluate((text) => localStorage.setItem('oasis.layout', text), JSON.stringify(layout));
  await visit.page.reload();
});

afterAll(async () => {
  await closeVisits();
  await node.stop();
  await dac.stop();
});

const panel = (id: string) => visit.page.locator(`[data-panel=${id}]`);
const shows = (id: string, testId: string) =>
  expect.poll(() => panel(id).getByTestId(testId).first().textContent());
const value = (metric: string) =>
  visit.card('pump').locator(`[data-metric=${metric}]`).getByTestId('value').textContent();

/** Activates the tab of a panel. */
async function open(index: number): Promise<void> {
  await visit.page.locator('.dv-tab').nth(index).click();
}

/** Shows a time span that ends at a moment. */
async function scrubTo(to: number, span: number): Promise<void> {
  await visit.page.getByTestId('span').selectOption(String(span));
  await visit.page.keyboard.press('j');
  await visit.page.getByTestId('moment').waitFor();
  const middle = to - span / 2;
  const zone = new Date(middle).getTimezoneOffset() * MINUTE;
  await visit.page.getByTestId('moment-field').fill(new Date(middle - zone).toISOString().slice(0, 19));
  await visit.page.getByTestId('moment-go').click();
}

it('starts with the present', async () => {
  await open(0);
  await expect.poll(() => value('pressure')).toMatch(/^9/);
  expect(await visit.page.getByTestId('moment-note').count()).toBe(0);
  expect(await visit.page.getByTestId('past-mark').count()).toBe(0);
});

it('shows values and gauges at the end of the shown time, with their age at that time', async () => {
  await scrubTo(then + 400_000, MINUTE);
  await expect.poll(() => value('pressure')).toMatch(/^3\.99/);
  expect(await value('mode')).toContain('RUN');
  const note = visit.card('pump').getByTestId('moment-note');
  await expect.poll(() => note.textContent()).toMatch(/taken 0\.[45] s before$/);
  // No figure beside them is of now.
  await expect.poll(() => visit.part('pump', 'age').textContent()).toMatch(/^0\.[45] s$/);
  for (const figure of ['rate', 'missing'])
    expect(await visit.part('pump', figure).textContent()).toBe('\u2013');
  expect(await visit.part('pump', 'card-state').textContent()).toMatch(/^Now: /);
  // In a gap nothing is known, but how old the sample before it is.
  await scrubTo(then + 40 * MINUTE, MINUTE);
  await expect.poll(() => value('pressure')).toBe('\u2013');
  await expect.poll(() => note.textContent()).toMatch(/taken 30 min 00 s before .* no samples were taken/);
  // Before the oldest stored sample there is nothing.
  await scrubTo(then - MINUTE, MINUTE);
  await expect.poll(() => note.textContent()).toContain('no sample stored');
  expect(await value('pressure')).toBe('');
  await visit.screenshot('past-values-none');
  await scrubTo(then + 400_000, MINUTE);
  await open(1);
  await expect
    .poll(() => panel('p2').getByRole('img').getAttribute('aria-label'))
    .toMatch(/^pressure: 3\.99.bar$/);
  await shows('p2', 'past-mark').toMatch(/^Up to \d{4}-/);
});

it('shows states of the shown time, and marks changes faster than the resolution', async () => {
  await scrubTo(then + 10 * MINUTE - 1000, 15 * MINUTE);
  await open(2);
  await shows('p3', 'past-note').toMatch(/^From the archive/);
  await expect.poll(() => panel('p3').getByTestId('state-legend').textContent()).toMatch(/modeRUN$/);
  // A day has steps of more than a minute.
  await scrubTo(then + 8 * MINUTE, 24 * 60 * MINUTE);
  await expect.poll(() => panel('p3').getByTestId('state-legend').textContent()).toContain('several, last');
  await shows('p3', 'past-note').toContain('several states within');
  await visit.screenshot('past-states');
});

it('shows histograms of the shown time, with the number of samples', async () => {
  await scrubTo(then + 10 * MINUTE, 15 * MINUTE);
  await open(3);
  await shows('p4', 'past-note').toBe('From the archive: samples');
  await expect.poll(() => panel('p4').textContent()).toMatch(/Samples600Min0.bar/);
  await scrubTo(then + 12 * MINUTE, 24 * 60 * MINUTE);
  await shows('p4', 'past-note').toMatch(/, one sample of each 1 min \d+ s$/);
  await expect.poll(() => panel('p4').textContent()).toMatch(/Samples\d+ of 600Min0.bar/);
  expect(await panel('p4').textContent()).toMatch(/Max5\.99.bar/);
  await open(4);
  await expect
    .poll(() => panel('p5').textContent())
    .toMatch(/Samples599.*Median(1(\.00)?|1000|99\d\.\d).m?s/);
});

it('lists events of the shown time, and says that older ones are missing', async () => {
  await scrubTo(then + 100_000, MINUTE);
  await open(5);
  const events = panel('p6').getByTestId('event');
  await expect.poll(() => events.count()).toBe(60);
  await expect.poll(() => events.first().textContent()).toContain('step 99');
  await scrubTo(then + 10 * MINUTE, 15 * MINUTE);
  await expect.poll(() => events.first().textContent()).toContain('step 399');
  expect(await events.count()).toBe(300);
  await shows('p6', 'past-note').toBe('From the archive: samples, only the newest 300');
  await visit.screenshot('past-events');
  // Other colors change nothing else.
  const filter = panel('p6').getByRole('searchbox');
  await filter.fill('step 12');
  await filter.blur();
  const before = await visit.page.locator('html').getAttribute('data-theme');
  await visit.page.keyboard.press('t');
  await expect.poll(() => visit.page.locator('html').getAttribute('data-theme')).not.toBe(before);
  expect(await filter.inputValue()).toBe('step 12');
  await filter.fill('');
});

it('returns to now', async () => {
  await visit.page.getByTestId('live').click();
  await shows('p6', 'event').toContain('today');
  await open(0);
  await expect.poll(() => value('pressure')).toMatch(/^9/);
  expect(await visit.page.getByTestId('moment-note').count()).toBe(0);
  expect(visit.complaints).toEqual([]);
});

it('starts live distributions with samples of the archive, and counts no sample twice', async () => {
  const other = await Visit.to(browser, dac.url);
  const layout = {
    oasis: 'layout',
    version: 1,
    panels: PANELS.slice(3, 5),
    range: { live: true, span: 31 * 24 * 60 * MINUTE },
  };
  await other.page.evaluate((text) => localStorage.setItem('oasis.layout', text), JSON.stringify(layout));
  await other.page.reload();
  await other.page.locator('.dv-tab').nth(0).click();
  const [values, times] = ['p4', 'p5'].map((id) => other.page.locator(`[data-panel=${id}]`));
  // Ten minutes long ago, and a sample of today, which the archive has too.
  await expect.poll(() => values.textContent()).toMatch(/Samples\d+ of 601Min0.bar.*Max9.bar/);
  await expect
    .poll(() => values.getByTestId('past-note').textContent())
    .toMatch(/^From the archive: .*, one sample of each \d+ min/);
  await other.page.locator('.dv-tab').nth(1).click();
  await expect.poll(() => times.textContent()).toMatch(/Samples599.*Median(1(\.00)?|1000|99\d\.\d).m?s/);
  expect(other.complaints).toEqual([]);
  await other.close();
});

it('shows roll-ups if no samples are left', async () => {
  // Samples are evicted as soon as they are rolled up: those from before this start of the DAC.
  const config = join(folder, 'oasis.toml');
  const retention = '{ instances = "*", days = 0, bytes = 1 }';
  await writeFile(config, `[archive]\ndirectory = "${folder}"\nretention = [${retention}]\n`);
  await node.stop();
  await dac.stop();
  dac = await Oasis.dac({}, '--config', config);
  node = await PlainNode.start(dac.channel, 'plant', INSTANCES);
  const last = `${dac.url}/api/v1/samples?node=plant&instance=pump&last=1&to=${then + 400_000}000000`;
  await vi.waitFor(async () => {
    const { messages } = (await (await fetch(last)).json()) as { messages: { event: string }[] };
    expect(messages.some(({ event }) => event === 'samples')).toBe(false);
  }, LOADED);
  const other = await Visit.to(browser, dac.url);
  const layout = { oasis: 'layout', version: 1, panels: PANELS.slice(0, 1) };
  const range = { live: false, from: then + 340_000, to: then + 400_000 };
  await other.page.evaluate(
    (text) => localStorage.setItem('oasis.layout', text),
    JSON.stringify({ ...layout, range }),
  );
  await other.page.reload();
  const value = other.card('pump').locator('[data-metric=pressure]').getByTestId('value');
  await expect.poll(() => value.textContent()).toMatch(/^3\.[789]/);
  expect(await other.card('pump').getByTestId('moment-note').textContent()).toMatch(
    /taken \d+\.\d s before, of one-second roll-ups$/,
  );
});
