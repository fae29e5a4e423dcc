import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const BOILER = {
  name: 'Boiler',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'pressure', type: 'real64', unit: 'bar', warn: { above: 8 }, alarm: { above: 10 } }],
};

/** The page's requests to the browser, and whether the tab is visible. */
interface Stage {
  tones: number;
  readonly notices: string[];
  isHidden: boolean;
}

const rig = new Rig(() => Oasis.dacWithoutRules());
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'boiler', schema: BOILER }]);
  visit = await Visit.to(rig.browser, 'about:blank');
  await visit.page.addInitScript(() => {
    const stage: Stage = { tones: 0, notices: [], isHidden: false };
    Object.assign(window, { stage });
    class Tone {
      readonly frequency = { value: 0 };
      readonly gain = { value: 0 };
      connect(to: unknown) {
        return to;
      }
      start() {
        stage.tones++;
      }
      stop() {}
    }
    Object.assign(window, {
      AudioContext: class {
        readonly currentTime = 0;
        createOscillator = () => new Tone();
        createGain = () => new Tone();
      },
      Notification: class Notice {
        static permission = 'default';
        static async requestPermission() {
          Notice.permission = 'granted';
        }
        constructor(title: string, options: { body: string }) {
          stage.notices.push(`${title}: ${options.body}`);
        }
      },
    });
    // A hidden tab draws no frames.
    Object.defineProperty(document, 'hidden', { get: () => stage.isHidden });
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) => (stage.isHidden ? 0 : frame(draw));
  });
  await visit.page.goto(`${rig.oasis.url}#watch=plant-7/boiler`);
  node.flush('boiler', [Date.now()], [Float64Array.of(5)]);
  await expect(visit.part('boiler', 'received').waitFor()).resolves.toBeUndefined();
});

afterAll(async () => {
  await visit.close();
  await node.stop();
});

const stage = () => visit.page.evaluate(() => (window as unknown as { stage: Stage }).stage);

it('plays sounds and sends notifications only after they are enabled', async () => {
  node.flush('boiler', [Date.now()], [Float64Array.of(9)]);
  await expect.poll(() => visit.page.title()).toBe('(1) OASIS');
  expect(await stage()).toMatchObject({ tones: 0, notices: [] });
  await visit.page.keyboard.press('g');
  const loud = visit.page.getByTestId('loud');
  expect(await loud.isChecked()).toBe(false);
  await loud.check();
  await expect.poll(async () => (await stage()).tones).toBe(1);
  node.flush('boiler', [Date.now()], [Float64Array.of(11)]);
  await expect.poll(async () => (await stage()).tones).toBe(2);
  // A visible page sends no notification.
  expect((await stage()).notices).toEqual([]);
});

it('notifies of alarms while the page is hidden', async () => {
  await visit.page.getByTestId('acknowledge-all').click();
  await expect.poll(() => visit.page.title()).toBe('OASIS');
  node.flush('boiler', [Date.now()], [Float64Array.of(5)]);
  await expect.poll(() => visit.page.locator('[data-testid=alarm][data-active=true]').count()).toBe(0);
  await visit.page.evaluate(() => {
    (window as unknown as { stage: Stage }).stage.isHidden = true;
  });
  // Beyond its limits long after the last time: an alarm of its own.
  node.flush('boiler', [Date.now() + 10_000], [Float64Array.of(12)]);
  await expect.poll(() => visit.page.title()).toBe('(1) OASIS');
  expect((await stage()).notices).toEqual(['OASIS: pressure is above 10']);
  expect(visit.complaints).toEqual([]);
});
