import type { Plan } from '../expressions/plan.ts';
import { align } from '../expressions/signal.ts';
import { spectrogramOf } from '../series/spectrogram.ts';
import { spectrumOf } from '../series/spectrum.ts';
import { figuresOf } from '../series/statistics.ts';
import { thin } from '../series/trace.ts';
import { type Computed, computedRows } from './expression_answer.ts';
import { gapAt } from './gap_at.ts';
import type { AnswerOf, PastPart, Query } from './query.ts';
import type { Scene } from './scene.ts';

/** Points of the archive that an answer is made from. */
const COLUMNS = 2000;
/** Samples of the longest transform. */
const SPECTRUM_ROWS = 1 << 16;

/** One expression over another. */
export function xyAnswer(scene: Scene, { expressions }: Query & { kind: 'xy' }): AnswerOf<'xy'> {
  const [x, y] = expressions.map((plan) => computed(scene, plan));
  if (!x || !y) return { kind: 'xy', trace: undefined, gaps: [] };
  const { times, breaks, columns } = align([within(scene, x), within(scene, y)]);
  return {
    kind: 'xy',
    trace: thin({ times, breaks, xs: columns[0], ys: columns[1] }),
    gaps: [...x.gaps, ...y.gaps],
    ...worst([x, y]),
  };
}

/** The frequencies in expressions, from single samples. */
export function spectrumAnswer(
  scene: Scene,
  { expressions, size, window, isOverTime }: Query & { kind: 'spectrum' },
): AnswerOf<'spectrum'> {
  const all = expressions.map((plan) =>
    computedRows(scene, plan, '0', COLUMNS, { rows: SPECTRUM_ROWS, isSingle: true }),
  );
  // The last sample of each step has frequencies that the signal does not have.
  const single = all.map((found) => (found.past?.step === undefined ? within(scene, found) : undefined));
  const [first] = single;
  return {
    kind: 'spectrum',
    spectra: single.map((signal) => signal && spectrumOf(signal, size, window)),
    ...(isOverTime && {
      spectrogram: first && spectrogramOf(first, [scene.from, scene.to], size, window),
    }),
    gaps: all.flatMap(({ gaps }) => gaps),
    ...worst(all),
  };
}

/** What the samples of the time shown come to. */
export function statisticsAnswer(
  scene: Scene,
  { expressions }: Query & { kind: 'statistics' },
): AnswerOf<'statistics'> {
  const all = expressions.map((plan) => computed(scene, plan));
  return {
    kind: 'statistics',
    rows: all.map((found) => {
      const { times, values } = within(scene, found);
      const [min, max] = found.extreme ?? [];
      return {
        ...figuresOf(values),
        // A metric has the extremes of all samples, also of those that are folded.
        ...(min !== undefined && max !== undefined && min <= max && { min, max }),
        seconds: spanOf(times) / 1000,
        gaps: found.gaps,
      };
    }),
    ...worst(all),
  };
}

/** The last values at or before the end of the time shown, unless that lies in a gap. */
export function latestAnswer(scene: Scene, { expressions }: Query & { kind: 'latest' }): AnswerOf<'latest'> {
  const all = expressions.map((plan) => computed(scene, plan));
  return {
    kind: 'latest',
    values: all.map((found) => {
      const { times, values } = within(scene, found);
      const last = times.length - 1;
      if (last < 0) return undefined;
      const gap = gapAt(found.gaps, scene.to);
      return {
        time: times[last],
        value: gap && !gap.isLasting ? Number.NaN : values[last],
        ...(gap && { gap }),
      };
    }),
    ...worst(all),
  };
}

function computed(scene: Scene, plan: Plan): Computed {
  return computedRows(scene, plan, '0', COLUMNS);
}

/** The values of the time shown: rows have one beyond each end. */
export function within({ from, to }: Scene, { signal }: Computed): Computed['signal'] {
  const { times } = signal;
  let [first, last] = [0, times.length];
  while (first < last && times[first] < from) first++;
  while (last > first && times[last - 1] > to) last--;
  return {
    ...signal,
    times: times.subarray(first, last),
    values: signal.values.subarray(first, last),
    breaks: signal.breaks.subarray(first, last),
  };
}

function spanOf(times: Float64Array): number {
  return times.length < 2 ? 0 : times[times.length - 1] - times[0];
}

/** The least complete part from the archive. */
export function worst(all: readonly Computed[]): { past?: PastPart } {
  const parts = all.flatMap(({ past }) => past ?? []);
  const states = ['failed', 'reading', 'ready'];
  const [past] = parts.toSorted((one, other) => states.indexOf(one.state) - states.indexOf(other.state));
  return past ? { past } : {};
}
