import { afterEach, expect, it } from 'vitest';
import { compareAgo, range } from '../state/time.ts';
import type { LayoutDocument } from './document.ts';
import { applyLayout, atTimeShown } from './saved.ts';

const LAYOUT: LayoutDocument = { oasis: 'layout', version: 1, panels: [] };

afterEach(() => {
  range.value = { live: true, span: 60_000 };
  compareAgo.value = 0;
});

it('ends the overlay of an earlier time when a layout without one is opened, also one without a range', () => {
  compareAgo.value = 3_600_000;
  applyLayout(LAYOUT);
  expect(compareAgo.value).toBe(0);
  applyLayout({ ...LAYOUT, range: { live: true, span: 30_000 }, ago: 86_400_000 });
  expect(compareAgo.value).toBe(86_400_000);
});

it('keeps the time and its overlay for a layout that is shown at the same time', () => {
  const shown = { live: false, from: 1000, to: 2000 } as const;
  range.value = shown;
  compareAgo.value = 3_600_000;
  applyLayout(atTimeShown({ ...LAYOUT, range: { live: true, span: 30_000 }, ago: 86_400_000 }));
  expect(range.value).toEqual(shown);
  expect(compareAgo.value).toBe(3_600_000);
});
