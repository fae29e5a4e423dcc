import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up('--name', 'plant-7'));

it('sends requests to the DAC only, and does not move drawn content', async () => {
  const context = await rig.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const hosts = new Set<string>();
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.addInitScript(() => {
    const seen = window as unknown as { shift: number };
    seen.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.shift += (entry as unknown as { value: number }).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(rig.oasis.url);
  await page.getByTestId('legend-value').first().waitFor();
  const paint = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
  );
  console.info(`first paint after ${Math.round(paint)} ms`);
  await expect.poll(() => page.getByTestId('sequence').first().textContent()).toMatch(/\d/);
  // New panels must not move what is shown.
  expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBeLessThan(0.05);
  expect([...hosts]).toEqual([rig.oasis.listen]);
  await context.close();
});
