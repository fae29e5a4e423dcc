import type { GapCause } from '../series/causes.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { keyOf, type Target } from '../wire/target.ts';

/** The last sample may be this much older than the command that the DAC has noted, and the other way round. */
const SLACK_MS = 1000;

/** When probes were disabled, from the commands that the DAC remembers: a page that was opened later has not seen it. */
export class Disables {
  /** Milliseconds by the DAC's clock. */
  private readonly times = new Map<string, number[]>();

  /** Reads the answer of `GET /api/v1/commands`. */
  read(answer: unknown): void {
    this.times.clear();
    for (const { command, outcome, node, instance, time } of listOf(isFields(answer) && answer.commands)) {
      if (command !== 'disable' || outcome !== 'done') continue;
      const key = keyOf({ node: String(node), instance: String(instance) });
      this.times.set(key, [...(this.times.get(key) ?? []), Number(time) / 1e6]);
    }
  }

  /** Returns the causes of times without samples, each by the DAC's clock: silent probes that were disabled are no silent ones. */
  explain<T extends { readonly cause: GapCause }>(
    target: Target,
    gaps: readonly T[],
    timeOf: (gap: T) => readonly [from: number, to: number],
  ): readonly T[] {
    const known = this.times.get(keyOf(target));
    if (!known) return gaps;
    return gaps.map((gap) => {
      if (gap.cause !== 'silent') return gap;
      const [from, to] = timeOf(gap);
      return known.some((time) => time > from - SLACK_MS && time < to) ? { ...gap, cause: 'disabled' } : gap;
    });
  }
}
