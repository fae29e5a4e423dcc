import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';
import { DIALOGS_OF_BUTTONS, DIALOGS_OF_KEYS, lookAtDialog, showPanel } from './harness/walk.ts';

/** Every dialog, panel and list by the rules of axe-core (WCAG 2.2 A and AA, and good practice), dark and light. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const rig = new Rig(() =>
  Oasis.up('--name', 'plant', '--archive', mkdtempSync(join(tmpdir(), 'oasis-axe-'))),
);
let visit: Visit;

function part(testId: string): Locator {
  return visit.page.getByTestId(testId);
}

const LOADING = 'Loading\u2026';
const THEMES = ['dark', 'light'] as const;

/** A page for all tests of a group: loading it takes longer than looking at it. */
beforeAll(async () => {
  visit = await rig.visit();
  await visit.seesSamples('processor', 1);
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

/** What axe-core finds wrong with the screen, each with its element and the remedy. */
async function violations(): Promise<string[]> {
  // The policy of the page allows no script from elsewhere; the browser's protocol is not the page.
  await visit.page.evaluate(AXE);
  const { violations: found } = await visit.page.evaluate(
    (tags) =>
      (window as unknown as { axe: { run: (options: object) => Promise<AxeResults> } }).axe.run({
        runOnly: tags,
      }),
    TAGS,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, any }) => `${id}: ${target.join(' ')}: ${any.map(({ message }) => message).join('; ')}`,
    ),
  );
}

async function shows(theme: (typeof THEMES)[number]): Promise<void> {
  const root = visit.page.locator('html');
  if ((await root.getAttribute('data-theme')) !== theme) await part('toggle-theme').click();
  await expect.poll(() => root.getAttribute('data-theme')).toBe(theme);
}

const source = (metrics: readonly string[]) => ({ target: MEMORY, metrics });
const MEMORY = { node: 'plant', instance: 'memory' };
const PROCESSOR = { node: 'plant', instance: 'processor' };
const FREE = 'plant/memory.physical_memory_avail';

/** One panel of each kind. */
const PANELS = [
  { kind: 'instance', target: PROCESSOR },
  { kind: 'series', mode: 'lines', sources: [source(['physical_memory_avail', 'buffers'])] },
  { kind: 'states', sources: [source(['buffers'])] },
  { kind: 'gauge', target: MEMORY, metric: 'physical_memory_avail' },
  { kind: 'histogram', target: MEMORY, metric: 'physical_memory_avail' },
  { kind: 'events', targets: [MEMORY] },
  { kind: 'xy', expressions: [FREE, FREE] },
  { kind: 'spectrum', expressions: [FREE], size: 256, window: 'hann' },
  { kind: 'statistics', expressions: [FREE] },
  { kind: 'number', expressions: [FREE] },
  { kind: 'text', text: '# Title\n\nSome *text* and a [link](https://example.org).\n\n- one\n- two' },
  { kind: 'ledger' },
  { kind: 'alarms' },
  { kind: 'alarm-history' },
  { kind: 'rules' },
  { kind: 'test-runs' },
  { kind: 'logs', targets: [] },
  { kind: 'sql', query: 'SELECT node FROM instances' },
  { kind: 'heat', target: PROCESSOR, metric: 'cores[]' },
  { kind: 'fleet', nodes: '*', instances: '*', metrics: [] },
  { kind: 'fleet', nodes: '*', instances: '*', shape: 'tiles' },
].map((panel, index) => ({ id: `p${index + 1}`, ...panel }));

/** What panels show once they have data, where the page says no more that it loads. */
const FILLED: Record<string, string> = { fleet: '[role=option]', heat: 'canvas', ledger: 'table' };

describe.each(THEMES)('in %s colors', (theme) => {
  it('the page with its list, tree and hint has no violation', async () => {
    await shows(theme);
    expect(await violations()).toEqual([]);
  });

  it.each(PANELS)('the panel $kind has no violation', async (panel) => {
    await shows(theme);
    await showPanel(visit.page, panel, LOADING);
    const filled = FILLED[panel.kind];
    if (filled) await visit.page.locator('.panel-host').locator(filled).first().waitFor();
    expect(await violations()).toEqual([]);
  });

  it.each(DIALOGS_OF_KEYS)('the dialog of the key %s has no violation', async (key, dialog) => {
    await shows(theme);
    await visit.page.keyboard.press(key);
    await lookAtDialog(visit.page, dialog, LOADING, async () => expect(await violations()).toEqual([]));
  });

  it.each(DIALOGS_OF_BUTTONS)('the dialog of the button %s has no violation', async (button, dialog) => {
    await shows(theme);
    await part(button).click();
    await lookAtDialog(visit.page, dialog, LOADING, async () => expect(await violations()).toEqual([]));
  });
});

it('has no violation on a telephone, with the list open', async () => {
  await visit.page.setViewportSize({ width: 390, height: 844 });
  await part('tree-toggle').click();
  expect(await violations()).toEqual([]);
});
