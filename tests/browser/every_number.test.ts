import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode, vectors } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

/** Panels besides the time chart show values at the ends of their range as they are. */

const { MAX_VALUE, MIN_VALUE, POSITIVE_INFINITY, NEGATIVE_INFINITY } = Number;
const COUNT = 280;
const PERIOD_MS = 200;

const wave = (index: number) => 2 + Math.sin(index / 5);

/** Values of each instance; the last ones are ordinary, so that the newest one is. */
const VALUES: Readonly<Record<string, (index: number) => number>> = {
  infinite: (index) =>
    index === 60
      ? POSITIVE_INFINITY
      : index === 61
        ? NEGATIVE_INFINITY
        : index === 120
          ? Number.NaN
          : wave(index),
  all_inf: () => POSITIVE_INFINITY,
  denormal: (index) => (1 + (index % 3)) * MIN_VALUE,
  tiny: (index) => [6.1e-101, 1.1e-97][index % 2],
  max_min: (index) => [MAX_VALUE, -MAX_VALUE][index % 2],
  offset: (index) => 1e15 + (index % 3),
  zeros: (index) => [-0, 0][index % 2],
};

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit | undefined;
let start: number;

beforeAll(async () => {
  node = await PlainNode.start(
    rig.oasis.channel,
    'ends',
    Object.keys(VALUES).map((name) => ({
      name,
      schema: {
        name: `Ends::${name}`,
        uuid: randomUUID(),
        version: '1.0',
        metrics: [
          { name: 'v', type: 'real64' },
          { name: 'cells', type: { vector: 'real64' } },
        ],
      },
      hertz: 5,
      kind: 'periodic' as const,
    })),
  );
  start = Date.now() - (COUNT + 4) * PERIOD_MS;
  const rows = Array.from({ length: COUNT }, (_, index) => index);
  for (const [name, value] of Object.entries(VALUES))
    node.flush(
      name,
      rows.map((index) => start + index * PERIOD_MS),
      [
        Float64Array.from(rows, value),
        vectors(rows.map((row) => [0, 1, 2].map((cell) => value(row + cell)))),
      ],
    );
});

afterEach(async () => {
  expect(visit?.complaints ?? []).toEqual([]);
  await visit?.close();
  visit = undefined;
});

afterAll(() => node.stop());

async function open(name: string, panels: readonly object[], options = {}): Promise<Visit> {
  const leaf = (id: string) => ({ type: 'leaf', size: 300, data: { id, views: [id] } });
  const rows = [0, 1, 2].map((row) =>
    panels.slice(row * 4, row * 4 + 4).map((panel) => leaf((panel as { id: string }).id)),
  );
  const root = {
    type: 'branch',
    size: 1200,
    data: rows.filter((row) => row.length > 0).map((data) => ({ type: 'branch', size: 400, data })),
  };
  const geometry = { grid: { root, width: 1800, height: 1200, orientation: 'VERTICAL' }, panels: {} };
  const answer = await fetch(`${rig.oasis.url}/api/v1/layouts/${name}`, {
    method: 'PUT',
    body: JSON.stringify({
      oasis: 'layout',
      version: 1,
      panels,
      geometry,
      range: { live: true, span: 300_000 },
    }),
  });
  expect(answer.status).toBe(204);
  visit = await rig.visit(`/d/${name}`, { viewport: { width: 1800, height: 1200 }, ...options });
  return visit;
}

/** What panels have to show: the name of a part, and its text with plain spaces and signs. */
type ExpectedTexts = readonly (readonly [testId: string, text: RegExp])[];

const EXPECTED_TEXTS: Readonly<Record<string, ExpectedTexts>> = {
  infinite: [
    ['xy-infinite', /^3 infinite values, at the edge$/],
    ['xy-readout', /: 1\.32, 1\.48$/],
    ['spectrum-note', /2 infinite values/],
    ['heat-infinite', /^infinite: \d+$/],
    ['heat-scale', /^03\.24$/],
    ['number', /Min -\u221eMax \u221e/],
    ['statistics', /-\u221e.*\u221e.*infinite\.v: 2 infinite values/],
    ['histogram', /Samples277.*-\u221e1\u221e1/],
    ['fleet-metric-0', /^1\.32$/],
  ],
  all_inf: [
    ['xy-readout', /: \u221e, \u221e$/],
    ['xy-infinite', /^280 /],
    ['heat-infinite', /^infinite: \d+$/],
    ['gauge', /^v\u221ev/],
    ['number', /^\u221e/],
    ['statistics', /280 infinite values/],
    ['histogram', /Samples0.*\u221e280/],
    ['fleet-metric-0', /^\u221e$/],
    ['value', /^\u221e$/],
  ],
  denormal: [
    ['xy-readout', /: 4\.941e-324, 9\.881e-324$/],
    ['spectrum-note', /^Highest: 4\.941e-324/],
    ['heat-scale', /^01\.482e-323$/],
    ['gauge', /4\.941e-324/],
    ['number', /Min 4\.941e-324Max 1\.482e-323/],
    ['statistics', /4\.941e-324.*1\.482e-323/],
    ['histogram', /4\.941e-324.*1\.482e-323/],
    ['fleet-metric-0', /^4\.941e-324$/],
    ['value', /e-324$/],
  ],
  tiny: [
    ['xy-readout', /: 1\.1e-97, 6\.1e-101$/],
    ['heat-readout', /least 6\.1e-101 .*greatest 1\.1e-97/],
    ['gauge', /1\.1e-97/],
    ['number', /Min 6\.1e-101Max 1\.1e-97/],
    ['statistics', /6\.1e-101.*1\.1e-97/],
    ['histogram', /6\.1e-101.*1\.1e-97/],
    ['fleet-metric-0', /^1\.1e-97$/],
  ],
  max_min: [
    ['xy-readout', /: -1\.798e308, 1\.798e308$/],
    ['spectrum-note', /^Highest: 1\.798e308/],
    ['heat-scale', /^-1\.798e3081\.798e308$/],
    ['gauge', /-1\.798e308.*1\.798e308/],
    ['number', /Min -1\.798e308Max 1\.798e308/],
    ['statistics', /\/s01\.798e308-1\.798e308/],
    ['histogram', /-1\.798e308.*Mean0/],
    ['fleet-metric-0', /^-1\.798e308$/],
  ],
  offset: [
    ['xy-readout', /: 1 000 000 000 000 000\.0, 1 000 000 000 000 001\.0$/],
    ['heat-readout', /greatest 1 000 000 000 000 002/],
    ['gauge', /1 000 000 000 000 000/],
    ['number', /^1 000 000 000 000 000/],
    ['statistics', /1 000 000 000 000 000.*1 000 000 000 000 002/],
    ['histogram', /1 000 000 000 000 000.*1 000 000 000 000 002/],
    ['legend-value', /^1 000 000 000 000 000$/],
    ['fleet-metric-0', /^1 000 000 000 000 000$/],
  ],
  zeros: [
    ['xy-readout', /: 0, 0$/],
    ['spectrum-note', /All samples are 0/],
    ['number', /^0.*Min 0Max 0/],
    ['statistics', /\/s00000000/],
    ['value', /^0\.00000$/],
  ],
};

it.each(Object.entries(EXPECTED_TEXTS))('every panel shows %s as it is', async (instance, shown) => {
  const target = { node: 'ends', instance };
  const v = `ends/${instance}.v`;
  const { page } = await open(instance, [
    { id: 'p1', kind: 'xy', expressions: [v, `ends/${instance}.cells[1]`] },
    { id: 'p2', kind: 'spectrum', expressions: [v], size: 256 },
    { id: 'p3', kind: 'heat', target, metric: 'cells[]' },
    { id: 'p4', kind: 'gauge', target, metric: 'v' },
    { id: 'p5', kind: 'number', expressions: [v] },
    { id: 'p6', kind: 'statistics', expressions: [v] },
    { id: 'p7', kind: 'histogram', target, metric: 'v' },
    { id: 'p8', kind: 'instance', target },
    { id: 'p9', kind: 'fleet', nodes: '*', shape: 'instances', instances: instance, metrics: ['v'] },
    { id: 'p10', kind: 'spectrum', expressions: [v], size: 256, isOverTime: true },
    { id: 'p11', kind: 'series', mode: 'lines', sources: [{ target, metrics: ['v'] }] },
  ]);
  const textOf = async (testId: string) =>
    ((await page.getByTestId(testId).allTextContents())[0] ?? '')
      .replaceAll('\u202f', ' ')
      .replaceAll('\u2212', '-');
  for (const [testId, text] of shown)
    await expect.poll(() => textOf(testId), { message: testId }).toMatch(text);
  if (instance !== 'all_inf') return;
  // Without a finite value there are no ends of colors and of the dial.
  expect(await page.getByTestId('heat-scale').count()).toBe(0);
  expect(await page.locator('.dial-end').allTextContents()).toEqual(['', '']);
});
