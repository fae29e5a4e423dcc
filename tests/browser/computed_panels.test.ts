import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import type { Locator } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sharedBrowser, Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

const ENGINE = {
  name: 'Engine',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'angle', type: 'real64', unit: 'deg' },
    { name: 'load', type: 'real64', unit: '%', alarm: { above: 90 } },
    { name: 'vibration', type: 'real64', unit: 'm/s2' },
  ],
};
const HERTZ = 200;
const COUNT = 4000;

let dac: Oasis;
let node: PlainNode;
let visit: Visit;

/** Begins with new samples: in the silence after older ones, nothing has a value. */
beforeEach(async () => {
  dac = await Oasis.dac();
  node = await PlainNode.start(dac.channel, 'drone-7', [{ name: 'engine', schema: ENGINE, hertz: HERTZ }]);
  const start = Date.now() - (COUNT * 1000) / HERTZ - 2000;
  for (let first = 0; first < COUNT; first += 1000) {
    const rows = Array.from({ length: 1000 }, (_, index) => first + index);
    // Two seconds are missing in the middle.
    const timeOf = (row: number) => start + (row * 1000) / HERTZ + (row < COUNT / 2 ? 0 : 2000);
    node.flush(
      'engine',
      rows.map(timeOf),
      [
        Float64Array.from(rows, (row) => row % 360),
        Float64Array.from(rows, (row) => (row === COUNT - 1 ? 95 : row % 50)),
        Float64Array.from(rows, (row) => 3 * Math.sin((2 * Math.PI * 25 * row) / HERTZ)),
      ],
      first === COUNT / 2 ? 400 : 0,
    );
  }
  visit = await Visit.to(await sharedBrowser(), `${dac.url}#watch=drone-7/engine`, {
    viewport: { width: 1366, height: 768 },
  });
  await visit.page.getByTestId('chart').first().waitFor();
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await node.stop();
  await dac.stop();
});

const part = (testId: string): Locator => visit.page.getByTestId(testId);

/** Opens the dialog that adds a panel of a kind. */
async function add(kind: string, ...metrics: string[]): Promise<void> {
  await part('open-add').click();
  await part(`kind-${kind}`).locator('..').click();
  for (const metric of metrics) await part(`pick-engine-${metric}`).check();
}

it('draws one value over another, with the gap between', async () => {
  await add('xy');
  await part('expression').fill('cos(engine.angle)');
  await part('expression-upward').fill('sin(engine.angle)');
  await part('add-panel').click();
  const points = () => part('xy-chart').getAttribute('data-points');
  await expect.poll(async () => Number(await points())).toBeGreaterThan(300);
  expect(await part('xy-chart').getAttribute('aria-label')).toContain(
    'sin(engine.angle) over cos(engine.angle)',
  );
  await expect.poll(() => part('gap-summary').textContent()).toContain('400 samples missing');
  // A ring stands at the time under the pointer of any chart.
  const readout = () => part('xy-readout').textContent();
  const newest = await readout();
  await part('xy')
    .locator('.u-over')
    .hover({ position: { x: 30, y: 30 } });
  await expect.poll(readout).not.toBe(newest);
  await part('xy-equal').check();
  await part('xy-trail').selectOption('5');
  await expect.poll(() => part('xy-trail').inputValue()).toBe('5');
  await expect.poll(async () => Number(await points())).toBeGreaterThan(300);
  await visit.screenshot('xy');
  // An axis is changed with the keyboard, and keeps its place.
  await part('expression-change').first().press('Enter');
  await part('expression').fill('engine.load');
  await visit.page.keyboard.press('Enter');
  await expect
    .poll(() => part('xy').locator('.legend-name').allTextContents())
    .toEqual(['engine.load', 'sin(engine.angle)']);
});

it('finds the frequencies of a vibration between gaps', async () => {
  await add('spectrum', 'vibration');
  await part('add-panel').click();
  const note = () => part('spectrum-note').textContent();
  await part('spectrum-size').selectOption('1024');
  // Each half has 2000 samples: two transforms that overlap by a half fit into it.
  await expect.poll(note).toMatch(/at 25(\.0)?\u202fHz · mean of 4 of 1.024 samples at 200\u202fHz/);
  await part('spectrum-window').selectOption('flattop');
  await expect.poll(note).toMatch(/Highest: (3|3\.00|2\.99)\u202fm\/s² at 25/);
  await part('spectrum-decibel').check();
  await part('spectrum-logarithmic').check();
  await expect.poll(() => part('spectrum-logarithmic').isChecked()).toBe(true);
  await expect.poll(() => part('gap-summary').textContent()).toContain('400 samples missing');
  await visit.screenshot('spectrum');
  // Over time the gap stays empty, and the time under the pointer is that of all charts.
  await part('spectrum-over-time').check();
  await expect.poll(() => part('spectrogram').getAttribute('data-columns')).toBe('200');
  expect(await part('spectrogram').getAttribute('aria-label')).toBe(
    'Frequencies of engine.vibration over time',
  );
  await expect.poll(() => part('spectrogram-note').textContent()).toContain('80 dB');
  await part('spectrogram')
    .locator('.u-over')
    .hover({ position: { x: 40, y: 40 } });
  await expect.poll(() => part('spectrogram').locator('.cursor-time').isVisible()).toBe(true);
  await visit.screenshot('spectrogram');
  const pictures = new Map<string, string>();
  visit.page.on('download', async (download) => {
    pictures.set(
      download.suggestedFilename().replace(/^.*\./, ''),
      await readFile(await download.path(), 'latin1'),
    );
  });
  await part('export-picture').click();
  await expect.poll(() => [...pictures.keys()].sort()).toEqual(['png', 'svg']);
  expect(pictures.get('svg')).toContain('<image');
  await part('spectrum-over-time').uncheck();
  await part('spectrum-size').selectOption('65536');
  await expect.poll(note).toMatch(/of 1.024 samples/);
});

it('counts the time shown, with what is missing', async () => {
  await add('statistics', 'load');
  await part('add-panel').click();
  const cells = () => part('statistics-row').first().locator('td').allTextContents();
  await expect.poll(async () => (await cells())[0]).toBe('4\u202f000');
  const [, , mean, , min, , median, , , max, missing] = await cells();
  expect([min, median, max, missing]).toEqual(['0%', expect.stringMatching(/^24/), '95%', '400']);
  expect(mean).toMatch(/^24\.5/);
  await part('statistics').getByTestId('expression-add').click();
  await part('expression').fill('rate(engine.angle)');
  await visit.page.keyboard.press('Enter');
  await expect.poll(() => part('statistics-row').count()).toBe(2);
  await visit.screenshot('statistics');
});

it('shows a number with its course, its age and its limits', async () => {
  await add('number', 'load');
  await part('add-panel').click();
  await expect.poll(() => part('number-value').textContent()).toBe('95%');
  expect(await part('number-value').getAttribute('data-severity')).toBe('alarm');
  expect(await part('number-note').textContent()).toMatch(/ s old$/);
  await expect.poll(() => part('number-course').locator('.number-gap').count()).toBe(1);
  expect(await part('number-course').locator('.number-gap title').textContent()).not.toBe('');
  await visit.screenshot('number');
});

it('shows a text with values in it, and nothing of it as HTML', async () => {
  await add('text');
  await part('add-panel').click();
  await part('text-field').fill(
    '# Engine <b>1</b>\nLoad **{{ engine.load }}**, twice {{ engine.load * 2 }}\n\n- {{ engine.gone }}\n- [no](javascript:alert(1))',
  );
  await part('text-done').click();
  const values = () => part('text-value').allTextContents();
  await expect.poll(async () => (await values()).slice(0, 2)).toEqual(['95%', '190%']);
  expect((await values())[2]).toBe('(engine has no metric gone.)');
  const body = part('text-body');
  expect(await body.locator('h3').textContent()).toBe('Engine <b>1</b>');
  expect(await body.locator('b, a').count()).toBe(0);
  await visit.screenshot('text');
  // A layout names the nodes.
  const stored = () => visit.page.evaluate(() => localStorage.getItem('oasis.layout') ?? '');
  await expect.poll(stored).toContain('{{ \\"drone-7\\"/engine.load }}');
  await visit.page.reload();
  await expect.poll(async () => (await values())[0]).toBe('95%');
});

it('stacks on a phone', async () => {
  const panels = [
    { kind: 'xy', expressions: ['engine.angle', 'engine.load'] },
    { kind: 'spectrum', expressions: ['engine.vibration'], size: 1024, window: 'hann' },
    { kind: 'statistics', expressions: ['engine.load', 'engine.angle'] },
    { kind: 'number', expressions: ['engine.load'] },
    { kind: 'text', text: '# Notes\nNothing yet.' },
  ].map((panel, index) => ({
    ...panel,
    ...(panel.expressions && { expressions: panel.expressions.map((text) => `"drone-7"/${text}`) }),
    id: `p${index}`,
  }));
  // A link to the layout, as the page makes it.
  const layout = JSON.stringify({
    oasis: 'layout',
    version: 1,
    panels,
    range: { live: true, span: 300_000 },
  });
  await visit.page.setViewportSize({ width: 390, height: 844 });
  await visit.page.goto('about:blank');
  await visit.page.goto(`${dac.url}/#view=${deflateRawSync(layout).toString('base64url')}`);
  await expect.poll(() => part('number-value').textContent()).toBe('95%');
  await expect.poll(() => part('spectrum-note').textContent()).toContain('Hz');
  expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await visit.screenshot('computed-phone');
});
