import type { FleetColumn, FleetOrder } from '../../fleet/query.ts';
import type { FleetSettings } from '../../fleet/settings.ts';
import type { ShownMetric } from './fleet_metrics.ts';
import { fleetStrings as words } from './strings.ts';

const FIXED: readonly FleetColumn[] = ['name', 'health', 'age', 'rate', 'missing', 'alarms'];
const METRICS: readonly FleetColumn[] = ['metric-0', 'metric-1', 'metric-2'];

/** The heads of the columns: a click sorts; a metric can be compared over the rows. */
export function FleetHead(props: {
  spec: FleetSettings;
  metrics: readonly ShownMetric[];
  isTiles: boolean;
  which: string;
  /** Why a metric cannot be compared; undefined if it can. */
  whyNot: (place: number) => string | undefined;
  onSort: (order: FleetOrder) => void;
  onCompare: (place: number) => void;
}) {
  const { spec, metrics } = props;
  const sort = (by: FleetColumn) => {
    const isSame = spec.order.by === by;
    props.onSort({ by, isDown: isSame ? !spec.order.isDown : isBestDown(by) });
  };
  return (
    <div class="fleet-head" data-testid="fleet-head">
      {!props.isTiles && <span class="fleet-check" />}
      {!props.isTiles &&
        FIXED.map((name) => (
          <SortButton key={name} name={name} label={words.columns[name]} spec={spec} onSort={sort} />
        ))}
      {metrics.map(({ key, label, name, unit }, place) => {
        const whyNot = props.whyNot(place);
        const tip = whyNot ?? words.compareTip(label, props.which);
        return (
          <span key={key} class="fleet-head-metric">
            <SortButton name={METRICS[place]} label={name} unit={unit} spec={spec} onSort={sort} />
            <button
              type="button"
              class="button button-quiet fleet-compare"
              title={tip}
              aria-label={`${words.compare}: ${tip}`}
              // A disabled button keeps the focus, and a click says why.
              aria-disabled={whyNot !== undefined}
              data-testid={`fleet-compare-${place}`}
              onClick={() => props.onCompare(place)}
            >
              {words.compare}
            </button>
          </span>
        );
      })}
    </div>
  );
}

function SortButton(props: {
  name: FleetColumn;
  label: string;
  unit?: string;
  spec: FleetSettings;
  onSort: (by: FleetColumn) => void;
}) {
  const { name, label, unit = '', spec } = props;
  const isCurrent = spec.order.by === name;
  const sorts = words.sortBy(unit === '' ? label : `${label} [${unit}]`);
  const tip = name === 'missing' ? `${sorts}\n${words.missingTip}` : sorts;
  const arrow = spec.order.isDown ? '\u2193' : '\u2191';
  return (
    <button
      type="button"
      class={`fleet-sort fleet-${name} ${isCurrent ? 'is-current' : ''}`}
      title={tip}
      data-testid={`fleet-sort-${name}`}
      onClick={() => props.onSort(name)}
    >
      <span class="fleet-sort-name">{label}</span>
      {unit !== '' && <span>{` [${unit}]`}</span>}
      {isCurrent && <span aria-hidden="true">{arrow}</span>}
    </button>
  );
}

/** Whether people look for the greatest first. */
function isBestDown(by: FleetColumn): boolean {
  return by !== 'name' && by !== 'node' && by !== 'health';
}
