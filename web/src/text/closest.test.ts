import { expect, it } from 'vitest';
import { closest } from './closest.ts';

const NODES = ['plant-1', 'plant-2', 'plant-10', 'bench', 'Line-3-Press'];

it('finds names that differ in few letters, the nearest first', () => {
  expect(closest('plant-3', NODES)).toEqual(['plant-1', 'plant-2', 'plant-10']);
  expect(closest('bensch', NODES)).toEqual(['bench']);
  expect(closest('line-3-press', NODES)).toEqual(['Line-3-Press']);
});

it('finds names of which a part was written, and nothing for what is like none', () => {
  expect(closest('press', NODES)).toEqual(['Line-3-Press']);
  expect(closest('bench-old-2', NODES)).toEqual(['bench']);
  expect(closest('warehouse', NODES)).toEqual([]);
  expect(closest('', NODES)).toEqual([]);
});
