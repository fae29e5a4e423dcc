import { countIn, evenly, evenRuns, type Run, type Sampled } from './even_runs.ts';
import { scaledSignal, Transform, type WindowName } from './transform.ts';
import { finite } from './value_scale.ts';

/** Spectra over time. */
export interface Spectrogram {
  /** Middle of each column; milliseconds, at equal distances. */
  readonly times: Float64Array;
  /** Amplitudes column by column, from frequency 0 on; NaN in columns without a whole segment. */
  readonly amplitudes: Float64Array;
  readonly rows: number;
  /** Distance of two rows in hertz. */
  readonly step: number;
  /** Samples of a segment, and in a second. */
  readonly size: number;
  readonly rate: number;
}

const MAX_COLUMNS = 200;
const MAX_ROWS = 256;
/** Samples that are transformed for one drawing. */
const MAX_WORK = 1 << 20;

/** A transform at each of many times. No segment spans a gap; undefined without one. */
export function spectrogramOf(
  signal: Sampled,
  [from, to]: readonly [number, number],
  wanted: number,
  window: WindowName,
): Spectrogram | undefined {
  const found = evenRuns(signal, wanted);
  if (!found) return undefined;
  const { runs, size, interval } = found;
  const { times } = signal;
  const transform = new Transform(size, window);
  const { values, unit } = scaledSignal(signal.values);
  const columns = Math.max(1, Math.min(MAX_COLUMNS, Math.floor(MAX_WORK / size)));
  const fold = Math.max(1, Math.ceil((size / 2 + 1) / MAX_ROWS));
  const rows = Math.ceil((size / 2 + 1) / fold);
  const amplitudes = new Float64Array(columns * rows).fill(Number.NaN);
  const middles = Float64Array.from(
    { length: columns },
    (_, column) => from + ((column + 0.5) * (to - from)) / columns,
  );
  const half = ((size - 1) * interval) / 2;
  const long = runs.filter((run) => countIn(run) >= size);
  for (let column = 0; column < columns; column++) {
    const first = startAt(times, middles[column] - half, size, interval, long);
    if (first === undefined) continue;
    const power = transform.power(evenly(times, values, first, size, interval));
    for (let frequency = 0; frequency < power.length; frequency++) {
      const at = column * rows + Math.floor(frequency / fold);
      const amplitude = finite(transform.amplitude(power[frequency], frequency) * unit);
      // The largest of those that share a row: no peak is lost. A comparison with NaN is false.
      if (!(amplitudes[at] >= amplitude)) amplitudes[at] = amplitude;
    }
  }
  return {
    times: middles,
    amplitudes,
    rows,
    step: (fold * 1000) / (interval * size),
    size,
    rate: 1000 / interval,
  };
}

/** The first sample of the segment that begins nearest to a time; undefined if none begins within an interval of it. */
function startAt(
  times: Float64Array,
  start: number,
  size: number,
  interval: number,
  runs: readonly Run[],
): number | undefined {
  for (const { first, last } of runs) {
    if (start < times[first] - interval || start > times[last - size + 1] + interval) continue;
    const guess = first + Math.round((start - times[first]) / interval);
    return Math.min(last - size + 1, Math.max(first, guess));
  }
  return undefined;
}
