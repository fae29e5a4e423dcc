import { expect, it } from 'vitest';
import { FleetBook } from './book.ts';
import { listingOf } from './listing.ts';
import type { FleetLook, FleetRow } from './query.ts';

const DEFAULT_LOOK: FleetLook = {
  rows: 'instances',
  order: { by: 'name', isDown: false },
  group: { by: 'none', text: '' },
  metrics: [{ metric: 0 }],
  folded: [],
  words: [],
  first: 0,
  count: 10,
};

/** Nodes `line-1-1` to `line-2-2` with two instances each; loads 1 to 8. */
function fleet(): FleetBook {
  const book = new FleetBook(1);
  const names = ['line-1-1', 'line-1-2', 'line-2-10', 'line-2-2'];
  const members = names.flatMap((node, index) =>
    ['motor', 'pump'].map((instance, place) => [2 * index + place + 1, node, instance, 0]),
  );
  const rows: unknown[] = members.map(([id]) => [id, 'online', 1, 10, 1, 0, 0, 0, id]);
  // One is offline, one has lost samples, one has an alarm, one has no value.
  rows[1] = [2, 'offline', 1, 90_000, 1, 0, 0, 0, 2];
  rows[3] = [4, 'online', 1, 10, 1, 7, 1, 0, 4];
  rows[4] = [5, 'online', 1, 10, 1, 9, 0, [0, 0, 0, 1], 5];
  rows[6] = [7, 'online', 1, 10, 1, 0, 0, 0, null];
  book.apply({ from: 0, reset: true, round: 1, dac_time: 1e15, types: [{ type: 'T' }], members, rows }, 0);
  return book;
}

function rowsOf(look: Partial<FleetLook>): FleetRow[] {
  const { lines } = listingOf(fleet(), { ...DEFAULT_LOOK, ...look }, 0);
  return lines.flatMap((line) => ('row' in line ? line.row : []));
}
const names = (look: Partial<FleetLook>) =>
  rowsOf(look).map(({ node, instance }) => `${node} ${instance ?? ''}`.trim());

it('sorts names as people count', () => {
  expect(names({ rows: 'nodes' })).toEqual(['line-1-1', 'line-1-2', 'line-2-2', 'line-2-10']);
  expect(names({})[0]).toBe('line-1-1 motor');
});

it('sorts by a metric, with what has no value last in both directions', () => {
  const values = (isDown: boolean) =>
    rowsOf({ order: { by: 'metric-0', isDown } }).map(({ values: [value] }) => value);
  expect(values(false)).toEqual([1, 2, 3, 4, 5, 6, 8, null]);
  expect(values(true)).toEqual([8, 6, 5, 4, 3, 2, 1, null]);
});

it('puts the worst first: offline, missing without a cause, critical alarms', () => {
  expect(names({ order: { by: 'health', isDown: false } })[0]).toBe('line-1-1 pump');
  expect(names({ order: { by: 'missing', isDown: true } }).slice(0, 2)).toEqual([
    'line-1-2 pump',
    'line-2-10 motor',
  ]);
  expect(names({ order: { by: 'alarms', isDown: true } })[0]).toBe('line-2-10 motor');
});

it('shows of a node its worst state, sums and the greatest value', () => {
  const [first, second, , last] = rowsOf({ rows: 'nodes' });
  expect(first).toMatchObject({ health: 'offline', age: 90_000, count: 2, values: [2], sources: ['pump'] });
  expect(second).toMatchObject({ health: 'live', explained: 7, unexplained: 1 });
  expect(last).toMatchObject({ alarms: [0, 0, 0, 1], values: [6], sources: ['pump'] });
});

it('finds by names and states, and counts states', () => {
  expect(names({ words: ['line-2', 'motor'] })).toEqual(['line-2-2 motor', 'line-2-10 motor']);
  expect(names({ words: ['offline'] })).toEqual(['line-1-1 pump']);
  const { matched, healths, nodes } = listingOf(fleet(), DEFAULT_LOOK, 0);
  expect({ matched, healths, nodes }).toEqual({ matched: 8, healths: [0, 1, 0, 0, 0, 7], nodes: 4 });
});

it('groups rows, and folds groups', () => {
  const look: FleetLook = { ...DEFAULT_LOOK, group: { by: 'pattern', text: 'line-*-*' }, folded: ['1'] };
  const { lines } = listingOf(fleet(), look, 0);
  expect(lines.map((line) => ('row' in line ? line.row.node : line.group))).toEqual([
    { kind: 'group', name: '1', count: 4, isOpen: false, healths: [0, 1, 0, 0, 0, 3] },
    { kind: 'group', name: '2', count: 4, isOpen: true, healths: [0, 0, 0, 0, 0, 4] },
    'line-2-2',
    'line-2-2',
    'line-2-10',
    'line-2-10',
  ]);
});

it('shows for a node what labels all its instances have, and finds rows by labels', () => {
  const book = new FleetBook(0);
  const members = [
    [1, 'a', 'motor', 0, { site: 'graz', unit: '1' }],
    [2, 'a', 'pump', 0, { site: 'graz', unit: '2' }],
    [3, 'b', 'motor', 0],
  ];
  const rows = members.map(([id]) => [id, 'online', 1, 10, 1, 0, 0, 0]);
  book.apply({ from: 0, reset: true, round: 1, dac_time: 1e15, types: [{ type: 'T' }], members, rows }, 0);
  const lines = (look: Partial<FleetLook>) =>
    listingOf(book, { ...DEFAULT_LOOK, metrics: [], ...look }, 0).lines.map((line) =>
      'row' in line ? [line.row.node, line.row.instance, { ...line.row.labels }] : line.group,
    );
  expect(lines({ rows: 'nodes' })).toEqual([
    ['a', undefined, { site: 'graz' }],
    ['b', undefined, {}],
  ]);
  expect(lines({ words: ['unit=2'] })).toEqual([['a', 'pump', { site: 'graz', unit: '2' }]]);
  const groups = lines({ group: { by: 'label', text: 'site' }, folded: ['graz', ''] });
  expect(groups).toMatchObject([
    { name: 'graz', count: 2 },
    { name: '', count: 1 },
  ]);
});

it('shows in a column only the types that have its unit', () => {
  const book = new FleetBook(1);
  const members = [
    [1, 'a', 'motor', 0],
    [2, 'a', 'boiler', 1],
    [3, 'b', 'boiler', 1],
  ];
  const rows = members.map(([id]) => [id, 'online', 10, 10, 1, 0, 0, 0, 100 * Number(id)]);
  const types = [
    { type: 'Motor', schema: 'm' },
    { type: 'Boiler', schema: 'b' },
  ];
  book.apply({ from: 0, reset: true, round: 1, dac_time: 1e15, types, members, rows }, 0);
  const metrics = [
    { metric: 0, schemas: ['m'] },
    { metric: 0, schemas: ['b'] },
  ];
  const { lines } = listingOf(book, { ...DEFAULT_LOOK, rows: 'nodes', metrics }, 0);
  expect(lines.map((line) => 'row' in line && line.row)).toMatchObject([
    { node: 'a', hertz: 20, values: [100, 200], sources: ['motor', 'boiler'], schemas: ['m', 'b'] },
    { node: 'b', hertz: 10, values: [null, 300], sources: [undefined, 'boiler'] },
  ]);
});

it('sums the rates of what sends', () => {
  const book = new FleetBook(0);
  const members = [1, 2, 3, 4].map((id) => [id, 'a', `i${id}`, 0]);
  const rows = [
    [1, 'online', 10, 10, 1, 0, 0, 0],
    [2, 'online', null, 10, 1, 0, 0, 0],
    [3, 'disabled', 50, 10, 1, 0, 0, 0],
    [4, 'offline', 50, 10, 1, 0, 0, 0],
  ];
  book.apply({ from: 0, reset: true, round: 1, dac_time: 1e15, types: [{ type: 'T' }], members, rows }, 0);
  const hertz = (look: Partial<FleetLook>) =>
    listingOf(book, { ...DEFAULT_LOOK, metrics: [], ...look }, 0).lines.map(
      (line) => 'row' in line && line.row.hertz,
    );
  expect(hertz({ rows: 'nodes' })).toEqual([10]);
  expect(hertz({})).toEqual([10, null, null, null]);
});
