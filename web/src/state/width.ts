import { signal } from '@preact/signals';

/** Whether the window is too narrow for panels side by side. The width equals that of the style sheets. */
const narrow = matchMedia('(max-width: 52rem)');

export const isNarrow = signal(narrow.matches);

narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches;
});
