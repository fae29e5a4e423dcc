import { beforeEach, expect, it, vi } from 'vitest';
import type { ViewResult } from '../stream/query.ts';
import { areViewsReady, awaitView, forgetView, viewAnswered } from './awaited_views.ts';
import { clock } from './now.ts';
import {
  changeSpeed,
  isPlaying,
  moved,
  rangeToRead,
  SPEEDS,
  speed,
  step,
  stopPlayback,
  togglePlayback,
  widened,
} from './playback.ts';
import { range } from './time.ts';

const frames: (() => void)[] = [];
vi.stubGlobal('requestAnimationFrame', (act: () => void) => frames.push(act));
vi.stubGlobal('cancelAnimationFrame', () => frames.splice(0));

/** Runs the frames that were asked for. */
function nextFrame(): void {
  for (const act of frames.splice(0)) act();
}

beforeEach(() => {
  stopPlayback();
  frames.length = 0;
  speed.value = 1;
  range.value = { live: false, from: 1_000_000, to: 1_060_000 };
});

it('moves a range, unless it would end in the future', () => {
  const shown = { live: false, from: 0, to: 1000 } as const;
  expect(moved(shown, 500, 2000)).toEqual({ live: false, from: 500, to: 1500 });
  expect(moved(shown, 1000, 2000)).toBeUndefined();
  expect(moved({ live: true, span: 1 }, 1, 2000)).toBeUndefined();
});

it('plays the time shown on at its speed, only when all panels show it', () => {
  speed.value = 1000;
  togglePlayback();
  awaitView(1);
  nextFrame();
  expect(range.peek()).toMatchObject({ to: 1_060_000 });
  const answer = { kind: 'columns', buffer: new Float64Array(0), blocks: [{ past: { state: 'reading' } }] };
  viewAnswered({ id: 1, from: 0, to: 1, answer } as unknown as ViewResult);
  expect(areViewsReady()).toBe(false);
  forgetView(1);
  const before = clock();
  while (clock() - before < 1);
  nextFrame();
  const shown = range.peek();
  expect(!shown.live && shown.to).toBeGreaterThan(1_060_000);
  expect(!shown.live && shown.to - shown.from).toBeCloseTo(60_000);
  expect(isPlaying.peek()).toBe(true);
});

it('becomes live at the present, and stops when somebody goes live', () => {
  speed.value = 1000;
  range.value = { live: false, from: clock() - 60_001, to: clock() - 1 };
  togglePlayback();
  const before = clock();
  while (clock() - before < 1);
  nextFrame();
  expect([isPlaying.peek(), range.peek().live]).toEqual([false, true]);
  togglePlayback();
  expect(range.peek().live).toBe(false);
  range.value = { live: true, span: 60_000 };
  nextFrame();
  expect(isPlaying.peek()).toBe(false);
});

it('steps by a hundredth of the time shown, and changes its speed within 0.1 and 1000', () => {
  togglePlayback();
  step(-1);
  expect(range.peek()).toEqual({ live: false, from: 999_400, to: 1_059_400 });
  expect(isPlaying.peek()).toBe(false);
  for (let press = 0; press < 20; press++) changeSpeed(-1);
  expect(speed.peek()).toBe(0.1);
  for (let press = 0; press < 20; press++) changeSpeed(1);
  expect([speed.peek(), SPEEDS.at(-1)]).toEqual([1000, 1000]);
});

it('reads ahead of what it plays, and exactly what is shown otherwise', () => {
  expect(rangeToRead.value).toEqual(range.peek());
  togglePlayback();
  const ahead = rangeToRead.value;
  expect(ahead).toEqual({ live: false, from: 970_000, to: 1_095_000 });
  range.value = { live: false, from: 1_001_000, to: 1_061_000 };
  expect(rangeToRead.value).toBe(ahead);
  stopPlayback();
  expect(rangeToRead.value).toEqual(range.peek());
  // A shorter time does not stay within a much longer one.
  expect(widened({ live: false, from: 980_000, to: 980_100 }, ahead, 10)).not.toBe(ahead);
});
