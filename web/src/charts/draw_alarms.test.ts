import { expect, it } from 'vitest';
import { minus } from './draw_alarms.ts';

it('shades what a worse alarm has not shaded already', () => {
  expect(minus([[0, 10]], [])).toEqual([[0, 10]]);
  expect(
    minus(
      [[0, 10]],
      [
        [2, 4],
        [6, 20],
      ],
    ),
  ).toEqual([
    [0, 2],
    [4, 6],
  ]);
  expect(
    minus(
      [
        [0, 10],
        [12, 14],
      ],
      [[0, 12]],
    ),
  ).toEqual([[12, 14]]);
  expect(minus([[3, 5]], [[1, 9]])).toEqual([]);
});
