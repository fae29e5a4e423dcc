import { expect, it } from 'vitest';
import { defaultFleet } from '../fleet/settings.ts';
import { parseLayout } from './document.ts';

const parsed = (...panels: object[]) =>
  parseLayout({
    oasis: 'layout',
    version: 1,
    panels: panels.map((panel, index) => ({ id: `p${index}`, ...panel })),
  })?.panels;

const A = '"plant-7"/engine.torque';

it('reads panels of expressions', () => {
  const panels = [
    { id: 'p0', kind: 'series', sources: [], mode: 'lines', expressions: [`${A} * 2`] },
    { id: 'p1', kind: 'xy', expressions: [A, A], isEqual: true, trail: 10 },
    {
      id: 'p2',
      kind: 'spectrum',
      expressions: [A],
      size: 1024,
      window: 'flattop',
      isDecibel: true,
      isOverTime: true,
    },
    { id: 'p3', kind: 'statistics', expressions: [A] },
    { id: 'p4', kind: 'number', expressions: [A] },
    { id: 'p5', kind: 'text', text: `# Power {{ ${A} }}` },
  ];
  expect(parsed(...panels)).toEqual(panels);
});

it('leaves out what is no expression, and panels that then have none', () => {
  expect(
    parsed(
      { kind: 'statistics', expressions: [A, 7, 'engine.torque', 'a +', 'x'.repeat(501)] },
      { kind: 'number', expressions: ['alert(1)'] },
      { kind: 'xy', expressions: [A] },
      { kind: 'spectrum', expressions: [A], size: 1e9, window: 'x', isDecibel: 'yes' },
      { kind: 'series', sources: [], mode: 'shares', expressions: [A] },
      { kind: 'text', text: 7 },
    ),
  ).toEqual([
    { id: 'p0', kind: 'statistics', expressions: [A] },
    { id: 'p3', kind: 'spectrum', expressions: [A], size: 4096, window: 'hann' },
  ]);
});

it('reads fleets, and what is wrong in one is as in a new one', () => {
  const fleet = {
    kind: 'fleet',
    nodes: 'plant-*',
    instances: '*',
    types: '*',
    labels: 'site=graz',
    metrics: [{ path: 'load', unit: '%' }],
    period: 0.5,
    shape: 'tiles',
    order: { by: 'metric-0', isDown: true },
    group: { by: 'pattern', text: 'plant-*' },
  };
  const wrong = {
    kind: 'fleet',
    nodes: 7,
    metrics: [1, '', 'a', { path: 'b', unit: 7 }, { path: '' }, 'c', 'd'],
    period: 3,
    shape: 'x',
    order: 7,
    group: [],
  };
  expect(parsed(fleet, wrong)).toEqual([
    { id: 'p0', ...fleet },
    { id: 'p1', kind: 'fleet', ...defaultFleet, metrics: [{ path: 'a' }, { path: 'b' }, { path: 'c' }] },
  ]);
});

it('bounds the expressions of a panel and the length of a text', () => {
  const many = Array.from({ length: 40 }, (_, index) => `${A} * ${index}`);
  const [panel, text] =
    parsed({ kind: 'statistics', expressions: many }, { kind: 'text', text: 'x'.repeat(20_000) }) ?? [];
  expect(panel.kind === 'statistics' && panel.expressions.length).toBe(10);
  expect(text.kind === 'text' && text.text.length).toBe(10_000);
});

it('reads panels with settings, without the settings that are none', () => {
  const panels = [
    {
      id: 'p0',
      kind: 'series',
      sources: [],
      mode: 'lines',
      expressions: [A],
      settings: { unit: 'N.m', min: 0 },
    },
    {
      id: 'p1',
      kind: 'gauge',
      target: { node: 'plant-7', instance: 'engine' },
      metric: 'torque',
      settings: { decimals: 1 },
    },
    { id: 'p2', kind: 'number', expressions: [A], settings: { title: 'Torque' } },
  ];
  expect(parsed(...panels)).toEqual(panels);
  expect(
    parsed({ kind: 'number', expressions: [A], settings: { decimals: 'many', shape: 'round' } }),
  ).toEqual([{ id: 'p0', kind: 'number', expressions: [A] }]);
});

it('reads curves of two spans of time, and none of others', () => {
  const target = { node: 'plant-7', instance: 'engine' };
  const runs = [
    { name: 'cold', from: 1000, to: 2000 },
    { name: 'hot', from: 5000, to: 7000 },
  ];
  const panels = [{ id: 'p0', kind: 'overlay', target, metric: 'torque', runs, isScaled: true }];
  expect(parsed(...panels)).toEqual(panels);
  const [first, second] = runs;
  expect(
    parsed(
      { kind: 'overlay', target, metric: 'torque', runs: [first] },
      { kind: 'overlay', target, metric: 'torque', runs: [first, { ...second, to: 5000 }] },
      { kind: 'overlay', metric: 'torque', runs },
    ),
  ).toEqual([]);
});
