import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { panelChoices } from './descriptions.ts';
import { buildPanels, type Pick, suits } from './shared/choices.ts';
import type { SchemaOf } from './shared/description.ts';

const choice = (wanted: string) => panelChoices.find(({ name }) => name === wanted)!;
const build = (name: string, picks: readonly Pick[], schemaOf: SchemaOf) =>
  buildPanels(choice(name), { picks }, schemaOf);

const target = { node: 'mast', instance: 'anemometer' };
const wind = parseSchema({
  name: 'Anemometer',
  uuid: 'u',
  version: '1.0',
  metrics: [
    { name: 'wind_speed', type: 'real64', unit: 'm/s' },
    { name: 'wind_direction', type: 'real64', unit: 'deg' },
  ],
});
const oven = parseSchema({
  name: 'Oven',
  uuid: 'v',
  version: '1.0',
  metrics: [{ name: 'temperature', type: 'real64', unit: 'Cel' }],
});

it('offers a wind rose for a direction and a speed only', () => {
  expect(suits(choice('wind'), wind)).toBe(true);
  expect(suits(choice('wind'), oven)).toBe(false);
  const picks = [{ target, metric: undefined }];
  expect(build('wind', picks, () => wind)).toEqual([
    { kind: 'rose', target, direction: 'wind_direction', speed: 'wind_speed' },
  ]);
  expect(build('wind', picks, () => oven)).toEqual([]);
});

it('offers a kind of panel only for types with a metric that it can show', () => {
  expect(suits(choice('chart'), oven)).toBe(true);
  expect(suits(choice('shares'), oven)).toBe(false);
  expect(suits(choice('values'), undefined)).toBe(true);
  expect(suits(choice('chart'), undefined)).toBe(false);
});

it('offers a heat map for vectors of numbers, and one for each number in their structs', () => {
  const number = { type: 'real64' };
  const cells = parseSchema({
    name: 'Cells',
    uuid: 'w',
    version: '1.0',
    metrics: [
      { name: 'voltage', type: { vector: 'real64' } },
      { name: 'names', type: { vector: 'string' } },
      {
        name: 'axes',
        type: {
          vector: {
            struct: {
              name: 'S',
              members: [
                { name: 'x', ...number },
                { name: 'y', ...number },
              ],
            },
          },
        },
      },
    ],
  });
  expect(suits(choice('heat'), cells)).toBe(true);
  expect(suits(choice('heat'), oven)).toBe(false);
  const picks = ['voltage', 'axes'].map((metric) => ({ target, metric }));
  expect(build('heat', picks, () => cells)).toEqual(
    ['voltage[]', 'axes[].x', 'axes[].y'].map((metric) => ({ kind: 'heat', target, metric })),
  );
});

it('needs no metrics for a query, and takes traces of instances with spans', () => {
  expect(build('sql', [], () => undefined)).toEqual([{ kind: 'sql', query: '' }]);
  expect(suits(choice('traces'), oven)).toBe(false);
  const names = ['name', 'duration', 'id', 'parent'];
  const spans = parseSchema({
    name: 'Spans',
    uuid: 'x',
    version: '1.0',
    metrics: names.map((name) => ({ name, type: 'uint64' })),
  });
  expect(suits(choice('traces'), spans)).toBe(true);
  expect(build('traces', [{ target, metric: undefined }], () => spans)).toEqual([
    { kind: 'traces', targets: [target] },
  ]);
});
