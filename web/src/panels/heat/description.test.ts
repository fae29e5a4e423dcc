import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { panelChoices, parsePanel } from '../descriptions.ts';
import { buildPanels, suits } from '../shared/choices.ts';

const target = { node: 'plant-7', instance: 'battery' };
const choice = panelChoices.find(({ name }) => name === 'heat')!;

it('offers a heat map for vectors of numbers, and one for each number in their structs', () => {
  const members = ['x', 'y'].map((name) => ({ name, type: 'real64' }));
  const cells = parseSchema({
    name: 'Cells',
    uuid: 'w',
    version: '1.0',
    metrics: [
      { name: 'voltage', type: { vector: 'real64' } },
      { name: 'names', type: { vector: 'string' } },
      { name: 'axes', type: { vector: { struct: { name: 'S', members } } } },
    ],
  });
  const names = parseSchema({
    name: 'Names',
    uuid: 'v',
    version: '1.0',
    metrics: [{ name: 'names', type: { vector: 'string' } }],
  });
  expect(suits(choice, cells)).toBe(true);
  expect(suits(choice, names)).toBe(false);
  const picks = ['voltage', 'axes'].map((metric) => ({ target, metric }));
  expect(buildPanels(choice, { picks }, () => cells)).toEqual(
    ['voltage[]', 'axes[].x', 'axes[].y'].map((metric) => ({ kind: 'heat', target, metric })),
  );
});

it('reads back heat maps without what is invalid', () => {
  const panel = { id: 'p1', kind: 'heat', target, metric: 'cells[]' };
  expect(parsePanel({ ...panel, figure: 'min' })).toEqual({ ...panel, figure: 'min' });
  expect(parsePanel({ ...panel, figure: 'mean' })).toEqual(panel);
  expect(parsePanel({ ...panel, metric: 7 })).toBeUndefined();
});
