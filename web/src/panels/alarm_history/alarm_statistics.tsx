import { useSignal, useSignalEffect } from '@preact/signals';
import { SEVERITIES } from '../../alarms/alarm.ts';
import { alarmSource } from '../../alarms/book.ts';
import { type RankedAlarm, readStatistics, type Statistics } from '../../alarms/journal.ts';
import { useVisible } from '../../components/visible.ts';
import { formatInteger } from '../../format/number.ts';
import { formatAge } from '../../format/time.ts';
import { byBrowserOfDac } from '../../state/alarm_clock.ts';
import { now } from '../../state/now.ts';
import { reread } from '../../state/reread.ts';
import { historyStrings } from '../../strings/alarm_history.ts';
import { strings } from '../../strings/strings.ts';

const words = historyStrings.history;
const REREAD_MS = 5000;
/** Raised alarms in ten minutes from which an operator cannot follow (ISA-18.2). */
const FLOOD = 10;

/** How many alarms stand, come, chatter and stay. */
export function AlarmStatistics({ onRule }: { onRule: (rule: string) => void }) {
  const found = useSignal<Statistics | undefined>(undefined);
  const isVisible = useVisible();
  useSignalEffect(() => {
    if (!isVisible.value || alarmSource.value.kind !== 'server') return;
    return reread(async (signal) => {
      // The figures stay as they were; the list says what is wrong.
      const statistics = await readStatistics(signal).catch(() => undefined);
      if (statistics) found.value = statistics;
    }, REREAD_MS);
  });
  const statistics = found.value;
  if (!statistics) return null;
  const { standing, raised, frequent, longest } = statistics;
  return (
    <details class="alarm-statistics" open data-testid="alarm-statistics">
      <summary>{words.statistics}</summary>
      <dl class="facts-row">
        {[...SEVERITIES].reverse().map((severity) => (
          <div key={severity} class={standing[severity] > 0 ? `severity-${severity}` : ''}>
            <dt>
              {words.standing}: {strings.alarms.severities[severity]}
            </dt>
            <dd>{formatInteger(standing[severity])}</dd>
          </div>
        ))}
        {(['tenMinutes', 'hour', 'day'] as const).map((name) => (
          <div
            key={name}
            class={name === 'tenMinutes' && raised.tenMinutes > FLOOD ? 'is-flood' : ''}
            title={name === 'tenMinutes' ? words.flood : undefined}
          >
            <dt>{words.raisedIn[name]}</dt>
            <dd>{formatInteger(raised[name])}</dd>
          </div>
        ))}
      </dl>
      <div class="alarm-tops">
        <Top title={words.frequent} tip={words.frequentTip} ranked={frequent} onRule={onRule} />
        <Top title={words.longest} ranked={longest} onRule={onRule} />
      </div>
    </details>
  );
}

function Top(props: {
  title: string;
  tip?: string;
  ranked: readonly RankedAlarm[];
  onRule: (rule: string) => void;
}) {
  const { title, tip, ranked, onRule } = props;
  return (
    <section title={tip}>
      <h3>{title}</h3>
      {ranked.length === 0 && <p class="hint">{words.noneFrequent}</p>}
      <ol>
        {ranked.map(({ rule, node, instance, count, since }) => (
          <li key={`${rule} ${node} ${instance}`} data-testid="alarm-top">
            <button type="button" class="alarm-time" title={words.only(rule)} onClick={() => onRule(rule)}>
              <bdi>{rule}</bdi>
            </button>{' '}
            <span class="alarm-where">
              <bdi>{`${instance} ${strings.card.on(node)}`}</bdi>
            </span>{' '}
            <span class="top-figure">
              {count !== undefined && words.often(count)}
              {since !== undefined && formatAge(Math.max(0, now.value - byBrowserOfDac(since)))}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
