import { expect, it } from 'vitest';
import { placesOf } from './draw_markers.ts';

it('merges close marks to one of the worst severity', () => {
  const marks = [
    { x: 0, level: 9 },
    { x: 3, level: 17 },
    { x: 5, level: 13 },
    { x: 40, level: 13 },
  ];
  expect(placesOf(marks, 6)).toEqual([
    { x: 0, level: 17 },
    { x: 40, level: 13 },
  ]);
  // However many records there are, the marks have room beside each other.
  const many = Array.from({ length: 10_000 }, (_, index) => ({ x: index / 10, level: 9 }));
  expect(placesOf(many, 6).length).toBeLessThan(170);
});
