import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { LOADED, Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

const HOUR = 3_600_000;
const AGO = 16 * 24 * HOUR;

const TIDE = {
  name: 'Tide',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'level', type: 'real64', unit: 'm' }],
};

let folder: string;
let browser: Browser;
let dac: Oasis;
let node: PlainNode;
let visit: Visit;
let then: number;

/** Sends ten samples of one value, a minute apart. */
async function flush(from: number, value: number, dropped = 0): Promise<void> {
  const times = Array.from({ length: 10 }, (_, index) => from + index * 60_000);
  node.flush('tide', times, [Float64Array.from(times, () => value)], dropped);
}

/** Returns the DAC's ledger of the instance. */
async function ledger(): Promise<{ received?: number; archive?: object }> {
  const ledger = await (await fetch(`${dac.url}/api/v1/ledger`)).json();
  return (ledger as { instances: { ledger: object }[] }).instances[0]?.ledger ?? {};
}

beforeAll(async () => {
  folder = temporaryFolder();
  browser = await sharedBrowser();
  then = Math.floor((Date.now() - AGO) / HOUR) * HOUR;
  // An earlier epoch of the DAC, whose samples are not in the logs of the next one.
  dac = await Oasis.dac({}, '--archive', folder);
  node = await PlainNode.start(dac.channel, 'harbour', [{ name: 'tide', schema: TIDE }]);
  await flush(then, 40);
  await flush(then + 20 * 60_000, 60, 5);
  // The archive stores what the DAC has received.
  await vi.waitFor(async () => expect((await ledger()).received).toBe(20), LOADED);
  expect((await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' })).ok).toBe(true);
  await node.stop();
  await dac.stop();
  dac = await Oasis.dac({}, '--archive', folder);
  node = await PlainNode.start(dac.channel, 'harbour', [{ name: 'tide', schema: TIDE }]);
  await flush(Date.now() - 10 * 60_000, 5);
  await vi.waitFor(async () => {
    await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' });
    expect((await ledger()).archive).toBeDefined();
  }, LOADED);
  visit = await Visit.to(browser, `${dac.url}#watch=harbour/tide`);
});

afterAll(async () => {
  await closeVisits();
  await node.stop();
  await dac.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);

it('moves the slider back to the oldest sample in the archive', async () => {
  await expect.poll(() => part('legend-value').textContent()).toMatch(/^5/);
  await expect
    .poll(() => part('slider').evaluate((slider) => Number((slider as HTMLInputElement).min)))
    .toBeLessThan(then + 2 * HOUR);
});

it('shows a time weeks ago, with the source of the chart and the causes of gaps', async () => {
  await part('span').selectOption(String(HOUR));
  await visit.page.keyboard.press('j');
  await part('moment').waitFor();
  const zone = new Date(then).getTimezoneOffset() * 60_000;
  await part('moment-field').fill(new Date(then + 20 * 60_000 - zone).toISOString().slice(0, 19));
  await part('moment-go').click();
  // The hour ends after the last sample of that day.
  await expect.poll(() => part('legend-value').textContent()).toBe('\u2013');
  await expect
    .poll(() => part('past-note').textContent())
    .toMatch(/^From the archive: (samples|one-second roll-ups)$/);
  const box = await part('series').locator('.u-over').boundingBox();
  if (!box) throw new Error('no chart');
  const note = part('gap-note');
  for (let share = 0.02; share < 1 && (await note.count()) === 0; share += 0.02) {
    await visit.page.mouse.move(box.x + box.width * share, box.y + 50);
    await visit.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  expect(await note.textContent()).toContain('5 samples missing');
  await visit.screenshot('archive');
});

it('cancels the requests of times that it scrolls past, and shows the time where it stops', async () => {
  const requests: string[] = [];
  visit.page.on('requestfailed', (request) => requests.push(request.failure()?.errorText ?? ''));
  const slider = part('slider');
  const [min, max] = await slider.evaluate((element) => {
    const { min, max } = element as HTMLInputElement;
    return [Number(min), Number(max)];
  });
  await slider.evaluate(
    async (element, [from, to]) => {
      const input = element as HTMLInputElement;
      for (let step = 0; step <= 40; step++) {
        input.value = String(to - ((to - from) * step) / 40 - 1);
        input.dispatchEvent(new InputEvent('input', { bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
    },
    [min, max] as const,
  );
  await expect.poll(() => part('past-note').getAttribute('data-state')).toBe('ready');
  await part('live').click();
  await expect.poll(() => part('legend-value').textContent()).toMatch(/^5/);
  // Canceled requests are the only permitted complaint.
  expect(requests.every((text) => text.includes('ABORTED'))).toBe(true);
  expect(visit.complaints).toEqual([]);
});
