import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';
import { DIALOGS_OF_BUTTONS, DIALOGS_OF_KEYS, lookAtDialog, showPanel } from './harness/walk.ts';

/** Every dialog, panel and list by the rules of axe-core (WCAG 2.2 A and AA, and good practice), dark and light. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules whose result differs between two themes of the same document. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

const rig = new Rig(() => Oasis.up('--name', 'plant', '--archive', temporaryFolder()));
let visit: Visit;

function part(testId: string): Locator {
  return visit.page.getByTestId(testId);
}

const LOADING = 'Loading\u2026';

/** A page for all tests: loading it takes longer than looking at it. */
beforeAll(async () => {
  // Without motion the colors of a theme are there at once.
  visit = await rig.visit('', { colorScheme: 'dark', reducedMotion: 'reduce' });
  await visit.seesSamples('processor', 1);
  // The policy of the page allows no script from elsewhere; the browser's protocol is not the page.
  await visit.page.evaluate(AXE);
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

/** What axe-core finds wrong with the screen, each with its element and the remedy. */
async function violations(rules: readonly string[]): Promise<string[]> {
  const { violations: found } = await visit.page.evaluate(
    (rules) =>
      (window as unknown as { axe: { run: (options: object) => Promise<AxeResults> } }).axe.run({
        runOnly: rules,
      }),
    rules,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, any }) => `${id}: ${target.join(' ')}: ${any.map(({ message }) => message).join('; ')}`,
    ),
  );
}

/** Shows the theme that the page takes from the system. */
async function shows(theme: 'dark' | 'light'): Promise<void> {
  await visit.page.emulateMedia({ colorScheme: theme });
  await expect.poll(() => visit.page.locator('html').getAttribute('data-theme')).toBe(theme);
}

async function hasNoViolation(lightRules = COLOR_RULES): Promise<void> {
  await shows('light');
  expect(await violations(lightRules), 'in light colors').toEqual([]);
  await shows('dark');
  expect(await violations(ALL_RULES), 'in dark colors').toEqual([]);
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
  { kind: 'pose', poses: [{ position: [FREE, FREE, FREE] }] },
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
  { kind: 'repeat', panel: { kind: 'gauge', target: MEMORY, metric: 'physical_memory_avail' } },
].map((panel, index) => ({ id: `p${index + 1}`, ...panel }));

/** What panels show once they have data, where the page says no more that it loads. */
const FILLED: Record<string, string> = {
  fleet: '[role=option]',
  heat: 'canvas',
  ledger: 'table',
  repeat: 'svg',
};

it('has no violation on the page with its list, tree and hint', async () => {
  await hasNoViolation(ALL_RULES);
});

it.each(PANELS)('has no violation in the panel $kind', async (panel) => {
  await showPanel(visit.page, panel, LOADING);
  const filled = FILLED[panel.kind];
  if (filled) await visit.page.locator('.panel-host').locator(filled).first().waitFor();
  await hasNoViolation();
});

it.each(DIALOGS_OF_KEYS)('has no violation in the dialog of the key %s', async (key, dialog) => {
  await visit.page.keyboard.press(key);
  await lookAtDialog(visit.page, dialog, LOADING, hasNoViolation);
});

it.each(DIALOGS_OF_BUTTONS)('has no violation in the dialog of the button %s', async (button, dialog) => {
  await part(button).click();
  await lookAtDialog(visit.page, dialog, LOADING, hasNoViolation);
});

it('has no violation on a telephone, with the list open', async () => {
  await visit.page.setViewportSize({ width: 390, height: 844 });
  await part('tree-toggle').click();
  expect(await violations(ALL_RULES)).toEqual([]);
});
