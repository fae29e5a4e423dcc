import type { Value } from '@oasis/wire';

/** A value over a time span. Node clock, milliseconds. */
export interface StateRun {
  readonly from: number;
  to: number;
  readonly value: string | number | boolean;
  /** Samples are missing, or were interrupted, before it. */
  readonly isBroken: boolean;
  /** There were other values too, all shorter than the resolution; the value is the last one. */
  readonly isMixed?: boolean;
}

const MAX_RUNS = 4096;
const MAX_TEXT_LENGTH = 200;

/** The values of a metric over time, for state timelines. The oldest runs are evicted. */
export class StateRuns {
  private runs: StateRun[] = [];
  private isBroken = false;

  break(): void {
    this.isBroken = true;
  }

  add(times: Float64Array, values: ArrayLike<Value | undefined>, asBoolean: boolean): void {
    let current = this.runs.at(-1);
    for (let index = 0; index < times.length; index++) {
      const [found, time] = [values[index], times[index]];
      // A state that the sample lacks ends the one before.
      this.isBroken ||= found === undefined;
      if (found === undefined) continue;
      const value = plain(found, asBoolean);
      if (current && !this.isBroken && current.value === value) {
        current.to = time;
        continue;
      }
      // A state lasts until the next one.
      if (current && !this.isBroken) current.to = time;
      current = { from: time, to: time, value, isBroken: this.isBroken };
      this.isBroken = false;
      this.runs.push(current);
    }
    if (this.runs.length > MAX_RUNS) this.runs = this.runs.slice(-MAX_RUNS);
  }

  /** Time of the oldest run. */
  get oldest(): number | undefined {
    return this.runs[0]?.from;
  }

  between(from: number, to: number): StateRun[] {
    return this.runs.filter((run) => run.to >= from && run.from <= to);
  }
}

function plain(value: Value, asBoolean: boolean): StateRun['value'] {
  if (asBoolean) return value === 1 || value === true;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return String(value).slice(0, MAX_TEXT_LENGTH);
}
