import { signal } from '@preact/signals';

const SHOWN_MS = 2500;

/** A short notice that an action has succeeded. */
export const notice = signal('');

let timer: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = '';
  }, SHOWN_MS);
}
