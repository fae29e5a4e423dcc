import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const DIST = fileURLToPath(new URL('../../web/dist/', import.meta.url));
/** Compressed bytes of what the page loads at first, and of all its files but those of other languages. */
const MAX_FIRST_BYTES = 265_000;
const MAX_ALL_BYTES = 445_000;
/** Of a language: only those who choose it load it, and nobody loads two. */
const LANGUAGE = 30_000;
/** The licenses of libraries are for people who ask for them. */
const IS_LOADED = /\.(?!md$)/;
const IS_GERMAN = /^assets\/de(_parts)?-/;

const rig = new Rig(() => Oasis.up('--probe', 'processor@20', '--probe', 'memory@20'));

function compressed(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(`${DIST}${file}`)).length, 0);
}

it('loads less than 265 kB at first, and has less than 445 kB with the panels that are loaded when used', async () => {
  const visit = await rig.visit();
  const requested = new Set<string>();
  visit.page.on('request', (request) => requested.add(new URL(request.url()).pathname.slice(1)));
  await visit.page.reload();
  await visit.seesSamples('processor', 1);
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
    IS_LOADED.test(name),
  );
  const first = files.filter((name) => requested.has(name));
  console.info(`${compressed(['index.html', ...first])} bytes at first, ${compressed(files)} in all`);
  expect(first.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(1);
  expect(compressed(['index.html', ...first])).toBeLessThan(MAX_FIRST_BYTES);
  expect(files.some((name) => name.includes('_panel') && !requested.has(name))).toBe(true);
  const german = files.filter((name) => IS_GERMAN.test(name));
  console.info(`${compressed(german)} bytes of German`);
  expect(german).toHaveLength(2);
  expect(german.some((name) => requested.has(name))).toBe(false);
  expect(compressed(german)).toBeLessThan(LANGUAGE);
  expect(compressed(files.filter((name) => !IS_GERMAN.test(name)))).toBeLessThan(MAX_ALL_BYTES);
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
