import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';

let oasis: Oasis;
let browser: Browser;

beforeAll(async () => {
  [oasis, browser] = await Promise.all([Oasis.up('--name', 'plant-7'), launch()]);
});

afterAll(async () => {
  await browser.close();
  await oasis.stop();
});

const looks = [
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'phone', options: { colorScheme: 'dark', viewport: { width: 360, height: 740 } } },
  { name: 'phone-light', options: { colorScheme: 'light', viewport: { width: 360, height: 740 } } },
  { name: 'wall', options: { colorScheme: 'dark', viewport: { width: 3840, height: 2160 } } },
] as const;

for (const { name, options } of looks) {
  it(`fits a ${name} screen and complains about nothing`, async () => {
    const visit = await Visit.to(browser, oasis.url, options);
    await visit.seesSamples('processor', 3, 10_000);
    await visit.screenshot(name);
    const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(visit.complaints).toEqual([]);
    await visit.close();
  });
}
