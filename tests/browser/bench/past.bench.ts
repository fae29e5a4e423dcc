import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Oasis } from '../harness/oasis.ts';
import { PlainNode } from '../harness/plain_node.ts';
import { Rig } from '../harness/rig.ts';
import { described, Gauge } from './gauge.ts';

/**
 * Benchmark of the past: a probe of 1 kHz is scrubbed. `BENCH_HOURS` is its length, 168 for a week, which takes minutes to
 * write and some gigabytes; `BENCH_SECONDS` how long it is scrubbed.
 */
const HOURS = Number(process.env.BENCH_HOURS ?? 1);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
const HERTZ = 1000;
/** Samples of a batch. */
const BATCH = 10_000;

const PROBE = {
  name: 'Bench::Past',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'level', type: 'real64', unit: 'V' }],
};

const folder = await mkdtemp(join(tmpdir(), 'oasis-'));
const rig = new Rig(() => Oasis.dac({}, '--archive', folder));
let node: PlainNode;

beforeAll(
  async () => {
    node = await PlainNode.start(rig.oasis.channel, 'plant', [{ name: 'past', schema: PROBE, hertz: HERTZ }]);
    const samples = HOURS * 3600 * HERTZ;
    const start = Date.now() - (samples * 1000) / HERTZ;
    const values = Float64Array.from({ length: BATCH }, (_, index) =>
      Math.sin((index * 2 * Math.PI) / BATCH),
    );
    for (let first = 0; first < samples; first += BATCH) {
      const times = Array.from({ length: BATCH }, (_, index) => start + ((first + index) * 1000) / HERTZ);
      node.flush('past', times, [values]);
      // The archive keeps up with what it has been sent.
      await vi.waitUntil(async () => (await rig.oasis.received()) >= first - 50 * BATCH, { timeout: 60_000 });
    }
    await vi.waitUntil(async () => (await rig.oasis.received()) >= samples, { timeout: 600_000 });
    await fetch(`${rig.oasis.url}/api/v1/archive/flush`, { method: 'POST' });
  },
  HOURS * 120_000 + 60_000,
);

afterAll(async () => {
  await node.stop();
  await rm(folder, { recursive: true, force: true });
});

it(`${HOURS} h of 1,000 samples a second, scrubbed`, { timeout: SECONDS * 4000 + 60_000 }, async () => {
  const visit = await rig.visit('#watch=plant/past');
  await visit.page.getByTestId('legend-value').first().waitFor();
  await visit.page.getByTestId('span').selectOption(HOURS > 24 ? '86400000' : '900000');
  const gauge = await Gauge.of(rig.browser, visit);
  const scrubbed = visit.page.evaluate(async (length) => {
    const slider = document.querySelector<HTMLInputElement>('[data-testid=slider]');
    if (!slider) throw new Error('no slider');
    const [min, max] = [Number(slider.min), Number(slider.max)];
    const began = performance.now();
    for (let now = began; now - began < length; now = await new Promise<number>(requestAnimationFrame)) {
      // To and fro, each in four seconds.
      const share = Math.abs((((now - began) / 4000) % 2) - 1);
      slider.value = String(min + (max - min) * share * 0.99);
      slider.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }
  }, SECONDS * 1000);
  const [frames] = await Promise.all([gauge.frames(SECONDS), scrubbed]);
  const waits: number[] = [];
  for (let jump = 0; jump < 20; jump++) waits.push(await drawnAfter(visit.page, (jump * 7) % 20));
  console.info(
    `${HOURS} h scrubbed: ${described(frames)}\n` +
      `  until drawn after a jump: ${waits.map((wait) => wait.toFixed(0)).join(' ')} ms`,
  );
  expect(visit.complaints.filter((text) => !text.includes('ABORTED'))).toEqual([]);
  await visit.close();
});

/** Jumps to a place, of 20, and returns the milliseconds until the chart shows it. */
function drawnAfter(page: Parameters<typeof Gauge.of>[1]['page'], place: number): Promise<number> {
  return page.evaluate(async (share) => {
    const slider = document.querySelector<HTMLInputElement>('[data-testid=slider]');
    if (!slider) throw new Error('no slider');
    const [min, max] = [Number(slider.min), Number(slider.max)];
    const began = performance.now();
    slider.value = String(min + (max - min) * share * 0.99);
    slider.dispatchEvent(new InputEvent('input', { bubbles: true }));
    const frame = () => new Promise(requestAnimationFrame);
    // Without a note everything is in the memory of the page.
    const stateOf = () => document.querySelector('[data-testid=past-note]')?.getAttribute('data-state');
    const isReady = () => (stateOf() ?? 'ready') === 'ready';
    // The state is that of the time before until the next answer.
    await frame();
    await frame();
    while (!isReady() && performance.now() - began < 10_000) await frame();
    return performance.now() - began;
  }, place / 20);
}
