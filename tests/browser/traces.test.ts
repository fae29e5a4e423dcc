import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { fields, type PlainColumn, PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const text = (name: string) => ({ name, type: 'string' });
const nanos = (name: string) => ({ name, type: 'uint64', unit: 'ns', kind: 'gauge' });
const FIELDS = {
  name: 'fields',
  type: { vector: { struct: { name: 'OASIS::Program::Field', members: [text('name'), text('value')] } } },
};
/** As pdl/instrument/span.pdl. */
const SPANS = {
  name: 'OASIS::Program::SpanProbe',
  uuid: '9f054615-b230-42a1-aa30-acaffeb9cbc5',
  version: '1.0',
  metrics: [
    text('name'),
    text('target'),
    nanos('duration'),
    nanos('busy'),
    {
      name: 'outcome',
      type: 'uint32',
      kind: 'state',
      alarm: { values: [1] },
      enum: {
        name: 'OASIS::Program::Outcome',
        values: [
          { name: 'OK', value: 0 },
          { name: 'ERROR', value: 1 },
        ],
      },
    },
    text('thread'),
    { name: 'id', type: 'uint64' },
    { name: 'parent', type: 'uint64' },
    FIELDS,
    { name: 'cut', type: 'uint64', unit: 'By', kind: 'gauge' },
  ],
};
const LOG = {
  name: 'Log',
  uuid: 'b2f4ce0c-6f3f-4f0a-9a53-6f8b2f3b8a11',
  version: '1.0',
  metrics: [{ name: 'level', type: 'uint8', kind: 'event' }, text('message'), text('span')],
};

interface PlainSpan {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly id: number;
  readonly parent: number;
  readonly isFailed?: boolean;
}

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;
const start = Date.now() - 20_000;

/** The work of a turn: two pumps one after the other, the second with a valve that fails. */
function turn(at: number, id: number, isFailed: boolean): PlainSpan[] {
  return [
    { name: 'pump', from: at + 10, to: at + 40, id: id + 1, parent: id },
    { name: 'valve', from: at + 50, to: at + 70, id: id + 3, parent: id + 2, isFailed },
    { name: 'pump', from: at + 45, to: at + 90, id: id + 2, parent: id, isFailed },
    { name: 'turn', from: at, to: at + 100, id, parent: 0, isFailed },
  ];
}

function columns(spans: readonly PlainSpan[]): PlainColumn[] {
  const numbers = (of: (span: PlainSpan) => number) => BigUint64Array.from(spans, (span) => BigInt(of(span)));
  return [
    spans.map(({ name }) => name),
    spans.map(({ name }) => `plant::${name}`),
    numbers(({ from, to }) => (to - from) * 1e6),
    numbers(({ from, to }) => (to - from) * 5e5),
    Uint32Array.from(spans, ({ isFailed }) => (isFailed ? 1 : 0)),
    spans.map(() => 'main'),
    numbers(({ id }) => id),
    numbers(({ parent }) => parent),
    fields(spans.map(({ id }): [string, string][] => [['order', `no-${id}`]])),
    numbers(() => 0),
  ];
}

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [
    { name: 'spans', schema: SPANS, kind: 'event' },
    { name: 'log', schema: LOG, kind: 'event' },
  ]);
  for (let index = 0; index < 20; index++) {
    const spans = turn(start + index * 500, 1 + 4 * (index % 5), index === 12);
    node.flush(
      'spans',
      spans.map(({ to }) => to),
      columns(spans),
    );
  }
  node.flush('log', [start + 12 * 500 + 60], [Uint8Array.of(17), ['valve 3 is stuck'], ['turn:pump:valve']]);
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/spans,plant-7/log', {
    viewport: { width: 1366, height: 768 },
  });
  // Tests before this one took their time.
  await visit.page.getByTestId('span').selectOption({ label: '5 min' });
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(() => node.stop());

const part = (testId: string): Locator => visit.page.getByTestId(testId).filter({ visible: true });
const rows = () =>
  part('span-row').evaluateAll((found) =>
    found.map((row) => `${row.dataset.depth} ${row.querySelector('.span-open')?.textContent}`),
  );

async function openTab(title: string): Promise<void> {
  await visit.page.locator('.dv-default-tab-content').getByText(title, { exact: true }).click();
}

const groupOf = (title: string) =>
  visit.page.locator('.dv-groupview', { has: visit.page.getByText(title, { exact: true }) });

it('lists traces, and shows the spans of one as a waterfall', async () => {
  await openTab('spans \u00b7 traces');
  await expect.poll(() => part('trace').count()).toBe(20);
  await part('traces-search').fill('order=no-12 valve');
  await expect.poll(() => part('traces-found').textContent()).toBe('4 of 20 traces');
  await part('traces-search').fill('');
  await part('trace')
    .filter({ hasText: '2 failed' })
    .or(part('trace').filter({ hasText: '3 failed' }))
    .click();
  await expect.poll(rows).toEqual(['0 \u2716 turn', '1 pump', '1 \u2716 pump', '2 \u2716 valve']);
  expect(await part('trace-head').textContent()).toMatch(/turn.*100\u202fms4 spans3 failed/);
  await visit.screenshot('traces');
  await part('span-toggle').and(visit.page.getByLabel('Collapse pump')).click();
  await expect.poll(rows).toEqual(['0 \u2716 turn', '1 pump', '1 \u2716 pump']);
  await part('span-open').first().click();
  expect(await part('span-details').textContent()).toMatch(/busy 50(\.0)?\u202fms/);
  // The color is kept, and with it the trace that is shown.
  await part('traces-color').selectOption('thread');
  await expect.poll(() => part('span-row').count()).toBe(4);
  await part('trace-show-time').click();
  await expect.poll(() => visit.page.getByTestId('live').getAttribute('class')).not.toContain('is-live');
  await part('traces-back').click();
  await expect.poll(() => part('trace').count()).toBe(1);
});

it('leads from a record and from a chart to the trace', async () => {
  // The events of the spans are beside those of the log.
  await groupOf('log \u00b7 events').getByTestId('event-trace').click();
  await expect.poll(rows).toEqual(['0 \u2716 turn', '1 pump', '1 \u2716 pump', '2 \u2716 valve']);
  await part('traces-back').click();
  await groupOf('spans \u00b7 events')
    .getByTestId('event')
    .filter({ hasText: 'valve' })
    .first()
    .getByTestId('event-trace')
    .click();
  await expect.poll(() => part('span-row').count()).toBe(4);
  expect(await visit.page.getByTestId('traces').count()).toBe(1);
});
