import { formatInteger } from '../format/number.ts';
import { formatAge } from '../format/time.ts';
import type { GapMark } from '../series/causes.ts';
import { strings } from '../strings/strings.ts';
import { wordsOf } from './gap_words.ts';

const words = strings.gaps;

/** What is missing in the time shown: for each cause how long and how many samples. Nothing without gaps. */
export function GapSummary({ gaps }: { gaps: readonly GapMark[] }) {
  const causes = causesOf(gaps.filter(({ isLasting }) => !isLasting));
  // The longest: several instances may be silent.
  const lasting = gaps
    .filter(({ isLasting }) => isLasting)
    .reduce<GapMark | undefined>((found, gap) => (found && found.from <= gap.from ? found : gap), undefined);
  if (causes.length === 0 && !lasting) return null;
  return (
    <p class="gap-summary" role="status" data-testid="gap-summary">
      {causes.map(({ cause, time, missing }) => (
        <span key={cause} data-cause={cause}>
          {words.note(
            formatAge(time),
            missing > 0 ? words.amount(cause, formatInteger(missing), missing === 1) : '',
            words.describe(cause, missing),
          )}
        </span>
      ))}
      {lasting && <span data-cause={lasting.cause}>{wordsOf(lasting)}</span>}
    </p>
  );
}

/** The gaps by cause, the longest first. */
export function causesOf(
  gaps: readonly GapMark[],
): readonly { readonly cause: string; readonly time: number; readonly missing: number }[] {
  const found = new Map<string, { cause: string; time: number; missing: number }>();
  // Several values of one instance have the same gaps.
  const each = new Map(gaps.map((gap) => [`${gap.cause} ${gap.from} ${gap.to} ${gap.count}`, gap]));
  for (const { cause, from, to, count } of each.values()) {
    const sum = found.get(cause) ?? { cause, time: 0, missing: 0 };
    found.set(cause, { cause, time: sum.time + to - from, missing: sum.missing + count });
  }
  return [...found.values()].sort((one, other) => other.time - one.time);
}
