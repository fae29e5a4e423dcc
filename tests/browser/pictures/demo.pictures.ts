import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { grid, layoutLink } from './plant.ts';

/** The plant of `oasis demo` as an animation: its pump gets hot, and its robot loses samples. */

const IMAGE = fileURLToPath(new URL('../../../docs/images/demo.webp', import.meta.url));
const SIZE = { width: 1120, height: 640 };
/** The pump gets hot once a minute: there is a past to see, and the alarm rises before the end. */
const PAST_MS = 75_000;
const FRAMES = 32;
const FRAME_MS = 500;
/** Shown faster than it was: the animation is short, and its charts move visibly. */
const SHOWN_MS = 250;
const MOST_BYTES = 1_500_000;

const series = (id: string, title: string, node: string, instance: string, metrics: readonly string[]) => ({
  id,
  kind: 'series',
  mode: 'lines',
  title,
  sources: [{ target: { node, instance }, metrics }],
});
const panels = [
  series('a', 'Pump 2: bearing', 'pump-2', 'pump', ['temperature']),
  series('b', 'Robot 3: arm', 'robot-3', 'arm', ['position', 'target']),
  series('c', 'Boiler 1', 'boiler-1', 'boiler', ['pressure']),
  { id: 'd', kind: 'alarms' },
];
const [pump, arm, boiler, alarms] = panels;

let demo: Oasis;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oasis-'));
  demo = await Oasis.demo();
});

afterAll(async () => {
  await demo.stop();
  await rm(folder, { recursive: true });
});

/** Time is what an animation shows. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('demo', async () => {
  await pause(PAST_MS);
  const browser = await launch();
  const link = layoutLink(
    demo.url,
    panels,
    grid([
      [pump, boiler],
      [arm, alarms],
    ]),
  );
  const visit = await Visit.to(browser, link, { viewport: SIZE, colorScheme: 'dark' });
  await visit.page.getByRole('button', { name: 'No more hints' }).click();
  // All charts have their past, and are live.
  await visit.page.waitForFunction(
    () => (document.body.innerText.match(/Age [01]\.\d s/g) ?? []).length >= 3,
  );
  const files: string[] = [];
  for (let frame = 0; frame < FRAMES; frame++) {
    const next = pause(FRAME_MS);
    const file = join(folder, `${String(frame).padStart(3, '0')}.png`);
    await writeFile(file, await visit.page.screenshot({ type: 'png' }));
    files.push(file);
    await next;
  }
  await browser.close();
  const options = ['-loop', '0', '-lossy', '-q', '60', '-m', '4', '-d', String(SHOWN_MS)];
  await promisify(execFile)('img2webp', [...options, ...files, '-o', IMAGE]);
  const { size } = await stat(IMAGE);
  expect(size).toBeLessThan(MOST_BYTES);
}, 900_000);
