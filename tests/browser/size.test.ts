import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up('--name', 'plant-7'), { scrollbars: true });

const screens = [
  [1366, 768],
  [1600, 900],
  [1920, 1080],
  [3840, 2160],
] as const;

for (const [width, height] of screens) {
  for (const ratio of [1, 1.5, 2]) {
    it(`fills ${width} by ${height} without scrollbars at a device pixel ratio of ${ratio}`, async () => {
      const visit = await rig.visit('', { viewport: { width, height }, deviceScaleFactor: ratio });
      await visit.seesSamples('processor', 1);
      const size = await visit.page.evaluate(() => {
        const { scrollWidth, scrollHeight, clientWidth, clientHeight } = document.documentElement;
        return { ratio: devicePixelRatio, scrollWidth, scrollHeight, clientWidth, clientHeight };
      });
      expect(size).toEqual({
        ratio,
        scrollWidth: width,
        scrollHeight: height,
        clientWidth: width,
        clientHeight: height,
      });
      await visit.close();
    });
  }
}
