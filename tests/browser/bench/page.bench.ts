import { expect, it } from 'vitest';
import type { Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { PlainNode } from '../harness/plain_node.ts';
import { Rig } from '../harness/rig.ts';
import { flood, flooded } from './flood.ts';
import { described, Gauge } from './gauge.ts';
import { LabNode } from './lab_node.ts';
import { chartsOf, spectrumOf } from './layouts.ts';

/** Benchmark of the page (docs/evidence/performance-measured.md, "The page"). `BENCH_SECONDS` is the length of each run. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
/** Time for a page to settle: compiled JavaScript, rings at their size. */
const WARM_SECONDS = 5;

const rig = new Rig(() => Oasis.dac());

interface Run {
  readonly name: string;
  readonly instances: readonly string[];
  readonly hertz: number;
  readonly batches: number;
}

const runs: Run[] = [
  { name: 'nothing to draw', instances: [], hertz: 0, batches: 0 },
  { name: 'four charts, 1,000 samples/s each', instances: ['a', 'b', 'c', 'd'], hertz: 1000, batches: 100 },
  {
    name: '32 charts, 1,000 samples/s each',
    instances: Array.from({ length: 32 }, (_, index) => `c${index}`),
    hertz: 1000,
    batches: 50,
  },
];

for (const { name, instances, hertz, batches } of runs) {
  it(name, async () => {
    const label = `bench ${instances.length}`;
    const node =
      instances.length > 0
        ? await PlainNode.start(rig.oasis.channel, label, instances.map(flooded))
        : undefined;
    const stops = node ? instances.map((instance) => flood(node, instance, hertz, batches)) : [];
    const visit = await rig.visit(`#view=${chartsOf(label, instances)}`);
    await expect.poll(() => visit.page.getByTestId('chart').count()).toBe(instances.length);
    await measure(name, visit, `bench-${hertz}`);
    for (const stop of stops) stop();
    await visit.close();
    await node?.stop();
  });
}

for (const million of [1, 3]) {
  it(`one chart, ${million},000,000 samples/s of the processor probe from a real node`, async ({
    task,
    onTestFinished,
  }) => {
    const node = await LabNode.start(rig.oasis.channel);
    onTestFinished(() => node.stop());
    const known = async () =>
      (await (await fetch(`${rig.oasis.url}/api/v1/instances?node=${LabNode.NAME}`)).json()).instances;
    await expect.poll(known, { timeout: 20_000 }).toHaveLength(1);
    node.publish(million * 1_000_000, WARM_SECONDS + SECONDS + 60);
    const visit = await rig.visit(`#view=${chartsOf(LabNode.NAME, [LabNode.INSTANCE], LabNode.METRICS)}`);
    await visit.page.getByTestId('chart').waitFor();
    await measure(task.name, visit, `bench-real-node-${million}`);
    await visit.close();
  });
}

it('spectra of 65,536 samples, ten times a second', async () => {
  const node = await PlainNode.start(rig.oasis.channel, 'bench fft', [flooded('a')]);
  const stop = flood(node, 'a', 50_000, 50);
  const visit = await rig.visit(`#view=${spectrumOf('bench fft', 'a')}`);
  await expect.poll(() => visit.page.getByTestId('spectrum').textContent()).toMatch(/65.536 samples/);
  const gauge = await Gauge.of(rig.browser, visit);
  await gauge.frames(WARM_SECONDS);
  const [frames, drawn] = await Promise.all([gauge.frames(SECONDS), drawings(visit, SECONDS)]);
  console.info(`spectra of 65,536 samples: ${drawn.toFixed(1)} a second, ${described(frames)}`);
  stop();
  await visit.close();
  await node.stop();
});

it('first paint', async () => {
  const times: number[] = [];
  for (let turn = 0; turn < 10; turn++) {
    const visit = await rig.visit();
    const paint = () =>
      visit.page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0);
    await expect.poll(paint).toBeGreaterThan(0);
    times.push(await paint());
    await visit.close();
  }
  console.info(`first paint after ${times.map((time) => time.toFixed(0)).join(' ')} ms`);
});

/** Returns how often a second a canvas of the page changes. */
function drawings(visit: Visit, seconds: number): Promise<number> {
  return visit.page.evaluate(async (length) => {
    const canvas = document.querySelector<HTMLCanvasElement>('[data-testid=spectrum] canvas');
    const context = canvas?.getContext('2d');
    if (!context) throw new Error('no spectrum');
    let count = 0;
    // Each drawing begins with an empty canvas.
    const clear = context.clearRect.bind(context);
    context.clearRect = (...place) => {
      count++;
      clear(...place);
    };
    await new Promise((resolve) => setTimeout(resolve, length));
    return (1000 * count) / length;
  }, seconds * 1000);
}

async function measure(name: string, visit: Visit, picture: string): Promise<void> {
  const gauge = await Gauge.of(rig.browser, visit);
  await gauge.frames(WARM_SECONDS);
  const [heap, resident] = [await gauge.heap(), gauge.resident()];
  const frames = await gauge.frames(SECONDS);
  const [heapAfter, residentAfter] = [await gauge.heap(), gauge.resident()];
  await visit.screenshot(picture);
  await visit.page.keyboard.press('b');
  await visit.page.getByTestId('ledger').waitFor();
  const rows = await visit.page.getByTestId('ledger-row').allInnerTexts();
  console.info(
    [
      name,
      described(frames),
      `heap ${heap.toFixed(1)} -> ${heapAfter.toFixed(1)} MiB, renderer ${resident.toFixed(0)} -> ${residentAfter.toFixed(0)} MiB`,
      ...rows.map((row) => row.replaceAll(/\s+/g, ' ')),
    ].join('\n  '),
  );
  // Received, missing, cause.
  expect(rows.filter((row) => !/\t0\t\u2013\t/.test(row))).toEqual([]);
}

it('500 instances on 50 nodes', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `load/${index}`);
  const instances = names.map(flooded);
  const nodes = await Promise.all(
    Array.from({ length: 50 }, (_, index) => PlainNode.start(rig.oasis.channel, `crowd-${index}`, instances)),
  );
  const visit = await rig.visit();
  await visit.page.getByTestId('instance').first().waitFor();
  const took = await visit.page.evaluate(async () => {
    const list = document.querySelector<HTMLElement>('[data-testid=nodes]');
    const field = document.querySelector<HTMLInputElement>('[data-testid=filter]');
    if (!list || !field) throw new Error('no list');
    const frame = () => new Promise(requestAnimationFrame);
    const times: Record<string, number[]> = { type: [], scroll: [], watch: [] };
    const timed = async (kind: string, act: () => void) => {
      const began = performance.now();
      act();
      // The second frame starts when the first is on the screen.
      await frame();
      await frame();
      times[kind].push(performance.now() - began);
    };
    for (const text of ['c', 'cr', 'crowd-4', 'crowd-42', 'crowd-42 load/7', '']) {
      await timed('type', () => {
        field.value = text;
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      });
    }
    for (let step = 0; step < 10; step++) await timed('scroll', () => list.scrollBy(0, 2000));
    for (let turn = 0; turn < 6; turn++) {
      await timed('watch', () =>
        document.querySelectorAll<HTMLElement>('[data-testid=instance]')[turn].click(),
      );
    }
    return times;
  });
  for (const [kind, times] of Object.entries(took)) {
    console.info(
      `500 instances, ${kind}: ${times.map((time) => time.toFixed(0)).join(' ')} ms until on the screen`,
    );
  }
  await visit.close();
  await Promise.all(nodes.map((node) => node.stop()));
});
