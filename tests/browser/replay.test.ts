import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { BINARY, LOADED, Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

/** A recording with a silence, replayed to a DAC without an archive. */

const TIDE = {
  name: 'Tide',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'level', type: 'real64', unit: 'm' }],
};

let folder: string;
let browser: Browser;
let dac: Oasis;
let replay: ChildProcess;
let visit: Visit;

beforeAll(async () => {
  folder = temporaryFolder();
  browser = await sharedBrowser();
  dac = await Oasis.dac({}, '--archive', folder);
  const node = await PlainNode.start(dac.channel, 'harbour', [{ name: 'tide', schema: TIDE, hertz: 10 }]);
  // A second at 10 Hz, two seconds without a sample, and another second at 10 Hz: no sample is missing.
  const then = Date.now() - 60_000;
  for (const second of [0, 3]) {
    const times = Array.from({ length: 10 }, (_, index) => then + second * 1000 + index * 100);
    node.flush('tide', times, [Float64Array.from(times, () => second)]);
  }
  await vi.waitFor(async () => expect(await dac.received()).toBe(20), LOADED);
  expect((await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' })).ok).toBe(true);
  await node.stop();
  await dac.stop();
  dac = await Oasis.dac();
  replay = spawn(BINARY, ['replay', folder, '--loop', '--dac', dac.channel], { stdio: 'ignore' });
  visit = await Visit.to(browser, `${dac.url}#watch=replay:harbour/tide`);
});

afterAll(async () => {
  await closeVisits();
  if (replay.exitCode === null && replay.kill()) await once(replay, 'exit');
  await dac.stop();
});

it('shows a recorded silence on a live chart although the rate is unknown', async () => {
  const { page } = visit;
  await page.getByTestId('span').selectOption('60000');
  await expect.poll(() => visit.part('tide', 'hertz').textContent()).toBe('Rate unknown');
  // A replayed instance takes no commands.
  expect(await visit.part('tide', 'disable').count()).toBe(0);
  const chart = page.getByTestId('series').first();
  const causes = async () => {
    const found = new Set<string | null>();
    const box = await chart.locator('.u-over').boundingBox();
    const note = chart.getByTestId('gap-note');
    for (let share = 0.99; box && share > 0; share -= 0.01) {
      await page.mouse.move(box.x + box.width * share, box.y + 50);
      await page.evaluate(() => new Promise(requestAnimationFrame));
      if ((await note.count()) > 0) found.add(await note.first().getAttribute('data-cause'));
    }
    return [...found];
  };
  await expect.poll(causes).toContain('silent');
  await visit.screenshot('replay-silence');
  expect(visit.complaints).toEqual([]);
});
