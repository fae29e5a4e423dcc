import { type Metric, parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { parseLayout } from '../../layout/document.ts';
import { type PanelSpec, targetsOf } from '../../state/panel_kinds.ts';
import { withoutTarget } from '../../state/panels.ts';
import { planPanels } from './plan.ts';

const target = { node: 'plant-7', instance: 'x' };

function plan(...metrics: Partial<Metric>[]) {
  const schema = parseSchema({ name: 'P', uuid: 'u', version: '1.0', metrics });
  return planPanels(target, schema);
}

const jiffies = (name: string) => ({ name, type: 'uint64', unit: '{jiffy}', kind: 'counter' }) as const;

it('shows counters of processor time as shares of it', () => {
  expect(plan(jiffies('idle'), jiffies('user'), jiffies('system'))).toEqual([
    { kind: 'series', mode: 'shares', sources: [{ target, metrics: ['idle', 'user', 'system'] }] },
  ]);
});

it('puts metrics of one unit on one chart, and counters apart', () => {
  const found = plan(
    { name: 'a', type: 'uint64', unit: 'By' },
    { name: 'b', type: 'uint64', unit: 'By', kind: 'counter' },
    { name: 'c', type: 'real64', unit: 'By' },
  );
  expect(found.map((panel) => panel.kind === 'series' && panel.sources[0].metrics)).toEqual([
    ['a', 'c'],
    ['b'],
  ]);
});

it('makes a chart for each unit, those in alarm first', () => {
  const units = ['m/s', 'Cel', 'bar', 'V', 'A', 'W', 'Hz', '%', 'By'];
  const metrics = units.map((unit, index) => ({ name: `m${index}`, type: 'real64', unit }) as const);
  const schema = parseSchema({ name: 'P', uuid: 'u', version: '1.0', metrics });
  const names = planPanels(target, schema, new Set(['m1'])).map(
    (panel) => panel.kind === 'series' && panel.sources[0].metrics[0],
  );
  expect(names).toEqual(['m1', 'm0', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8']);
});

it('knows the wind when it meets it', () => {
  const [first] = plan(
    { name: 'direction', type: 'real32', unit: 'deg' },
    { name: 'speed', type: 'real32', unit: 'm/s', label: 'Wind speed' },
  );
  expect(first).toEqual({ kind: 'rose', target, direction: 'direction', speed: 'speed' });
  const car: Partial<Metric>[] = [
    { name: 'heading', type: 'real32', unit: 'deg' },
    { name: 'speed', type: 'real32', unit: 'm/s' },
  ];
  expect(plan(...car).map(({ kind }) => kind)).not.toContain('rose');
  const boat = plan(
    ...car,
    { name: 'wind_direction', type: 'real32', unit: 'deg' },
    { name: 'wind_speed', type: 'real32', unit: 'm/s' },
  );
  expect(boat).toContainEqual({ kind: 'rose', target, direction: 'wind_direction', speed: 'wind_speed' });
});

it('shows texts and enums as states, events as a list, and a bare heartbeat by its intervals', () => {
  expect(plan({ name: 'mode', type: 'string' })[0].kind).toBe('states');
  expect(plan({ name: 'message', type: 'string', kind: 'event' })[0].kind).toBe('events');
  expect(plan()).toEqual([{ kind: 'histogram', target, metric: null }]);
});

it('takes an instance out of a panel, and the panel away with its last', () => {
  const other = { node: 'n', instance: 'y' };
  const spec: PanelSpec = {
    id: 'p1',
    kind: 'series',
    mode: 'lines',
    sources: [
      { target, metrics: ['a'] },
      { target: other, metrics: ['b'] },
    ],
  };
  const left = withoutTarget(spec, other);
  expect(left).toEqual({ ...spec, sources: [spec.sources[0]] });
  expect(left && withoutTarget(left, target)).toBeUndefined();
});

it('reads back a layout, and nothing that is none', () => {
  const panels = [
    { id: 'p1', kind: 'instance', target },
    { id: 'p2', kind: 'gauge', target, metric: 'a' },
  ];
  const layout = parseLayout({ oasis: 'layout', version: 1, panels, range: { live: true, span: 1000 } });
  expect(layout?.panels).toEqual(panels);
  expect(layout?.range).toEqual({ live: true, span: 1000 });
  expect(
    parseLayout({ oasis: 'layout', version: 1, panels: [{ id: 'p', kind: 'script' }, 7] })?.panels,
  ).toEqual([]);
  expect(parseLayout({ version: 1, panels })).toBeUndefined();
  // A time that no calendar has is none to go to.
  for (const range of [
    { live: false, from: -Number.MAX_VALUE, to: Number.MAX_VALUE },
    { live: false, from: 0, to: 1e15 },
    { live: true, span: Number.MAX_VALUE },
  ])
    expect(parseLayout({ oasis: 'layout', version: 1, panels, range })?.range).toBeUndefined();
  expect(parseLayout({ oasis: 'layout', version: 1, panels: [panels[0], panels[0]] })).toBeUndefined();
});

it('charts no line numbers, no identifiers of records, and nothing for what was cut', () => {
  const text = (name: string) => ({ name, type: 'string' }) as const;
  const cut = { name: 'cut', type: 'uint64', unit: 'By', kind: 'gauge', warn: { above: 0 } } as const;
  const planOf = (name: string, metrics: object[]) =>
    planPanels(target, parseSchema({ name, uuid: 'u', version: '1.0', metrics }));
  const level = { name: 'level', type: 'uint8', kind: 'event' };
  const log = [level, text('message'), { name: 'line', type: 'uint32' }, cut];
  expect(planOf('OASIS::Program::LogProbe', log)).toEqual([{ kind: 'events', targets: [target] }]);
  const nanos = (name: string) => ({ name, type: 'uint64', unit: 'ns', kind: 'gauge' });
  const span = [
    text('name'),
    nanos('duration'),
    { name: 'id', type: 'uint64' },
    { name: 'parent', type: 'uint64' },
    cut,
  ];
  expect(planOf('OASIS::Program::SpanProbe', span)).toEqual([
    { kind: 'traces', targets: [target] },
    { kind: 'events', targets: [target] },
    { kind: 'series', sources: [{ target, metrics: ['duration'] }], mode: 'lines', title: 'duration' },
  ]);
  // Without texts, an integer is a number.
  expect(plan({ name: 'queued', type: 'uint32' })).toHaveLength(1);
});

it('puts latitude, longitude and other angles on charts of their own', () => {
  const angle = (name: string) => ({ name, type: 'real64', unit: 'deg' }) as const;
  const found = plan(
    angle('latitude'),
    angle('yaw'),
    angle('gps_lon'),
    angle('pitch'),
    angle('lateral_slip'),
  );
  expect(found.map((panel) => panel.kind === 'series' && panel.sources[0].metrics)).toEqual([
    ['latitude'],
    ['yaw', 'pitch', 'lateral_slip'],
    ['gps_lon'],
  ]);
});

it('opens a map for latitude and longitude, and takes the heading of a vehicle for no wind', () => {
  const angle = (name: string) => ({ name, type: 'real64', unit: 'deg' }) as const;
  const found = plan(angle('latitude'), angle('longitude'), angle('heading'), {
    name: 'speed',
    type: 'real64',
    unit: 'm/s',
  });
  const track = { target, latitude: 'latitude', longitude: 'longitude', heading: 'heading' };
  expect(found[0]).toEqual({ kind: 'map', tracks: [track] });
  expect(found.map(({ kind }) => kind)).not.toContain('rose');
});

it('takes an instance off a map, and with it the color of another', () => {
  const other = { node: 'n', instance: 'y' };
  const tracks = [target, other].map((each) => ({ target: each, latitude: 'lat', longitude: 'lon' }));
  const color = '"plant-7"/x.speed';
  const spec: PanelSpec = { id: 'p1', kind: 'map', tracks, color, follow: 1, trail: 5 };
  expect(targetsOf(spec)).toEqual(expect.arrayContaining([target, other]));
  expect(withoutTarget(spec, target)).toEqual({ id: 'p1', kind: 'map', tracks: [tracks[1]], trail: 5 });
  expect(withoutTarget(spec, other)).toEqual({ id: 'p1', kind: 'map', tracks: [tracks[0]], trail: 5, color });
});

it('reads back a map without what is invalid', () => {
  const track = { target, latitude: 'lat', longitude: 'lon' };
  const read = (panel: object) =>
    parseLayout({ oasis: 'layout', version: 1, panels: [{ id: 'p1', kind: 'map', ...panel }] })?.panels;
  const good = {
    tracks: [track],
    color: '"plant-7"/x.speed',
    trail: 5,
    follow: 0,
    shapes: [{ kind: 'point', lines: [[1, 2]] }],
    tiles: '/t/{z}/{x}/{y}',
  };
  expect(read(good)).toEqual([{ id: 'p1', kind: 'map', ...good }]);
  const bad = { color: '(', trail: 7, follow: 3, shapes: [7], tiles: '//evil/{z}/{x}/{y}' };
  expect(read({ tracks: [track, { target }], ...bad })).toEqual([{ id: 'p1', kind: 'map', tracks: [track] }]);
  expect(read({ tracks: [] })).toEqual([]);
});

it('reads back traces and queries without what is invalid', () => {
  const read = (panel: object) =>
    parseLayout({ oasis: 'layout', version: 1, panels: [{ id: 'p1', ...panel }] })?.panels[0];
  for (const good of [
    { kind: 'traces', targets: [target], color: 'node' },
    { kind: 'sql', query: 'SELECT 1', isDrawn: true, every: 5 },
    { kind: 'sql', query: '' },
  ])
    expect(read(good)).toEqual({ id: 'p1', ...good });
  expect(read({ kind: 'traces', targets: [7], color: 'node' })).toBeUndefined();
  expect(read({ kind: 'traces', targets: [target], color: 'red' })).not.toHaveProperty('color');
  expect(read({ kind: 'sql', query: 7 })).toBeUndefined();
  // A period that no user can choose would be a load on the DAC.
  expect(read({ kind: 'sql', query: 'x'.repeat(20_000), every: 0.01 })).toEqual({
    id: 'p1',
    kind: 'sql',
    query: 'x'.repeat(10_000),
  });
});
