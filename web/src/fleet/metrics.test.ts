import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { offeredMetrics, suggestedMetrics, withUnit } from './metrics.ts';

const schema = (name: string, metrics: readonly object[]) =>
  parseSchema({ name, uuid: '3f0c2f4e-8a5f-4c55-9d5e-0d7a3b1c2d3e', version: '1.0', metrics });
const SCHEMAS = new Map([
  ['m', schema('Motor', [{ name: 'temperature', type: 'real64', unit: 'Cel' }])],
  ['n', schema('Motor2', [{ name: 'temperature', type: 'real32', unit: 'Cel', label: 'Heat' }])],
  [
    'b',
    schema('Boiler', [
      { name: 'temperature', type: 'real64', unit: 'K' },
      { name: 'load', type: 'uint8', unit: '1' },
    ]),
  ],
]);
const types = [
  { name: 'Motor', version: '', schema: 'm', count: 7 },
  { name: 'Boiler', version: '', schema: 'b', count: 3 },
  { name: 'Motor2', version: '', schema: 'n', count: 2 },
  { name: 'Unread', version: '', schema: 'x', count: 1 },
];
const offered = offeredMetrics(types, (hash) => SCHEMAS.get(hash));

it('offers metrics of one name with different units apart, and counts who has them', () => {
  expect(offered.map(({ path, unit, instances }) => [path, unit, instances])).toEqual([
    ['temperature', 'Cel', 9],
    ['temperature', 'K', 3],
    ['load', '', 3],
  ]);
  expect([...(offered[0]?.bySchema.keys() ?? [])]).toEqual(['m', 'n']);
});

it('takes the most common unit for a path alone', () => {
  expect(withUnit({ path: 'temperature' }, offered)).toEqual({ path: 'temperature', unit: 'Cel' });
  expect(withUnit({ path: 'temperature', unit: 'K' }, offered)).toEqual({ path: 'temperature', unit: 'K' });
  expect(withUnit({ path: 'gone' }, offered)).toEqual({ path: 'gone' });
});

it('suggests what most instances have, and counters last', () => {
  expect(suggestedMetrics(offered)).toEqual([
    { path: 'temperature', unit: 'Cel' },
    { path: 'temperature', unit: 'K' },
    { path: 'load', unit: '' },
  ]);
});
