import { effect, signal } from '@preact/signals';
import { expect, it } from 'vitest';
import { sameComputed } from './same_computed.ts';

it('notifies readers of other values only', () => {
  const source = signal([1, 2]);
  const doubled = sameComputed(() => source.value.map((value) => 2 * value));
  const read: (readonly number[])[] = [];
  const stop = effect(() => {
    read.push(doubled.value);
  });
  source.value = [1, 2];
  source.value = [3];
  stop();
  expect(read).toEqual([[2, 4], [6]]);
});
