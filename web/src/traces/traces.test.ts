import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { areSpans } from './are_spans.ts';
import { type Span, spansOf } from './spans.ts';
import { keyOfSpan, matches, rowsOf, traceAt, tracesOf } from './traces.ts';

let sequence = 0;

function span(id: number, parent: number, start: number, end: number, more: Partial<Span> = {}): Span {
  return {
    key: 'n/spans',
    sequence: ++sequence,
    name: `s${id}`,
    target: 'main',
    thread: 't',
    start,
    end,
    busy: undefined,
    isFailed: false,
    id: String(id),
    parent: String(parent),
    fields: [],
    ...more,
  };
}

const outline = (spans: readonly Span[]) =>
  tracesOf(spans).map((trace) =>
    rowsOf(trace, new Set()).map(({ node, depth }) => `${'-'.repeat(depth)}${node.span.name}`),
  );

it('builds trees of spans, whatever their order', () => {
  // A part ends before the whole.
  const spans = [span(3, 2, 12, 14), span(2, 1, 11, 18), span(4, 1, 18, 19), span(1, 0, 10, 20)];
  expect(outline(spans)).toEqual([['s1', '-s2', '--s3', '-s4']]);
  expect(outline([...spans].reverse())).toEqual([['s1', '-s2', '--s3', '-s4']]);
  const [trace] = tracesOf(spans);
  expect(trace).toMatchObject({ start: 10, end: 20, count: 4, failed: 0 });
  const collapsed = new Set([keyOfSpan(spans[1])]);
  expect(rowsOf(trace, collapsed).map(({ node }) => node.span.name)).toEqual(['s1', 's2', 's4']);
});

it('tells spans apart whose number comes again', () => {
  expect(
    outline([span(2, 1, 11, 12), span(1, 0, 10, 13), span(2, 1, 111, 112), span(1, 0, 110, 113)]),
  ).toEqual([
    ['s1', '-s2'],
    ['s1', '-s2'],
  ]);
});

it('shows a span whose parent is not there, and says so', () => {
  const [trace] = tracesOf([span(2, 1, 11, 12)]);
  expect(trace.roots[0].isPart).toBe(true);
  // A parent that was over before is another one.
  expect(outline([span(1, 0, 1, 2), span(2, 1, 11, 12)])).toEqual([['s2'], ['s1']]);
});

it('survives circles and long chains', () => {
  expect(outline([span(1, 1, 0, 5)])).toEqual([['s1']]);
  expect(outline([span(1, 2, 0, 5), span(2, 1, 0, 5)]).flat()).toHaveLength(2);
  const chain = Array.from({ length: 3000 }, (_, index) => span(index + 1, index, 0, 10_000 - index));
  expect(outline(chain).flat()).toHaveLength(3000);
});

it('puts spans of several programs together that share a trace_id', () => {
  const fields = [['trace_id', 'abc']] as const;
  const spans = [
    span(1, 0, 0, 10, { key: 'a', fields }),
    span(1, 0, 2, 8, { key: 'b', fields }),
    span(1, 0, 3, 4, { key: 'c' }),
  ];
  expect(tracesOf(spans).map(({ count }) => count)).toEqual([1, 2]);
});

it('finds the trace at a time, and words in spans', () => {
  const traces = tracesOf([span(1, 0, 0, 100, { name: 'long' }), span(2, 0, 40, 60, { name: 'turn' })]);
  expect(traceAt(traces, 50)?.roots[0].span.name).toBe('turn');
  expect(traceAt(traces, 50, 'long')?.roots[0].span.name).toBe('long');
  expect(traceAt(traces, 500)).toBeUndefined();
  const found = span(1, 0, 0, 1, { name: 'Turn', fields: [['pump', '3']] });
  expect(matches(found, ['turn', 'pump=3'])).toBe(true);
  expect(matches(found, ['valve'])).toBe(false);
});

it('reads the spans of records', () => {
  const { metrics } = parseSchema({
    name: 'OASIS::Program::SpanProbe',
    uuid: 'u',
    version: '1.0',
    metrics: [
      { name: 'name', type: 'string' },
      { name: 'duration', type: 'uint64', unit: 'ns' },
      {
        name: 'outcome',
        type: 'uint32',
        enum: {
          name: 'Outcome',
          values: [
            { name: 'OK', value: 0 },
            { name: 'ERROR', value: 1 },
          ],
        },
      },
      { name: 'id', type: 'uint64' },
      { name: 'parent', type: 'uint64' },
      {
        name: 'fields',
        type: {
          vector: {
            struct: {
              name: 'Field',
              members: [
                { name: 'name', type: 'string' },
                { name: 'value', type: 'string' },
              ],
            },
          },
        },
      },
    ],
  });
  expect(areSpans(metrics)).toBe(true);
  expect(areSpans(metrics.slice(0, 2))).toBe(false);
  const line = {
    key: 'k',
    sequence: 7,
    time: 1000,
    values: ['turn', 5_000_000n, 1, 12n, 0n, [['pump', '3']]],
  };
  expect(spansOf([line], () => metrics)).toEqual([
    {
      key: 'k',
      sequence: 7,
      name: 'turn',
      target: '',
      thread: '',
      start: 995,
      end: 1000,
      busy: undefined,
      isFailed: true,
      id: '12',
      parent: '0',
      fields: [['pump', '3']],
    },
  ]);
  expect(spansOf([line], () => [])).toEqual([]);
});
