import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up('--name', 'plant-7', '--probe', 'processor@20', '--probe', 'memory@20'));

const looks = [
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'phone', options: { colorScheme: 'dark', viewport: { width: 360, height: 740 } } },
  { name: 'phone-light', options: { colorScheme: 'light', viewport: { width: 360, height: 740 } } },
  { name: 'wall', options: { colorScheme: 'dark', viewport: { width: 3840, height: 2160 } } },
] as const;

for (const { name, options } of looks) {
  it(`fits a ${name} screen without complaints`, async () => {
    const visit = await rig.visit('', options);
    await visit.seesSamples('processor', 3);
    await visit.screenshot(name);
    const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(visit.complaints).toEqual([]);
    await visit.close();
  });
}
