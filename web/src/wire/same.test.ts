import { expect, it } from 'vitest';
import { isSame } from './same.ts';

it('compares JSON by its values', () => {
  expect(isSame({ b: [{ d: 1, c: undefined }], a: 2 }, { a: 2, b: [{ d: 1 }] })).toBe(true);
  expect(isSame(Number.NaN, Number.NaN)).toBe(true);
  for (const [one, other] of [
    [[1, 2], [1]],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, { a: undefined }],
    [null, {}],
  ])
    expect(isSame(one, other)).toBe(false);
});
