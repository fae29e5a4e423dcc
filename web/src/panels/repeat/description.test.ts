import { afterEach, expect, it } from 'vitest';
import { notice } from '../../state/notice.ts';
import { targetsOf } from '../../state/panel_kinds.ts';
import { changePanel, findPanel, panels } from '../../state/panels.ts';
import { strings } from '../../strings/strings.ts';
import { keyOf } from '../../wire/target.ts';
import { parsePanel } from '../descriptions.ts';
import { isRepeatable, panelFor, repeated } from '../shared/repeated.ts';

const engine = { node: 'plant-7', instance: 'engine' };
const other = { node: '<img src=x onerror=alert(1)> "$&', instance: 'engine/2' };
const chart = {
  kind: 'series',
  sources: [{ target: engine, metrics: ['speed', 'torque'] }],
  mode: 'lines',
  expressions: ['"plant-7"/engine.speed * "plant-7"/gearbox.ratio', 'mill/engine.speed'],
  settings: { title: 'plant-7', colors: { [`${keyOf(engine)} speed`]: 3 } },
} as const;
const { settings } = chart;
const gauge = { kind: 'gauge', target: engine, metric: 'speed' } as const;

afterEach(() => {
  panels.value = [];
});

it('gives a panel the names of another instance and node, whatever they are, and back', () => {
  const there = panelFor(chart, engine, other);
  expect(there).toMatchObject({
    sources: [{ target: other, metrics: ['speed', 'torque'] }],
    settings: { title: 'plant-7', colors: { [`${keyOf(other)} speed`]: 3 } },
  });
  const nodes = new Set(targetsOf(there).map(({ node }) => node));
  expect(nodes).toEqual(new Set([other.node, 'mill']));
  expect(targetsOf(there)).toContainEqual({ node: other.node, instance: 'gearbox' });
  expect(panelFor(there, other, engine)).toMatchObject({ sources: chart.sources, settings });
  expect(targetsOf(panelFor(there, other, engine))).toEqual(targetsOf(chart));
});

it('repeats a panel of one node, and neither one of several nor a repeated one', () => {
  expect(isRepeatable(gauge)).toBe(true);
  expect(isRepeatable(chart)).toBe(false);
  expect(isRepeatable({ kind: 'alarms' })).toBe(false);
  expect(isRepeatable({ kind: 'repeat', ...repeated(gauge) })).toBe(false);
});

it('is opened again as it was saved', () => {
  const spec = { id: 'p1', kind: 'repeat', ...repeated(gauge), labels: 'site=graz', folded: ['mill'] };
  expect(parsePanel(JSON.parse(JSON.stringify(spec)))).toEqual(spec);
});

it('refuses panels that cannot be repeated, and patterns that are none', () => {
  const parse = (panel: unknown, rest = {}) => parsePanel({ id: 'p1', kind: 'repeat', panel, ...rest });
  for (const panel of [
    undefined,
    7,
    {},
    { kind: 'alarms' },
    { kind: 'gauge' },
    { kind: 'repeat', panel: gauge },
  ])
    expect(parse(panel)).toBeUndefined();
  let deep: unknown = gauge;
  for (let level = 0; level < 90; level++) deep = { kind: 'repeat', panel: deep };
  expect(parse(deep)).toBeUndefined();
  expect(parse(gauge, { nodes: 7, instances: 'x'.repeat(201), labels: null, folded: [7] })).toEqual({
    id: 'p1',
    kind: 'repeat',
    nodes: '*',
    instances: '*',
    types: '*',
    labels: '',
    panel: gauge,
  });
});

it('changes all panels if one of them is changed', () => {
  panels.value = [{ id: 'p1', kind: 'repeat', ...repeated(gauge) }];
  const id = `p1/${keyOf(other)}`;
  expect(findPanel(id)).toEqual({ id, ...gauge, target: other });
  changePanel(id, {
    ...findPanel(id)!,
    kind: 'gauge',
    target: other,
    metric: 'torque',
    settings: { title: 'x' },
  });
  expect(panels.value).toEqual([
    {
      id: 'p1',
      kind: 'repeat',
      ...repeated(gauge),
      panel: { ...gauge, metric: 'torque', settings: { title: 'x' } },
    },
  ]);
  expect(findPanel(`p2/${keyOf(other)}`)).toBeUndefined();
});

const neighbor = { node: engine.node, instance: 'engine 2' };

it('takes no instance that it would confuse with the one that is repeated', () => {
  const lines = { kind: 'series', sources: [{ target: engine, metrics: ['speed'] }], mode: 'lines' } as const;
  panels.value = [{ id: 'p1', kind: 'repeat', ...repeated(lines) }];
  const before = panels.value;
  for (const target of [neighbor, other]) {
    const shown = { target, metrics: ['speed'] };
    const changed = { ...lines, sources: [shown, { target: engine, metrics: ['torque'] }] };
    notice.value = '';
    changePanel(`p1/${keyOf(target)}`, changed);
    expect(panels.value).toBe(before);
    expect(notice.value).toBe(strings.panels.cannotChange);
    // Another instance of its node is one of the node of each panel.
    const gearbox = { target: { node: target.node, instance: 'gearbox' }, metrics: ['torque'] };
    changePanel(`p1/${keyOf(target)}`, { ...lines, sources: [shown, gearbox] });
    expect(panels.value).not.toBe(before);
    panels.value = before;
  }
});

it('takes the look alone from a panel whose names could be those of two instances', () => {
  const sources = [engine, neighbor].map((target) => ({ target, metrics: ['speed'] }));
  const colors = { [`${keyOf(engine)} speed`]: 3, [`${keyOf(neighbor)} speed`]: 4 };
  const lines = { kind: 'series', sources, mode: 'lines', settings: { colors } } as const;
  const repeat = { id: 'p1', kind: 'repeat', ...repeated(lines) } as const;
  panels.value = [repeat];
  const id = `p1/${keyOf(neighbor)}`;
  const shown = findPanel(id) as typeof lines & { id: string };
  changePanel(id, { ...shown, settings: { ...shown.settings, title: 'x', min: 1 } });
  const changed = [{ ...repeat, panel: { ...lines, settings: { title: 'x', min: 1, colors } } }];
  expect(panels.value).toEqual(changed);
  changePanel(id, { ...shown, sources: [{ target: neighbor, metrics: ['torque'] }] });
  expect(panels.value).toEqual(changed);
});
