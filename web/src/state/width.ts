import { signal } from '@preact/signals';

/** Too narrow for panels side by side; the same width as in the style sheets. */
const narrow = matchMedia('(max-width: 52rem)');

export const isNarrow = signal(narrow.matches);

narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches;
});
