import { formatInteger } from '../../format/number.ts';
import { formatAge, formatClock } from '../../format/time.ts';
import { severityOf } from '../../series/causes.ts';
import { explainGap } from '../../state/explained_gap.ts';
import type { InstanceCells } from '../../state/store.ts';
import type { GapEvent } from '../../stream/ledger.ts';
import { strings } from '../../strings/strings.ts';
import type { Target } from '../../wire/target.ts';

const words = strings.gaps;

/** Gaps and interruptions, newest first. */
export function Gaps({ cells, target }: { cells: InstanceCells; target: Target }) {
  // An interruption of the page comes before the gaps of earlier samples that it receives then.
  const events = (cells.loss.value?.events ?? []).toSorted((one, other) => other.at - one.at);
  return (
    <div class="gaps">
      {events.length === 0 ? (
        <p class="gaps-none" data-testid="no-gaps">
          {(cells.entry.value?.state ?? 'online') === 'online' ? words.none : words.noneOffline}
        </p>
      ) : (
        <ol class="gaps-list" aria-label={words.title} data-testid="gaps">
          {events.map((event, index) => (
            <Gap key={`${events.length - index}`} event={event} target={target} />
          ))}
        </ol>
      )}
    </div>
  );
}

function Gap({ event, target }: { event: GapEvent; target: Target }) {
  const { at, cause, count, from, to, duration } = event;
  const explain = () => explainGap([{ from: at - (duration ?? 0), to: at, cause, count }], [target]);
  const numbers =
    from === undefined || to === undefined ? '' : words.numbers(formatInteger(from), formatInteger(to));
  return (
    <li class={`gap gap-${severityOf(cause, count)}`} data-testid="gap" data-cause={cause} data-count={count}>
      <time class="gap-time" dateTime={new Date(event.at).toISOString()}>
        {formatClock(event.at)}
      </time>
      <button
        type="button"
        class="gap-text"
        title={words.explain}
        data-testid="gap-explain"
        onClick={explain}
      >
        {duration !== undefined && `${formatAge(duration)} \u00b7 `}
        {count > 0 && (
          <>
            <strong>{words.amount(cause, formatInteger(count), count === 1)}</strong> ({numbers}):{' '}
          </>
        )}
        {words.describe(cause, count)}
      </button>
    </li>
  );
}
