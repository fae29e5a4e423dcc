import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const DIST = fileURLToPath(new URL('../../web/dist/', import.meta.url));
/** Compressed bytes of what the page loads at first, and of all its files but those of the map, of 3D and of images: few pages show them. */
const MAX_FIRST_BYTES = 300_000;
/** 450 kB, and 2 kB for images in the worker: their decoder, memory and past, which belong to no panel. */
const MAX_ALL_BYTES = 452_000;
/** The licenses of libraries are for people who ask for them. */
const IS_LOADED = /\.(?!md$)/;
const IS_LARGE = /\/(map|map_panel|pose_panel|image_panel)-/;

const rig = new Rig(() => Oasis.up('--probe', 'processor@20', '--probe', 'memory@20'));

function compressed(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(`${DIST}${file}`)).length, 0);
}

it('loads less than 300 kB at first, and has less than 452 kB with every panel but map, 3D and images', async () => {
  const visit = await rig.visit();
  const requested = new Set<string>();
  visit.page.on('request', (request) => requested.add(new URL(request.url()).pathname.slice(1)));
  await visit.page.reload();
  await visit.seesSamples('processor', 1);
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
    IS_LOADED.test(name),
  );
  const first = files.filter((name) => requested.has(name));
  const counted = files.filter((name) => !IS_LARGE.test(name));
  expect(counted.length).toBeLessThan(files.length);
  console.info(`${compressed(['index.html', ...first])} bytes at first, ${compressed(counted)} in all`);
  expect(first.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(1);
  expect(compressed(['index.html', ...first])).toBeLessThan(MAX_FIRST_BYTES);
  expect(files.some((name) => name.includes('_panel') && !requested.has(name))).toBe(true);
  expect(compressed(counted)).toBeLessThan(MAX_ALL_BYTES);
  await visit.close();
});

it('has an accessible name for every control', async () => {
  const visit = await rig.visit();
  await visit.seesSamples('processor', 1);
  const nameless = await visit.page.locator('button, input, select, a, [role=tab]').evaluateAll((elements) =>
    elements
      .filter((element) => {
        const field = element as HTMLInputElement;
        const label = field.labels?.[0]?.textContent ?? '';
        const named = element.getAttribute('aria-label') ?? element.getAttribute('aria-labelledby') ?? '';
        return `${named}${label}${element.textContent}`.trim() === '';
      })
      .map((element) => element.outerHTML),
  );
  expect(nameless).toEqual([]);
  // The first stops of the Tab key must be visible.
  for (let stop = 0; stop < 8; stop++) {
    await visit.page.keyboard.press('Tab');
    const box = await visit.page.evaluate(() => document.activeElement?.getBoundingClientRect().width ?? 0);
    expect(box).toBeGreaterThan(0);
  }
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
