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

// The facts in the header are as long as a door's name and the DAC's address.
for (const width of [840, 1040, 1120, 1280]) {
  it(`shows all buttons of the header at a width of ${width}`, async () => {
    const visit = await rig.visit('', { viewport: { width, height: 800 } });
    await visit.seesSamples('processor', 1);
    await visit.page.evaluate(() => {
      for (const fact of document.querySelectorAll('.fact dd'))
        fact.textContent = 'Server-sent events 1.2.3.4';
    });
    const help = await visit.page.getByTestId('open-help').boundingBox();
    expect(help && help.x + help.width).toBeLessThanOrEqual(width);
    await visit.close();
  });
}
