import { expect, it, onTestFinished, vi } from 'vitest';
import { sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { LOADED, Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

const PUMP = {
  name: 'Pump',
  uuid: '4c0a7c2e-90d3-4f0c-8c4f-2f1c0b1de911',
  version: '1.0',
  metrics: [{ name: 'pressure', type: 'real64', unit: 'bar' }],
};
const DAY_S = 24 * 60 * 60;
const BATCH = 4320;
const MINUTE = 60_000;

it('asks for the newest samples of a day first, and for the minute that is shown', async () => {
  const dac = await Oasis.dac({}, '--archive', temporaryFolder());
  onTestFinished(() => dac.stop());
  const node = await PlainNode.start(dac.channel, 'plant', [{ name: 'pump', schema: PUMP }]);
  onTestFinished(() => node.stop());
  const start = Date.now() - DAY_S * 1000;
  for (let from = 0; from < DAY_S; from += BATCH) {
    const times = Array.from({ length: BATCH }, (_, second) => start + (from + second) * 1000);
    node.flush('pump', times, [Float64Array.from(times, (_, second) => from + second)]);
  }
  await vi.waitFor(async () => expect(await dac.received()).toBe(DAY_S), LOADED);
  expect((await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' })).ok).toBe(true);

  const visit = await Visit.to(await sharedBrowser(), 'about:blank');
  onTestFinished(() => visit.close());
  const subscribed: Record<string, unknown>[] = [];
  const ranges: number[] = [];
  let bytes = 0;
  visit.page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => {
      if (String(payload).includes('"subscribe"')) subscribed.push(JSON.parse(String(payload)));
    });
    socket.on('framereceived', ({ payload }) => {
      bytes += payload.length;
    });
  });
  visit.page.on('request', (request) => {
    const query = new URL(request.url()).searchParams;
    if (query.has('points')) ranges.push(Number(query.get('from')?.replace('ns', '')) / 1e6);
  });
  const opened = Date.now();
  await visit.page.goto(`${dac.url}/#watch=plant/pump`);
  const value = visit.card('pump').locator('[data-metric=pressure]').getByTestId('value');
  await expect.poll(() => value.textContent()).toBe('86\u202f399.0');
  console.info(`newest value after ${Date.now() - opened} ms and ${bytes} bytes`);
  await visit.page.getByTestId('legend-value').first().waitFor();
  expect(subscribed).toHaveLength(1);
  expect(subscribed[0]).toMatchObject({ node: 'plant', instance: 'pump', last: 1000 });
  expect(subscribed[0]).not.toHaveProperty('from');
  // A day has 86,400 samples of 8 bytes and more.
  expect(bytes).toBeLessThan(200_000);
  for (const from of ranges) expect(from).toBeGreaterThan(opened - 4 * MINUTE);
  // Older samples come when a longer time is shown; the newest one stays.
  await visit.page.getByTestId('span').selectOption(String(60 * MINUTE));
  await expect.poll(() => visit.page.getByTestId('past-note').first().textContent()).toContain('archive');
  expect(await value.textContent()).toBe('86\u202f399.0');
  expect(visit.complaints).toEqual([]);
});
