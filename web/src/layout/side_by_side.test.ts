import { expect, it } from 'vitest';
import { columnsFor } from './side_by_side.ts';

it('divides a place so that drawings remain as large as possible', () => {
  expect(columnsFor(1, 730, 800)).toBe(1);
  expect(columnsFor(3, 730, 800)).toBe(2);
  expect(columnsFor(9, 730, 800)).toBe(3);
  // A low row has them side by side, a narrow column one below the other.
  expect(columnsFor(3, 730, 300)).toBe(3);
  expect(columnsFor(3, 300, 900)).toBe(1);
});
