import { expect, it } from 'vitest';
import { marksOf, unionOf } from './draw_notes.ts';

it('merges close notes to one mark with their number', () => {
  const notes = [0, 2, 5, 6, 30].map((x) => ({ x, text: `at ${x}` }));
  expect(marksOf(notes, 6)).toEqual([
    { x: 0, count: 3, text: 'at 0' },
    { x: 6, count: 1, text: 'at 6' },
    { x: 30, count: 1, text: 'at 30' },
  ]);
  // The number of marks is limited by the width, however many notes there are.
  const many = Array.from({ length: 1000 }, (_, index) => ({ x: index, text: '' }));
  expect(marksOf(many, 6)).toHaveLength(167);
});

it('merges overlapping spans', () => {
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
