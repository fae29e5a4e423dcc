import { expect, it } from 'vitest';
import { Oasis } from '../harness/oasis.ts';
import { PlainNode } from '../harness/plain_node.ts';
import { Rig } from '../harness/rig.ts';
import { flood, flooded } from './flood.ts';
import { Gauge } from './gauge.ts';
import { chartsOf } from './layouts.ts';
import { type Usage, WorkerHeap } from './worker_heap.ts';

/** Checks that memory stays flat while a page is open. `BENCH_MINUTES` is the duration. */
const MINUTES = Number(process.env.BENCH_MINUTES ?? 10);
const EVERY_MS = 30_000;
/** Time until rings have their size and JavaScript is compiled. */
const WARM_MS = 120_000;
const HERTZ = 10_000;
const ALLOWED = 1.05;
const READINGS = 10;

const rig = new Rig(() => Oasis.dac());

interface Row {
  readonly second: number;
  readonly page: number;
  readonly worker: Usage;
  readonly resident: number;
}

it(
  `keeps its heap flat over ${MINUTES} minutes at 10,000 samples/s`,
  async () => {
    const node = await PlainNode.start(rig.oasis.channel, 'heap', [flooded('flood')]);
    const stop = flood(node, 'flood', HERTZ, 100);
    const visit = await rig.visit(`#view=${chartsOf('heap', ['flood'])}`);
    await expect.poll(() => visit.page.getByTestId('chart').count(), { timeout: 20_000 }).toBe(1);
    const gauge = await Gauge.of(rig.browser, visit);
    const worker = await WorkerHeap.of(visit);
    await pause(WARM_MS);
    const began = Date.now();
    const rows: Row[] = [];
    for (let turn = 0; turn * EVERY_MS <= MINUTES * 60_000; turn++) {
      await pause(began + turn * EVERY_MS - Date.now());
      const row = await measure(Math.round((Date.now() - began) / 1000), gauge, worker);
      rows.push(row);
      console.info(line(row));
    }
    await visit.page.keyboard.press('b');
    const ledger = visit.page.getByTestId('ledger-row');
    await ledger.waitFor();
    console.info((await ledger.innerText()).replaceAll(/\s+/g, ' '));
    stop();
    await visit.close();
    await node.stop();
    const series = {
      // The sum of both: the worker's heap is so small that compiled code shows in it.
      'page and worker': rows.map(({ page, worker }) => page + worker.used),
      "the worker's arrays": rows.map((row) => row.worker.arrays),
    };
    for (const [name, values] of Object.entries(series)) {
      console.info(`${name}: last / first ${(values[values.length - 1] / values[0]).toFixed(3)}`);
    }
    for (const [name, values] of Object.entries(series))
      expect(values[values.length - 1] / values[0], name).toBeLessThan(ALLOWED);
  },
  WARM_MS + (MINUTES + 2) * 60_000,
);

/** Returns the minimum of several readings, without data that is on its way to the screen. */
async function measure(second: number, gauge: Gauge, worker: WorkerHeap): Promise<Row> {
  const pages: number[] = [];
  const workers: Usage[] = [];
  for (let reading = 0; reading < READINGS; reading++) {
    pages.push(await gauge.heap());
    workers.push(await worker.usage());
  }
  return {
    second,
    page: Math.min(...pages),
    worker: {
      used: Math.min(...workers.map(({ used }) => used)),
      arrays: Math.min(...workers.map(({ arrays }) => arrays)),
    },
    resident: gauge.resident(),
  };
}

function line({ second, page, worker, resident }: Row): string {
  const mib = (value: number) => value.toFixed(2);
  return `${second} s: page ${mib(page)}, worker ${mib(worker.used)}, its arrays ${mib(worker.arrays)}, renderer ${resident.toFixed(0)} MiB`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
