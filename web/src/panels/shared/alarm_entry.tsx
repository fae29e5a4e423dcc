import type { Entry } from '../../alarms/journal.ts';
import { formatInteger } from '../../format/number.ts';
import { formatInstant } from '../../format/time.ts';
import { byBrowser } from '../../state/alarm_clock.ts';
import { show } from '../../state/time.ts';
import { explainEntry } from '../../state/why.ts';
import { historyStrings } from '../../strings/alarm_history.ts';
import { alarmListStrings } from '../../strings/alarm_list.ts';
import { strings } from '../../strings/strings.ts';
import { AlarmFigures } from './alarm_figures.tsx';

const words = historyStrings.history;
const AROUND_MS = 30_000;

/** An entry of the journal, or an event of a preview. */
export function AlarmEntry({ entry, isPreview = false }: { entry: Entry; isPreview?: boolean }) {
  const { rule, node, instance, kind, severity, isKnown, principal, comment, cause, missing, isLate } = entry;
  const at = byBrowser(node, entry.time);
  const notes = [
    missing !== undefined && words.missing(formatInteger(missing)),
    cause,
    isLate && words.late,
    principal && words.by(principal),
  ];
  return (
    <li
      class={`alarm-entry entry-${kind} ${severity ? `severity-${severity}` : ''} ${isKnown ? '' : 'is-unknown'}`}
      data-testid="alarm-entry"
      data-kind={kind}
      data-rule={rule}
    >
      <button
        type="button"
        class="alarm-time"
        title={alarmListStrings.alarmList.goThere}
        onClick={() => show(at - AROUND_MS, at + AROUND_MS)}
      >
        {formatInstant(at)}
      </button>
      <span class="entry-kind">{words.entryKinds[kind] ?? kind}</span>
      <span class="entry-what">
        <bdi class="alarm-rule">{rule}</bdi> <AlarmFigures alarm={entry} />
        <span class="alarm-where">
          <bdi>{[`${instance} ${strings.card.on(node)}`, ...notes].filter(Boolean).join(' \u00b7 ')}</bdi>
          {comment !== '' && <bdi class="alarm-comment">{` \u201c${comment}\u201d`}</bdi>}
        </span>
      </span>
      {!isPreview && (
        <button
          type="button"
          class="button button-quiet"
          title={alarmListStrings.alarmList.whyTip}
          data-testid="entry-why"
          onClick={() => explainEntry(entry)}
        >
          {alarmListStrings.alarmList.why}
        </button>
      )}
    </li>
  );
}
