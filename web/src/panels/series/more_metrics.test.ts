import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { parseDragged } from '../shared/dragged.ts';
import { withDragged } from './more_metrics.ts';

const schema = parseSchema({
  name: 'Motor',
  uuid: 'm',
  version: '1.0',
  metrics: [
    { name: 'name', type: 'string' },
    { name: 'load', type: 'real64' },
    { name: 'speed', type: 'real64' },
  ],
});
const one = { node: 'plant-7', instance: 'motor' };
const other = { node: '<img src=x>', instance: 'motor' };
const chart = {
  kind: 'series',
  mode: 'lines',
  title: 'Speed',
  sources: [{ target: one, metrics: ['speed'] }],
} as const;

it('adds a metric of the same instance, and of another one', () => {
  expect(withDragged(chart, { target: one, metric: 'load' }, schema)).not.toHaveProperty('title');
  expect(withDragged(chart, { target: one, metric: 'load' }, schema)?.sources).toEqual([
    { target: one, metrics: ['speed', 'load'] },
  ]);
  expect(withDragged(chart, { target: other, metric: 'load' }, schema)?.sources).toEqual([
    ...chart.sources,
    { target: other, metrics: ['load'] },
  ]);
});

it('adds the metrics that the chart has of other instances if an instance is dragged', () => {
  expect(withDragged(chart, { target: other }, schema)?.sources.at(-1)).toEqual({
    target: other,
    metrics: ['speed'],
  });
  const empty = { ...chart, sources: [], expressions: ['1'] };
  expect(withDragged(empty, { target: other }, schema)?.sources).toEqual([
    { target: other, metrics: ['load'] },
  ]);
});

it('adds nothing that the chart has, that it cannot draw, or that is too much', () => {
  for (const metric of ['speed', 'name', 'nothing', 'constructor'])
    expect(withDragged(chart, { target: one, metric }, schema)).toBeUndefined();
  expect(withDragged(chart, { target: one }, schema)).toBeUndefined();
  expect(withDragged({ ...chart, mode: 'shares' }, { target: one, metric: 'load' }, schema)).toBeUndefined();
  const many = {
    ...chart,
    sources: [{ target: one, metrics: Array.from({ length: 50 }, (_, at) => `m${at}`) }],
  };
  expect(withDragged(many, { target: one, metric: 'load' }, schema)).toBeUndefined();
});

it('takes nothing else that is dropped', () => {
  for (const text of ['', 'x', '7', 'null', '[]', '{}', '{"target":7}', '{"target":{"node":"a"}}'])
    expect(parseDragged(text)).toBeUndefined();
  expect(parseDragged(JSON.stringify({ target: other, metric: 7, more: 1 }))).toEqual({ target: other });
  expect(parseDragged(JSON.stringify({ target: one, metric: 'load' }))).toEqual({
    target: one,
    metric: 'load',
  });
});
