import { expect, it } from 'vitest';
import { FleetBook } from './book.ts';
import { POINTS } from './query.ts';

const picture = (rows: unknown[], members: unknown[] = []) => ({
  from: 0,
  reset: true,
  round: 1,
  more: false,
  dac_time: 10_000e6,
  types: [{ type: 'Plant::Pump', version: '1.0', schema: 'ab' }],
  members,
  rows,
});
const change = (from: number, round: number, rows: unknown[], more: object = {}) => ({
  from,
  round,
  more: false,
  dac_time: (9000 + 1000 * round) * 1e6,
  rows,
  ...more,
});
const row = (id: number, received: number, value: unknown, age: number | null = 100) => [
  id,
  'online',
  1,
  age,
  received,
  0,
  0,
  0,
  value,
];

function pump(): FleetBook {
  const book = new FleetBook(1);
  book.apply(picture([row(1, 1, 5)], [[1, 'plant', 'pump', 0]]), 0);
  return book;
}

function points(book: FleetBook, id = 1): number[] {
  const out = new Float64Array(POINTS);
  const member = book.members.get(id);
  if (member) book.points(member, 0, 1, out, 0);
  return [...out].filter((value) => !Number.isNaN(value));
}

it('remembers members, their newest values and their course', () => {
  const book = pump();
  book.apply(change(1, 2, [row(1, 2, 7)]), 1000);
  expect(book.members.get(1)).toMatchObject({
    node: 'plant',
    instance: 'pump',
    type: 'Plant::Pump',
    values: [7],
  });
  expect(points(book)).toEqual([5, 7]);
  expect(book.types()).toEqual([{ name: 'Plant::Pump', version: '', schema: 'ab', count: 1 }]);
});

it('draws on through rounds that the rate explains, and not through an outage', () => {
  const book = pump();
  book.apply(change(1, 3, [row(1, 2, 7)]), 2000);
  expect(points(book)).toEqual([5, 5, 7]);
  book.apply(change(3, 13, [row(1, 3, 9)]), 12_000);
  expect(points(book)).toEqual([5, 5, 7, 9]);
  // A change that is no sample, such as an alarm, adds no point.
  book.apply(change(13, 14, [[1, 'online', 1, 100, 3, 0, 0, [0, 0, 1, 0], 9]]), 13_000);
  expect(points(book)).toEqual([5, 5, 7, 9]);
  expect(book.members.get(1)?.alarms).toEqual([0, 0, 1, 0]);
});

it('counts rounds that came combined', () => {
  const book = pump();
  book.apply(change(1, 2, [], { more: true }), 1000);
  book.apply(change(1, 2, []), 1000);
  expect(book.combined).toBe(0);
  book.apply(change(2, 6, []), 5000);
  expect(book.combined).toBe(3);
});

it('lets the age grow while nothing arrives, and says when an instance has stopped', () => {
  const book = pump();
  const member = book.members.get(1);
  if (!member) throw new Error('no member');
  expect([book.ageOf(member, 0), book.healthOf(member, 0)]).toEqual([100, 'live']);
  expect([book.ageOf(member, 5000), book.healthOf(member, 5000)]).toEqual([5100, 'stopped']);
  const before = book.version;
  book.tick(1000);
  expect(book.version).toBe(before);
  book.tick(2000);
  expect(book.version).toBe(before + 1);
});

it('knows no state without a connection, until the DAC sends rows again', () => {
  const book = pump();
  const member = book.members.get(1);
  if (!member) throw new Error('no member');
  book.disconnected();
  expect(book.healthOf(member, 5000)).toBe('lost');
  book.apply(change(1, 2, []), 6000);
  expect(book.healthOf(member, 6000)).not.toBe('lost');
});

it('has words for each state', () => {
  const book = new FleetBook(0);
  const rows = [
    [1, 'offline', 1, 10, 1, 0, 0, 0],
    [2, 'disabled', 1, 10, 1, 0, 0, 0],
    [3, 'online', 1, null, 0, 0, 0, 0],
    [4, 'online', null, 60_000, 1, 0, 0, 0],
  ];
  book.apply(
    picture(
      rows,
      rows.map(([id]) => [id, 'n', `i${id}`, 0]),
    ),
    0,
  );
  const states = [...book.members.values()].map((member) => book.healthOf(member, 0));
  // The application decides when a pushed probe has a sample.
  expect(states).toEqual(['offline', 'disabled', 'empty', 'live']);
});

it('forgets removed members, and all of them when a new picture begins', () => {
  const book = pump();
  book.apply(change(1, 2, [], { members: [[2, 'plant', 'fan', 0]], types: [{ type: 'F' }] }), 1000);
  expect(book.members.size).toBe(2);
  book.apply(change(2, 3, [], { removed: [1] }), 2000);
  expect([...book.members.keys()]).toEqual([2]);
  book.apply({ ...picture([]), round: 9 }, 3000);
  expect(book.members.size).toBe(0);
});

it('takes new labels of a member without forgetting its points', () => {
  const book = pump();
  const ring = book.members.get(1)?.ring;
  expect(book.members.get(1)?.labels).toEqual({});
  const labels = { site: 'graz', ['__proto__']: 'x', wrong: 7 };
  const members = [[1, 'plant', 'pump', 0, JSON.parse(JSON.stringify(labels))]];
  book.apply(change(1, 2, [], { members }), 1000);
  expect({ ...book.members.get(1)?.labels }).toEqual({ site: 'graz', ['__proto__']: 'x' });
  expect(book.members.get(1)?.ring).toBe(ring);
  book.apply(change(2, 3, [], { members: [[1, 'plant', 'pump', 0]] }), 2000);
  expect(book.members.get(1)?.labels).toEqual({});
});

it('survives what is no message of a fleet', () => {
  const book = pump();
  book.apply(
    { rows: [7, null, [], ['x'], [99, 'online']], members: [null, [5]], removed: ['x'], round: 'x' },
    1,
  );
  book.apply(change(1, 2, [row(1, 2, 'NaN'), [1, 7, 'x', 'y', null, [], {}, 'z', {}]]), 1000);
  expect(book.members.get(1)).toMatchObject({ state: '', hertz: null, values: [null] });
});
