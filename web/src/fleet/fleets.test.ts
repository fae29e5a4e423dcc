import { beforeEach, expect, it } from 'vitest';
import { Fleets } from './fleets.ts';
import type { FleetLook, FleetRequest, FleetSelection } from './query.ts';

const SELECTION: FleetSelection = { nodes: '*', instances: '*', types: '*', metrics: ['load'], period: 1 };
const DEFAULT_LOOK: FleetLook = {
  rows: 'instances',
  order: { by: 'name', isDown: false },
  group: { by: 'none', text: '' },
  metrics: [{ metric: 0 }],
  folded: [],
  words: [],
  first: 0,
  count: 2,
};

let sent: FleetRequest[];
let fleets: Fleets;

beforeEach(() => {
  sent = [];
  fleets = new Fleets((message) => sent.push(message));
});

const ask = (now: number, look: Partial<FleetLook> = {}) =>
  fleets.answer(SELECTION, { ...DEFAULT_LOOK, ...look }, now);
const members = ['a', 'b', 'c'].map((node, index) => [index, node, 'x', 0]);
const rows = members.map(([id]) => [id, 'online', 1, 5, 1, 0, 0, 0, 0.5]);
const PICTURE = {
  from: 0,
  reset: true,
  round: 1,
  more: false,
  dac_time: 1e15,
  types: [{ type: 'T' }],
  members,
  rows,
};

it('subscribes once for all panels, and answers with the visible part', () => {
  expect(ask(0).status).toEqual({ state: 'waiting' });
  fleets.tick(0);
  expect(sent).toEqual([]);
  fleets.opened(true);
  fleets.tick(1);
  ask(2);
  fleets.tick(2);
  expect(sent).toEqual([{ op: 'fleet', ...SELECTION }]);
  fleets.accepted(1, 12);
  expect(ask(3).status).toEqual({ state: 'waiting' });
  fleets.rows(13, PICTURE, 4);
  expect(ask(4).members).toBe(0);
  fleets.rows(12, PICTURE, 5);
  const answer = ask(6, { first: 1 });
  expect(answer).toMatchObject({ status: { state: 'ready' }, members: 3, length: 3, first: 1 });
  expect(answer.lines.map((line) => line.kind === 'row' && line.node)).toEqual(['b', 'c']);
  expect(answer.sparks.filter((value) => !Number.isNaN(value))).toEqual(new Float64Array([0.5, 0.5]));
});

it('ends a fleet that no panel asks for any more', () => {
  ask(0);
  fleets.opened(true);
  fleets.tick(0);
  fleets.accepted(1, 12);
  fleets.tick(1999);
  expect(sent).toHaveLength(1);
  expect(fleets.nextDue()).toBe(2001);
  fleets.tick(2001);
  expect(sent[1]).toEqual({ op: 'end-fleet', fleet: 12 });
  expect(fleets.nextDue()).toBe(Number.POSITIVE_INFINITY);
});

it('subscribes again after a reconnect, and keeps showing what it had', () => {
  ask(0);
  fleets.opened(true);
  fleets.tick(0);
  fleets.accepted(1, 12);
  fleets.rows(12, PICTURE, 1);
  fleets.disconnected();
  expect(ask(2)).toMatchObject({ status: { state: 'waiting' }, length: 3 });
  fleets.opened(true);
  fleets.tick(3);
  expect(sent).toHaveLength(2);
});

it('says why there is no fleet, and asks again later', () => {
  ask(0);
  fleets.opened(true);
  fleets.tick(0);
  expect(fleets.failed(7, 'x', 0)).toBe(false);
  expect(fleets.failed(1, '32 fleets are read', 0)).toBe(true);
  expect(ask(1).status).toEqual({ state: 'refused', problem: '32 fleets are read' });
  fleets.tick(2);
  expect(sent).toHaveLength(1);
  ask(5000);
  fleets.tick(5000);
  expect(sent).toHaveLength(2);
  fleets.opened(false);
  expect(ask(6000).status).toEqual({ state: 'unsupported' });
});
