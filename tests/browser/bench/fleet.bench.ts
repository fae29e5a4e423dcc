import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { Rig } from '../harness/rig.ts';
import { SimulatedFleet } from '../harness/simulated_fleet.ts';
import { described, Gauge } from './gauge.ts';

/**
 * Benchmark of the fleet panel (docs/evidence/performance-measured.md, "The page"): 10,000 instances at 1 Hz. The time from a click until the list
 * is drawn, frames per second while it scrolls, and the load of the page's thread.
 */
const NODES = Number(process.env.BENCH_NODES ?? 100);
const EACH = Number(process.env.BENCH_EACH ?? 100);
const OPENINGS = Number(process.env.BENCH_OPENINGS ?? 5);
const SECONDS = 10;

const folder = mkdtempSync(join(tmpdir(), 'oasis-bench-fleet-'));
const config = join(folder, 'oasis.toml');
writeFileSync(
  config,
  `[channel]\nmax_connections = ${NODES + 100}\nmax_connections_per_address = ${NODES + 100}\n`,
);
const rig = new Rig(() => Oasis.dac({}, '--config', config));
let fleet: SimulatedFleet;

beforeAll(async () => {
  const names = Array.from({ length: NODES }, (_, index) => `node-${String(index).padStart(4, '0')}`);
  fleet = await SimulatedFleet.start(rig.oasis.channel, names, EACH);
  fleet.run();
}, 120_000);

afterAll(async () => {
  await fleet.stop();
  rmSync(folder, { recursive: true });
}, 60_000);

it(`${NODES * EACH} instances at 1 Hz`, async () => {
  const openings: number[] = [];
  for (let number = 0; number < OPENINGS; number++) {
    const visit = await Visit.to(rig.browser, rig.oasis.url);
    await visit.page.getByTestId('open-fleet').waitFor();
    openings.push(await opened(visit));
    await visit.close();
  }
  openings.sort((one, other) => one - other);
  console.info(
    `opened after ${openings[openings.length >> 1].toFixed(0)} ms (${openings[0].toFixed(0)} to ${openings[openings.length - 1].toFixed(0)})`,
  );
  const visit = await Visit.to(rig.browser, rig.oasis.url, { viewport: { width: 1920, height: 1080 } });
  await visit.page.getByTestId('open-fleet').waitFor();
  await opened(visit);
  for (const shape of ['nodes', 'instances', 'tiles']) {
    await visit.page.getByTestId(`fleet-${shape}`).click();
    await visit.page
      .getByTestId(shape === 'tiles' ? 'fleet-tile' : 'fleet-row')
      .first()
      .waitFor();
    const gauge = await Gauge.of(rig.browser, visit);
    const before = fleetSeconds();
    const still = await gauge.frames(SECONDS);
    const share = (fleetSeconds() - before) / SECONDS;
    const scrolling = scroll(visit);
    const moving = await gauge.frames(SECONDS);
    await scrolling;
    console.info(
      `${shape}: still ${described(still)}, DAC's thread of fleets ${(100 * share).toFixed(1)} % of a core\n` +
        `  scrolling ${described(moving)}`,
    );
    await visit.screenshot(`bench-fleet-${shape}`);
  }
  expect(openings).toHaveLength(OPENINGS);
  await visit.close();
});

/** Processor time of the DAC's thread that computes fleets, in seconds. */
function fleetSeconds(): number {
  const tasks = `/proc/${rig.oasis.pid}/task`;
  for (const task of readdirSync(tasks)) {
    if (readFileSync(`${tasks}/${task}/comm`, 'utf8').trim() !== 'oasis-fleets') continue;
    const fields = readFileSync(`${tasks}/${task}/stat`, 'utf8').split(') ')[1].split(' ');
    // proc_pid_stat(5): user and system time, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }
  return 0;
}

/** Milliseconds from the click until rows are on the screen. */
function opened(visit: Visit): Promise<number> {
  return visit.page.evaluate(async () => {
    const button = document.querySelector<HTMLElement>('[data-testid=open-fleet]');
    const began = performance.now();
    button?.click();
    while (!document.querySelector('[data-testid=fleet-row]')) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - began;
  });
}

/** Scrolls through the list, and back. */
function scroll(visit: Visit): Promise<void> {
  return visit.page.evaluate(async (length) => {
    const list = document.querySelector('[data-testid=fleet-list]');
    const began = performance.now();
    let direction = 1;
    while (list && performance.now() - began < length) {
      list.scrollTop += direction * 40;
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) direction = -1;
      if (list.scrollTop === 0) direction = 1;
      await new Promise(requestAnimationFrame);
    }
  }, SECONDS * 1000);
}
