import { expect, it } from 'vitest';
import { hasParameters, nanos, withParameters, wordBefore } from './parameters.ts';
import { drawableOf, isNumeric, parseResult, parseTables, type SqlResult } from './result.ts';

const time = { from: nanos(1000), to: nanos(2000.4) };

it('writes the time shown into a query, but not into texts and comments', () => {
  expect(withParameters('SELECT $from, $to', time)).toBe('SELECT 1000000000, 2000000000');
  for (const query of [
    "SELECT '$from ''$to'",
    'SELECT "$from", `$to`, [$from]',
    'SELECT 1 -- $from\n',
    'SELECT 1 /* $from */',
    'SELECT 1 /* $from',
    'SELECT $fromage, $tomorrow',
  ])
    expect([withParameters(query, time), hasParameters(query)]).toEqual([query, false]);
  expect(hasParameters("SELECT '$from' WHERE time_ns >= $from")).toBe(true);
});

it('knows the word at the caret', () => {
  expect(wordBefore('SELECT no', 9)).toBe('no');
  expect(wordBefore('SELECT nodes.na FROM', 15)).toBe('nodes.na');
  expect(wordBefore('SELECT ', 7)).toBe('');
});

it('reads answers, and refuses what is none', () => {
  expect(parseResult({ columns: ['a'], rows: [['1'], [null], ['x', 'y']], more: true })).toEqual({
    columns: ['a'],
    rows: [['1'], [null]],
    more: true,
  });
  for (const answer of [undefined, {}, { columns: 7, rows: [] }, { columns: [] }])
    expect(parseResult(answer)).toBeUndefined();
  const tables = { tables: [{ name: 'nodes', about: 'x', columns: [{ name: 'host', unit: null }] }] };
  expect(parseTables(tables)).toEqual([{ name: 'nodes', columns: ['host'] }]);
  expect(parseTables(null)).toEqual([]);
});

const result = (columns: string[], ...rows: SqlResult['rows'][number][]): SqlResult => ({
  columns,
  rows,
  more: false,
});

it('draws numbers over time, in the order of time', () => {
  const found = drawableOf(
    result(
      ['time', 'node', 'load', 'count'],
      ['2026-05-04T12:00:01.500000001Z', 'a', 2.5, '7'],
      ['2026-05-04 12:00:00', 'b', null, '6'],
    ),
  );
  const start = Date.UTC(2026, 4, 4, 12);
  expect(found).toEqual({
    kind: 'lines',
    times: [start, start + 1500],
    lines: [
      { name: 'load', values: [null, 2.5] },
      { name: 'count', values: [6, 7] },
    ],
  });
  const minutes = drawableOf(result(['minute', 'mean'], ['2026-05-04T12:01', 1], ['2026-05-04', 2]));
  expect(minutes).toMatchObject({ times: [Date.UTC(2026, 4, 4), start + 60_000] });
  const raw = drawableOf(result(['time_ns', 'x'], ['1777896000123456789', 1]));
  expect(raw).toMatchObject({ times: [1777896000123.4568] });
});

it('draws a bar for each name without a time', () => {
  expect(drawableOf(result(['node', 'cause', 'lost'], ['a', 'x', '3'], ['b', null, null]))).toEqual({
    kind: 'bars',
    name: 'lost',
    bars: [
      { label: 'a x', value: 3 },
      { label: 'b ', value: null },
    ],
  });
  expect(drawableOf(result(['n'], [1], [2]))).toMatchObject({ bars: [{ label: '1' }, { label: '2' }] });
  expect(drawableOf(result(['node'], ['a']))).toBeUndefined();
  expect(drawableOf(result(['n']))).toBeUndefined();
  expect(drawableOf(result(['n'], [null]))).toBeUndefined();
  expect(isNumeric(result(['n'], ['12'], [null]), 0)).toBe(true);
  expect(isNumeric(result(['n'], ['12'], ['a']), 0)).toBe(false);
});

it('draws infinite values as values', () => {
  const found = drawableOf(
    result(['time', 'x'], ['2026-05-04', 'Infinity'], ['2026-05-05', '-Infinity'], ['2026-05-06', null]),
  );
  expect(found).toMatchObject({
    lines: [{ values: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null] }],
  });
});
