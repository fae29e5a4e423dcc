import { beforeEach, expect, it } from 'vitest';
import { formatSpan } from '../format/time.ts';
import { range, span, zoomStep } from './time.ts';

beforeEach(() => {
  range.value = { live: true, span: 60_000 };
});

it('steps through round lengths, up to a month', () => {
  const seen: string[] = [];
  for (let step = 0; step < 20; step++) {
    zoomStep(1);
    seen.push(formatSpan(span.peek()));
  }
  expect([...new Set(seen)]).toEqual([
    ...['2 min', '5 min', '15 min', '30 min', '1 h', '2 h', '6 h', '12 h'],
    ...['1 d', '2 d', '7 d', '14 d', '31 d'],
  ]);
  for (let step = 0; step < 40; step++) zoomStep(-1);
  expect(formatSpan(span.peek())).toBe('20 ms');
});

it('keeps the end of a paused range', () => {
  range.value = { live: false, from: 1_000_000, to: 1_061_000.25 };
  zoomStep(-1);
  expect(range.peek()).toEqual({ live: false, from: 1_001_000.25, to: 1_061_000.25 });
});
