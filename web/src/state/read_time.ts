import { signal } from '@preact/signals';
import { cursorTime } from './time.ts';

/** People read no faster. */
const READ_MS = 80;

/** The time under the pointer as often as values are read there: a pointer at rest on a live chart moves with it. */
export const readTime = signal<number | undefined>(undefined);

let isWaiting = false;

cursorTime.subscribe((time) => {
  if (time === undefined) readTime.value = undefined;
  if (time === undefined || isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    readTime.value = cursorTime.peek();
  }, READ_MS);
});
