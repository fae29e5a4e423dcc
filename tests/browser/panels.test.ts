import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Download } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

const PLANT = {
  name: 'Plant',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    {
      name: 'load',
      type: 'real64',
      unit: '%',
      kind: 'gauge',
      min: 0,
      max: 100,
      warn: { above: 80 },
      alarm: { above: 95 },
    },
    {
      name: 'mode',
      type: 'uint8',
      label: HOSTILE,
      kind: 'state',
      enum: {
        name: 'Mode',
        values: [
          { name: 'IDLE', value: 0 },
          { name: HOSTILE, value: 1 },
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
    { name: 'level', type: 'uint8', kind: 'event', warn: { above: 3 } },
    { name: 'message', type: 'string' },
  ],
};
const WIND = {
  name: 'Wind',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'direction', type: 'real32', unit: 'deg' },
    { name: 'speed', type: 'real32', unit: 'm/s' },
  ],
};

// The page compares limits itself: its DAC has no rules.
const rig = new Rig(() => Oasis.dacWithoutRules());
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [
    { name: 'plant', schema: PLANT },
    { name: 'log', schema: LOG },
    { name: 'wind', schema: WIND },
  ]);
  sample(20);
  node.flush('log', [Date.now() - 50, Date.now()], [Uint8Array.of(1, 4), ['started', HOSTILE]]);
  const directions = Float32Array.from({ length: 40 }, (_, index) => 220 + (index % 30));
  const times = Array.from(directions, (_, index) => Date.now() - 40 + index);
  node.flush('wind', times, [directions, directions.map((degrees) => degrees / 30)]);
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/plant,plant-7/log,plant-7/wind');
  await expect.poll(() => visit.part('plant', 'received').textContent()).toMatch(/^\d+ received/);
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(async () => {
  await node.stop();
});

function sample(load: number, mode = 0, dropped = 0): void {
  node.flush('plant', [Date.now()], [Float64Array.of(load), Uint8Array.of(mode)], dropped);
}

const part = (testId: string) => visit.page.getByTestId(testId);

/** Activates the tab of a panel. */
async function open(tab: string): Promise<void> {
  await visit.page.locator('.dv-default-tab-content').getByText(tab, { exact: true }).click();
}

it('opens panels that fit the schema of each instance', async () => {
  const tabs = visit.page.locator('.dv-default-tab-content');
  await expect
    .poll(async () => (await tabs.allTextContents()).sort())
    .toEqual(
      [
        'plant',
        'plant \u00b7 load',
        'plant \u00b7 states',
        'log',
        'log \u00b7 events',
        'wind',
        'wind \u00b7 wind',
        'wind \u00b7 direction',
        'wind \u00b7 speed',
      ].sort(),
    );
});

it('shows events, states and a wind rose, and hostile texts as text', async () => {
  await open('log \u00b7 events');
  await expect
    .poll(() => part('event').allTextContents())
    .toEqual([expect.stringContaining(HOSTILE), expect.stringContaining('started')]);
  await open('plant \u00b7 states');
  sample(20, 1);
  await expect.poll(() => part('state-legend').first().textContent()).toBe(HOSTILE + HOSTILE);
  sample(20, 0);
  await expect.poll(() => part('state-legend').first().textContent()).toBe(`${HOSTILE}IDLE`);
  await open('wind \u00b7 wind');
  await expect.poll(() => part('rose-now').textContent()).toMatch(/^229. 7\.63/);
  expect(await part('rose').locator('.rose-petal').count()).toBeGreaterThan(2);
  expect(await part('rose-classes').textContent()).toMatch(/^below \S+\u202fm\/s.*m\/s and more$/);
  expect(await visit.page.locator('img').count()).toBe(0);
});

it('raises alarms, counts them in the title, and lets users acknowledge them', async () => {
  for (const load of [97, 99, 98, 30]) sample(load);
  await expect.poll(() => visit.part('log', 'received').textContent()).toMatch(/^[1-9]/);
  node.flush('log', [Date.now()], [Uint8Array.of(4), ['late']]);
  // That of the log from before the page was opened is no news.
  await expect.poll(() => part('alarm-count').textContent()).toBe('2');
  expect(await visit.page.title()).toBe('(2) OASIS');
  await visit.page.keyboard.press('g');
  const alarm = visit.page.locator('[data-testid=alarm][data-severity=alarm]');
  expect(await alarm.getAttribute('data-active')).toBe('false');
  expect(await alarm.textContent()).toContain('above 95');
  expect(await alarm.textContent()).toContain('99%');
  await alarm.getByTestId('acknowledge').click();
  await expect.poll(() => visit.page.title()).toBe('(1) OASIS');
  expect(await alarm.getByTestId('acknowledge').count()).toBe(0);
  await part('acknowledge-all').click();
  await expect.poll(() => visit.page.title()).toBe('OASIS');
  await visit.page.getByRole('button', { name: 'Clear resolved' }).click();
  await expect.poll(() => part('alarm').count()).toBe(0);
});

it('counts every missing sample under a cause', async () => {
  await visit.page.keyboard.press('b');
  sample(20, 0, 7);
  const row = visit.page.locator('[data-testid=ledger-row][data-instance=plant]');
  await expect.poll(() => row.textContent()).toContain("7: the probe's ring was full");
  const path = visit.page.locator('[data-testid=ledger-path][data-instance=plant]');
  await expect
    .poll(() => path.getByTestId('ledger-cause').allTextContents())
    .toEqual(["7: the probe's ring was full"]);
  const steps = async () => {
    const text = await path.locator('p').textContent();
    const numbers = text?.replaceAll('\u202f', '').matchAll(/\d+/g) ?? [];
    const [taken, received, here] = [...numbers].map(Number);
    return { lost: taken - received, received, onTheWay: received - here };
  };
  await expect.poll(steps).toMatchObject({ lost: 7, onTheWay: 0 });
  // Samples received after the DAC's answer count neither in it nor in the row beside it.
  const before = (await steps()).received;
  const seen: number[] = [];
  const feeding = setInterval(() => sample(20), 20);
  try {
    await expect
      .poll(async () => {
        const { received, onTheWay } = await steps();
        seen.push(onTheWay);
        return received;
      })
      .toBeGreaterThan(before);
  } finally {
    clearInterval(feeding);
  }
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(0);
});

it('filters the ledger by name and cause, and says where samples are missing', async () => {
  await visit.page.keyboard.press('b');
  sample(20, 0, 3);
  const rows = () =>
    part('ledger-row').evaluateAll((found) => found.map((row) => row.getAttribute('data-instance')));
  await expect.poll(rows).toEqual(['plant', 'log', 'wind']);
  await part('ledger-filter').fill('LOG');
  await expect.poll(rows).toEqual(['log']);
  await part('ledger-filter').fill('plant-7');
  await part('ledger-cause-filter').selectOption('ring_full');
  await expect.poll(rows).toEqual(['plant']);
  await expect
    .poll(() => part('ledger-gap').first().textContent())
    .toMatch(/#\d+ to #\d+ \(3 samples missing\)/);
  await part('ledger-cause-filter').selectOption('network');
  await expect.poll(rows).toEqual([]);
});

it('shows the time of each hop and the clock offsets', async () => {
  await visit.page.keyboard.press('b');
  const row = visit.page.locator('[data-testid=ledger-row][data-instance=plant]');
  const time = (testId: string) => row.getByTestId(testId).textContent();
  const milliseconds = async (testId: string) => Number.parseFloat((await time(testId)) ?? '');
  // The sample was taken 300 ms before its batch was made; a busy machine adds what it likes.
  node.flush('plant', [Date.now() - 300], [Float64Array.of(20), Uint8Array.of(0)]);
  await expect.poll(() => milliseconds('hop-node')).toBeGreaterThanOrEqual(300);
  for (const hop of ['hop-node', 'hop-dac', 'hop-page'])
    expect(await time(hop)).toMatch(/^\u2212?\d+\.\d\d ms$/);
  // The page knows the clock of the node to about a millisecond only; on a busy machine to tens of them.
  expect(await milliseconds('arrival')).toBeGreaterThan(200);
  await expect.poll(() => time('node-clock')).toMatch(/^0\.50 ms \u00b1 0\.25 ms$/);
  // With a rate there is an age to expect: half of both round trips, as 10 Hz leave the node at once.
  const times = Array.from({ length: 9 }, (_, index) => Date.now() - 800 + index * 100);
  node.flush('plant', times, [Float64Array.from(times), new Uint8Array(9)]);
  await expect.poll(() => time('arrival')).toMatch(/ms *expected \d\.\d\d ms$/);
});

it('adds a panel with the keyboard', async () => {
  await visit.page.keyboard.press('a');
  await part('add').waitFor();
  await part('kind-histogram').locator('..').click();
  await part('pick-plant-load').check();
  await part('add-panel').click();
  await expect.poll(() => part('histogram-bars').count()).toBe(1);
  await visit.page.keyboard.press('a');
  await part('add').waitFor();
  await part('kind-gauge').locator('..').click();
  await part('pick-plant-load').check();
  await part('add-panel').press('Enter');
  await expect.poll(() => part('gauge').last().isVisible()).toBe(true);
});

it('listens to keys after the slider and the lists of the time bar were used', async () => {
  const isLive = () => part('live').getAttribute('data-live');
  const length = () => part('span').inputValue();
  // With the pointer, the control gives the focus back.
  await part('slider').click({ position: { x: 4, y: 4 } });
  await expect.poll(isLive).toBe('false');
  await visit.page.keyboard.press('l');
  await expect.poll(isLive).toBe('true');
  // With the keyboard it keeps the focus, and takes only the keys that move it.
  await part('slider').focus();
  await visit.page.keyboard.press('-');
  await expect.poll(length).toBe('120000');
  await part('span').focus();
  await visit.page.keyboard.press('+');
  await expect.poll(length).toBe('60000');
  await visit.page.keyboard.press('ArrowDown');
  await expect.poll(length).toBe('300000');
  await visit.page.keyboard.press('?');
  await expect.poll(() => part('help').isVisible()).toBe(true);
});

it('lists the keys, and closes with Escape', async () => {
  await visit.page.keyboard.press('?');
  await expect.poll(() => part('help').isVisible()).toBe(true);
  await visit.page.keyboard.press('Escape');
  await expect.poll(() => part('help').count()).toBe(0);
  const before = await visit.page.evaluate(() => document.documentElement.dataset.theme);
  await visit.page.keyboard.press('t');
  await expect.poll(() => visit.page.evaluate(() => document.documentElement.dataset.theme)).not.toBe(before);
  await visit.page.keyboard.press('t');
  await visit.page.keyboard.press(' ');
  await expect.poll(() => part('live').getAttribute('data-live')).toBe('false');
});

it('exports the shown chart', async () => {
  await open('plant');
  const saved = async (act: () => Promise<void>) => {
    const [download] = await Promise.all([visit.page.waitForEvent('download'), act()]);
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
  };
  await visit.page
    .locator('.dv-default-tab-content')
    .getByText('plant \u00b7 load', { exact: true })
    .first()
    .click();
  const pictures = new Map<string, Buffer>();
  const keep = async (download: Download) => {
    const name = download.suggestedFilename();
    pictures.set(name.replace(/^plant-.*\./, ''), await readFile(await download.path()));
  };
  visit.page.on('download', (download) => void keep(download));
  await part('export-picture').click();
  await expect.poll(() => [...pictures.keys()].sort()).toEqual(['png', 'svg']);
  visit.page.removeAllListeners('download');
  expect([...(pictures.get('png') ?? Buffer.alloc(4)).subarray(1, 4)]).toEqual([...Buffer.from('PNG')]);
  const drawing = String(pictures.get('svg'));
  // The line, the ticks of its axis, and its name in the legend.
  expect(drawing).toMatch(/^<svg .*stroke="#[0-9a-f]{6}".*<\/svg>$/s);
  expect(drawing).toMatch(/<text [^>]*>[\d.]+\u202f?%<\/text>/);
  expect(drawing).toContain('load [%]</text>');
  // A picture leaves the page: it says what, where and when.
  expect(drawing).toContain('plant \u00b7 load</text>');
  expect(drawing).toMatch(/>plant-7 \u00b7 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \u2013 [^<]+<\/text>/);
  const size = (pictures.get('png') ?? Buffer.alloc(24)).readUInt32BE(20);
  const chart = await visit.page
    .locator('.chart:visible canvas')
    .first()
    .evaluate((canvas) => (canvas as HTMLCanvasElement).height);
  expect(size).toBeGreaterThan(chart + 40);
  const table = await saved(() => part('export-csv').click());
  expect(table.name).toMatch(/\.csv$/);
  expect(String(table.bytes)).toMatch(
    // A column of pixels can have several samples.
    /^time,load min \[%\],load max \[%\],load last \[%\]\r\n(\d{4}-.*\r\n)*\d{4}-.*Z,20,[\d.]+,[\d.]+\r\n/,
  );
  await expect.poll(() => part('notice').textContent()).toContain('each column of pixels');
});

it('exports states and hostile texts as SVG', async () => {
  await open('plant \u00b7 states');
  sample(20, 1);
  await expect.poll(() => part('state-legend').first().textContent()).toBe(HOSTILE + HOSTILE);
  const saved = new Promise<string>((resolve) => {
    visit.page.on('download', async (download) => {
      if (download.suggestedFilename().endsWith('.svg'))
        resolve(String(await readFile(await download.path())));
    });
  });
  await visit.page.keyboard.press('p');
  const drawing = await saved;
  expect(drawing).toContain('&lt;img src=x onerror=alert(1)&gt;</text>');
  expect(drawing).not.toContain('<img');
});

it('shares, exports and imports a layout, with its notes', async () => {
  await visit.page.keyboard.press('n');
  await part('note').waitFor();
  await part('note-text').fill(HOSTILE);
  await part('note-add').click();
  await visit.page.keyboard.press('o');
  const [download] = await Promise.all([visit.page.waitForEvent('download'), part('export-layout').click()]);
  const file = await download.path();
  const layout = JSON.parse(String(await readFile(file)));
  expect(layout.annotations[0].text).toBe(HOSTILE);
  await part('reset-layout').click();
  await expect
    .poll(() => visit.page.locator('.dv-default-tab-content').count())
    .toBeLessThan(layout.panels.length);
  await visit.page.keyboard.press('o');
  await part('import-layout').setInputFiles(file);
  await expect.poll(() => visit.page.locator('.dv-default-tab-content').count()).toBe(layout.panels.length);

  await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await visit.page.keyboard.press(' ');
  const ends = await part('ends').textContent();
  await visit.page.keyboard.press('s');
  await expect.poll(() => part('notice').textContent()).toContain('Copied');
  const link = await visit.page.evaluate(() => navigator.clipboard.readText());
  const other = await Visit.to(rig.browser, link);
  await expect.poll(() => other.page.locator('.dv-default-tab-content').count()).toBe(layout.panels.length);
  expect(await other.page.getByTestId('ends').textContent()).toBe(ends);
  expect(other.complaints).toEqual([]);
  await other.close();
});

it('copies a value with all its digits', async () => {
  await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const load = 33.123456789012;
  sample(load);
  const value = visit
    .part('plant', 'metric')
    .and(visit.page.locator('[data-metric=load]'))
    .getByTestId('value');
  await expect.poll(() => value.getAttribute('title')).toContain('33.12');
  await value.click({ button: 'right' });
  await expect.poll(() => part('notice').textContent()).toContain('Copied');
  expect(await visit.page.evaluate(() => navigator.clipboard.readText())).toBe(String(load));
});

it('saves layouts with a name in the DAC for all users', async () => {
  await visit.page.keyboard.press('o');
  await part('layout').waitFor();
  await part('layout-name').fill('../night');
  await part('save-layout').click();
  await expect.poll(() => part('layout-problem').textContent()).toContain('cannot be the name of a layout');
  await part('layout-name').fill('night shift');
  await part('save-layout').click();
  await expect.poll(() => part('open-saved').allTextContents()).toEqual(['night shift']);
  await visit.page.keyboard.press('Escape');
  const count = await visit.page.locator('.dv-default-tab-content').count();

  const other = await rig.visit('#watch=plant-7/wind');
  await other.page.keyboard.press('o');
  await other.page.getByTestId('open-saved').click();
  await expect.poll(() => other.page.locator('.dv-default-tab-content').count()).toBe(count);
  await other.page.keyboard.press('o');
  await other.page.getByTestId('delete-saved').click();
  await other.page.getByTestId('delete-saved-sure').click();
  await expect.poll(() => other.page.getByTestId('open-saved').count()).toBe(0);
  // The browser reports the 400 for the refused name.
  visit.complaints.splice(
    0,
    visit.complaints.length,
    ...visit.complaints.filter((text) => !text.includes('400')),
  );
  expect(other.complaints).toEqual([]);
  await other.close();
});
