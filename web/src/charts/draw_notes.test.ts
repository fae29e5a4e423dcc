import { expect, it } from 'vitest';
import { marksOf, unionOf } from './draw_notes.ts';

it('has one mark for notes that lie close together, and says how many these are', () => {
  const notes = [0, 2, 5, 6, 30].map((x) => ({ x, text: `at ${x}` }));
  expect(marksOf(notes, 6)).toEqual([
    { x: 0, count: 3, text: 'at 0' },
    { x: 6, count: 1, text: 'at 6' },
    { x: 30, count: 1, text: 'at 30' },
  ]);
  // However many there are, there are no more marks than there is room for.
  const many = Array.from({ length: 1000 }, (_, index) => ({ x: index, text: '' }));
  expect(marksOf(many, 6)).toHaveLength(167);
});

it('lays no span over another', () => {
  expect(
    unionOf([
      [50, 60],
      [0, 10],
      [5, 20],
      [20, 21],
    ]),
  ).toEqual([
    [0, 21],
    [50, 60],
  ]);
});
