import { judge, type Metric } from '@oasis/wire';
import { SEVERITIES } from '../../alarms/alarm.ts';
import { Dot, type Tone } from '../../components/dot.tsx';
import { NameText } from '../../components/name_text.tsx';
import { type FleetGroup, type FleetRow, type FleetValue, type Health, healths } from '../../fleet/query.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatHertz } from '../../format/name.ts';
import { formatInteger } from '../../format/number.ts';
import { formatAge } from '../../format/time.ts';
import { strings } from '../../strings/strings.ts';
import { visible } from '../../text/visible.ts';
import type { ShownMetric } from './fleet_metrics.ts';
import { fleetStrings as words } from './strings.ts';

export interface RowProps {
  readonly row: FleetRow;
  readonly metrics: readonly ShownMetric[];
  readonly id: string;
  readonly top: number;
  readonly left: number;
  /** Of a tile, in CSS pixels. */
  readonly width: number;
  readonly index: number;
  readonly isCurrent: boolean;
  readonly isChosen: boolean;
}

const TONES: Record<Health, Tone> = {
  lost: 'idle',
  offline: 'bad',
  stopped: 'warn',
  empty: 'idle',
  disabled: 'idle',
  live: 'good',
};

/** The name of a row as people read it. */
function nameOfRow({ node, instance }: FleetRow): string {
  return visible(instance === undefined ? node : `${instance} on ${node}`);
}

/** One row of the table. Clicks and keys are handled by the list. */
export function Row({ row, metrics, id, top, index, isCurrent, isChosen }: RowProps) {
  const pairs = Object.entries(row.labels).map(([key, value]) => visible(`${key}=${value}`));
  return (
    <div
      role="option"
      tabIndex={-1}
      aria-description={labelOf(row, metrics)}
      id={id}
      class={`fleet-row ${isCurrent ? 'is-current' : ''} ${isChosen ? 'is-chosen' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      aria-posinset={index + 1}
      aria-selected={isChosen}
      data-testid="fleet-row"
      data-index={index}
      data-node={row.node}
      data-instance={row.instance}
      data-health={row.health}
    >
      <span class="fleet-check" data-part="check" title={words.select(nameOfRow(row))}>
        <span class={`fleet-box ${isChosen ? 'is-on' : ''}`} aria-hidden="true" />
      </span>
      <span class="fleet-name" title={nameOfRow(row)}>
        <NameText name={visible(row.instance ?? row.node)} />
        {row.instance === undefined && row.count > 1 && (
          <small class="fleet-row-count">{words.instancesOf(formatInteger(row.count))}</small>
        )}
        {row.instance !== undefined && (
          <small>
            <NameText name={visible(row.node)} />
          </small>
        )}
        {pairs.length > 0 && (
          <small class="fleet-row-labels" title={pairs.join('\n')} data-testid="fleet-row-labels">
            <bdi>{pairs.join(' \u00b7 ')}</bdi>
          </small>
        )}
      </span>
      <HealthCell health={row.health} />
      <span class="fleet-number fleet-age">{row.age === undefined ? NOTHING : formatAge(row.age)}</span>
      <span class="fleet-number fleet-rate" title={row.count > 1 ? words.sumOfRates : undefined}>
        {row.hertz === null ? NOTHING : formatHertz(row.hertz)}
      </span>
      <Missing explained={row.explained} unexplained={row.unexplained} />
      <Alarms counts={row.alarms} />
      {metrics.map((shown, place) => (
        <span
          key={shown.key}
          class={`fleet-metric is-${severityOf(row.values[place] ?? null, metricIn(row, shown, place)) ?? 'plain'}`}
          style={{ '--place': place }}
          title={sourceTip(row, place)}
          data-testid={`fleet-metric-${place}`}
        >
          <span class="fleet-value">{valueText(row, shown, place)}</span>
          <span class="fleet-spark" data-place={place} />
        </span>
      ))}
    </div>
  );
}

/** The metric that a value is of: types may give it other limits and names of values. */
function metricIn(row: FleetRow, shown: ShownMetric, place: number): Metric | undefined {
  return shown.bySchema.get(row.schemas[place] ?? '') ?? shown.metric;
}

function valueText(row: FleetRow, shown: ShownMetric, place: number): string {
  return formatValue(row.values[place] ?? null, metricIn(row, shown, place));
}

/** A row in words, for screen readers: what it shows is its name, and these describe it. */
function labelOf(row: FleetRow, metrics: readonly ShownMetric[]): string {
  return [
    nameOfRow(row),
    strings.card.state[row.health],
    ...metrics.map((shown, place) => `${shown.label} ${valueText(row, shown, place)}`),
    words.missing(formatInteger(row.explained), formatInteger(row.unexplained)),
    words.alarms(alarmWords(row.alarms)),
  ].join(', ');
}

/** One tile: name, state, the first metric. */
export function Tile({ row, metrics, id, top, left, width, index, isCurrent, isChosen }: RowProps) {
  const [shown] = metrics;
  const worst = row.alarms.findLastIndex((count) => count > 0);
  const label = labelOf(row, metrics);
  return (
    <div
      role="option"
      tabIndex={-1}
      id={id}
      class={`fleet-tile is-${row.health} ${isCurrent ? 'is-current' : ''} ${isChosen ? 'is-chosen' : ''}`}
      style={{ transform: `translate(${left}px, ${top}px)`, width: `${width}px` }}
      aria-selected={isChosen}
      aria-description={label}
      title={label}
      data-testid="fleet-tile"
      data-index={index}
      data-node={row.node}
      data-instance={row.instance}
      data-health={row.health}
    >
      <span class="fleet-tile-head">
        <Dot tone={TONES[row.health]} />
        <span class="fleet-tile-name">
          <NameText name={visible(row.instance ?? row.node)} />
        </span>
        {worst >= 0 && <span class={`fleet-bell is-${SEVERITIES[worst]}`}>{row.alarms[worst]}</span>}
      </span>
      <span class="fleet-tile-node">
        <NameText name={visible(row.node)} />
      </span>
      <span class="fleet-tile-body">
        <span
          class={`fleet-value is-${(shown && severityOf(row.values[0] ?? null, metricIn(row, shown, 0))) ?? 'plain'}`}
        >
          {row.health === 'live' && shown ? valueText(row, shown, 0) : strings.card.state[row.health]}
        </span>
        <span class="fleet-spark" data-place={0} />
      </span>
    </div>
  );
}

export function Group(props: {
  group: FleetGroup;
  isTile: boolean;
  left: number;
  top: number;
  width: number;
  index: number;
  isCurrent: boolean;
  id: string;
}) {
  const { group, isTile, left, top, width, index, isCurrent, id } = props;
  const name = group.name === '' ? words.noGroup : visible(group.name);
  const counts = healths.flatMap((health, place) =>
    group.healths[place] > 0 && health !== 'live'
      ? [`${formatInteger(group.healths[place])} ${words.counted[health]}`]
      : [],
  );
  return (
    <div
      role="option"
      tabIndex={-1}
      aria-selected={false}
      id={id}
      class={`fleet-group ${isTile ? 'fleet-tile' : ''} ${isCurrent ? 'is-current' : ''}`}
      style={{ transform: `translate(${left}px, ${top}px)`, ...(isTile && { width: `${width}px` }) }}
      aria-posinset={index + 1}
      aria-description={words.groupLabel(name, formatInteger(group.count), group.isOpen)}
      data-open={group.isOpen}
      data-testid="fleet-group"
      data-index={index}
      data-group={group.name}
    >
      <span class="fleet-group-head">
        <span class={`fleet-fold ${group.isOpen ? 'is-open' : ''}`} aria-hidden="true" />
        <strong>{name}</strong>
        <small>{[formatInteger(group.count), ...counts].join(' \u00b7 ')}</small>
      </span>
    </div>
  );
}

function HealthCell({ health }: { health: Health }) {
  const tone = TONES[health];
  return (
    <span class={`fleet-health is-${tone}`} title={strings.card.stateTip[health]}>
      <Dot tone={tone} />
      {strings.card.state[health]}
    </span>
  );
}

function Missing({ explained, unexplained }: { explained: number; unexplained: number }) {
  const tone = unexplained > 0 ? 'bad' : explained > 0 ? 'warn' : 'none';
  const tip =
    tone === 'none' ? words.noneMissing : words.missing(formatInteger(explained), formatInteger(unexplained));
  return (
    <span class={`fleet-number fleet-missing is-${tone}`} title={tip}>
      {formatInteger(explained + unexplained)}
      {unexplained > 0 && <span aria-hidden="true"> !</span>}
    </span>
  );
}

function Alarms({ counts }: { counts: readonly number[] }) {
  return (
    <span class="fleet-alarms" title={words.alarms(alarmWords(counts))}>
      {counts.map((count, severity) =>
        count > 0 ? (
          <span key={SEVERITIES[severity]} class={`fleet-bell is-${SEVERITIES[severity]}`}>
            {count}
            <span class="visually-hidden"> {SEVERITIES[severity]}</span>
          </span>
        ) : null,
      )}
    </span>
  );
}

/** The numbers of alarms in words, the worst first. */
function alarmWords(counts: readonly number[]): string[] {
  return counts
    .map((count, severity) => (count > 0 ? words.alarmCount(count, SEVERITIES[severity]) : ''))
    .filter(Boolean)
    .reverse();
}

/** Of a node with several instances, the instance that a value is of. */
function sourceTip(row: FleetRow, place: number): string | undefined {
  const source = row.sources[place];
  return row.instance === undefined && row.count > 1 && source !== undefined
    ? words.greatest(visible(source))
    : undefined;
}

/** The dash for what is not there. */
const NOTHING = '\u2013';

/** Formats a value of a fleet in few letters. */
function formatValue(value: FleetValue, metric: Metric | undefined): string {
  if (value === null) return NOTHING;
  if (typeof value === 'string') return visible(value);
  if (typeof value === 'boolean') return String(value);
  const named = metric?.enum?.values.find((entry) => Number(entry.value) === value);
  return named ? visible(named.name) : formatQuantity(value, metric?.unit, false);
}

/** How the limits of a metric judge a value. */
function severityOf(value: FleetValue, metric: Metric | undefined): 'warn' | 'alarm' | undefined {
  return metric && typeof value === 'number' ? judge(metric, value)?.severity : undefined;
}
