import { expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up('--name', 'plant-7', '--probe', 'processor@20', '--probe', 'memory@20'), {
  scrollbars: true,
});

const SCREENS = [
  [1366, 768],
  [1600, 900],
  [1920, 1080],
  [3840, 2160],
] as const;

async function open(width: number, height: number, deviceScaleFactor = 1): Promise<Visit> {
  const visit = await rig.visit('', { viewport: { width, height }, deviceScaleFactor });
  await visit.seesSamples('processor', 1);
  return visit;
}

function sizes({ page }: Visit): Promise<object> {
  return page.evaluate(() => {
    const { scrollWidth, scrollHeight, clientWidth, clientHeight } = document.documentElement;
    return { ratio: devicePixelRatio, scrollWidth, scrollHeight, clientWidth, clientHeight };
  });
}

const filled = (ratio: number, width: number, height: number) => ({
  ratio,
  scrollWidth: width,
  scrollHeight: height,
  clientWidth: width,
  clientHeight: height,
});

it.each(SCREENS)('fills %i by %i without scrollbars', async (width, height) => {
  const visit = await open(width, height);
  expect(await sizes(visit)).toEqual(filled(1, width, height));
  await visit.close();
});

it.each([1.5, 2])('fills each screen without scrollbars at a device pixel ratio of %d', async (ratio) => {
  const visit = await open(...SCREENS[0], ratio);
  for (const [width, height] of SCREENS) {
    await visit.page.setViewportSize({ width, height });
    await expect.poll(() => sizes(visit)).toEqual(filled(ratio, width, height));
  }
  await visit.close();
});

it('shows all buttons of the header at any width', async () => {
  const visit = await open(1280, 800);
  for (const width of [1280, 1120, 1040, 840]) {
    await visit.page.setViewportSize({ width, height: 800 });
    // The facts in the header are as long as a door's name and the DAC's address.
    await visit.page.evaluate(() => {
      for (const fact of document.querySelectorAll('.fact dd'))
        fact.textContent = 'Server-sent events 1.2.3.4';
    });
    const help = await visit.page.getByTestId('open-help').boundingBox();
    expect(help && help.x + help.width).toBeLessThanOrEqual(width);
  }
  await visit.close();
});
