import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';
import { DIALOGS_OF_BUTTONS, DIALOGS_OF_KEYS, lookAtDialog, showPanel } from './harness/walk.ts';

/** Walks through the page in German, and lists English texts. Names of this node are German, so that all others are the page's. */
const rig = new Rig(() => Oasis.dacWithoutRules('--archive', temporaryFolder()));
let visit: Visit;
let node: PlainNode;
let stop = () => {};

const KESSEL = { node: 'anlage', instance: 'kessel' };
const DRUCK = 'anlage/kessel.druck';
const SCHEMA = {
  name: 'Anlage::Kessel',
  uuid: '6e2d7c1c-8a6b-4a0e-9a5e-0f3d1f3a7b11',
  version: '1.0',
  metrics: [
    { name: 'druck', type: 'real64', unit: 'bar', min: 0, max: 10, warn: { above: 8 } },
    { name: 'zustand', type: 'uint8', kind: 'state' },
    { name: 'latitude', type: 'real64', unit: 'deg' },
    { name: 'longitude', type: 'real64', unit: 'deg' },
  ],
};

/** English words that no German text of the page has. */
const ENGLISH =
  /\b(the|of|and|is|are|this|with|from|no|to|which|has|have|since|samples?|missing|show|close|save|add|remove|search|nodes?|values?|time|received|now|by|its|none|first|new|choose|open|without|only|every|one|each|waiting|loading|reading)\b/i;
/** What is no text of the page: queries, names that the DAC gives, help. */
const OTHERS = '[lang=en], textarea, .sql-names, .sql-table, code, script, style, [data-testid=audit-log] td';
/** In their own language, whatever the page speaks, and what the node says of itself. */
const OWN = new Set(['English', 'OASIS', 'test · plain node']);

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, KESSEL.node, [
    { name: KESSEL.instance, schema: SCHEMA, hertz: 10 },
  ]);
  let tick = 0;
  const timer = setInterval(() => {
    const druck = 5 + 4 * Math.sin(tick / 20);
    const columns = [
      Float64Array.of(druck),
      Uint8Array.of(tick % 3),
      Float64Array.of(47),
      Float64Array.of(8),
    ];
    node.flush(KESSEL.instance, [Date.now()], columns);
    tick++;
  }, 100);
  stop = () => clearInterval(timer);
  visit = await rig.visit('/#watch=anlage/kessel');
  await visit.page.evaluate(() => localStorage.setItem('oasis.language', 'de'));
  await visit.page.reload();
  await visit.seesSamples(KESSEL.instance, 1);
});

afterAll(async () => {
  stop();
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await node.stop();
});

const LOADING = 'geladen\u2026';
const part = (testId: string) => visit.page.getByTestId(testId);

/** Texts, tips and labels that have English words. */
async function english(): Promise<string[]> {
  const texts = await visit.page.evaluate((others) => {
    const found: string[] = [];
    for (const element of document.querySelectorAll('*')) {
      if (element.closest(others)) continue;
      for (const name of ['title', 'aria-label', 'aria-description', 'placeholder'])
        found.push(element.getAttribute(name) ?? '');
      for (const child of element.childNodes)
        if (child.nodeType === Node.TEXT_NODE) found.push(child.textContent ?? '');
    }
    return [...new Set(found.map((text) => text.trim()))];
  }, OTHERS);
  return texts.filter((text) => !OWN.has(text) && ENGLISH.test(text));
}

const PANELS = [
  { kind: 'instance', target: KESSEL },
  { kind: 'series', mode: 'lines', sources: [{ target: KESSEL, metrics: ['druck'] }] },
  { kind: 'states', sources: [{ target: KESSEL, metrics: ['zustand'] }] },
  { kind: 'gauge', target: KESSEL, metric: 'druck' },
  { kind: 'histogram', target: KESSEL, metric: 'druck' },
  { kind: 'events', targets: [KESSEL] },
  { kind: 'xy', expressions: [DRUCK, DRUCK] },
  { kind: 'spectrum', expressions: [DRUCK], size: 256, window: 'hann' },
  { kind: 'statistics', expressions: [DRUCK] },
  { kind: 'number', expressions: [DRUCK] },
  { kind: 'text', text: '# Titel' },
  { kind: 'map', tracks: [{ target: KESSEL, latitude: 'latitude', longitude: 'longitude' }] },
  { kind: 'ledger' },
  { kind: 'alarms' },
  { kind: 'alarm-history' },
  { kind: 'rules' },
  { kind: 'test-runs' },
  { kind: 'logs', targets: [] },
  { kind: 'traces', targets: [KESSEL] },
  { kind: 'sql', query: 'SELECT node FROM instances' },
  { kind: 'fleet', nodes: '*', instances: '*' },
  { kind: 'fleet', nodes: '*', instances: '*', shape: 'tiles' },
].map((panel, index) => ({ id: `p${index + 1}`, ...panel }));

it('speaks German in the frame, the list and the panels of an instance', async () => {
  await expect.poll(() => visit.page.locator('html').getAttribute('lang')).toBe('de');
  expect(await english()).toEqual([]);
});

it.each(PANELS)('speaks German in the panel $kind', async (panel) => {
  await showPanel(visit.page, panel, LOADING);
  expect(await english()).toEqual([]);
});

/** Help is in English. */
const SPEAKING = DIALOGS_OF_KEYS.filter(([, dialog]) => dialog !== 'topic');

it.each(SPEAKING)('speaks German in the dialog of the key %s', async (key, dialog) => {
  await visit.page.keyboard.press(key);
  await lookAtDialog(visit.page, dialog, LOADING, async () => expect(await english()).toEqual([]));
});

it.each(DIALOGS_OF_BUTTONS)('speaks German in the dialog of the button %s', async (button, dialog) => {
  await part(button).click();
  await lookAtDialog(visit.page, dialog, LOADING, async () => expect(await english()).toEqual([]));
});

it('says in German that it does not know the node of a link', async () => {
  await visit.page.goto(`${rig.oasis.url}/?node=anlagen`);
  await expect.poll(() => part('unknown').textContent()).toContain('keinen Knoten anlagen');
  expect(await english()).toEqual([]);
});
