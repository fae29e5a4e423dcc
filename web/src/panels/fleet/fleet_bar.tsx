import type { Signal } from '@preact/signals';
import { columns, type FleetAnswer, type FleetColumn, healths } from '../../fleet/query.ts';
import { type FleetSettings, shapes } from '../../fleet/settings.ts';
import { formatInteger } from '../../format/number.ts';
import { strings } from '../../strings/strings.ts';
import type { ShownMetric } from './fleet_metrics.ts';
import { fleetStrings as words } from './strings.ts';

/** Shape, search, order, and how many rows are in which state. */
export function FleetBar(props: {
  spec: FleetSettings;
  metrics: readonly ShownMetric[];
  answer: Signal<FleetAnswer | undefined>;
  search: Signal<string>;
  isChoosing: Signal<boolean>;
  onChange: (change: Partial<FleetSettings>) => void;
}) {
  const { spec, metrics, search, isChoosing, onChange } = props;
  return (
    <div class="panel-bar fleet-bar">
      <fieldset class="choice">
        <legend class="visually-hidden">{words.shape}</legend>
        {shapes.map((shape) => (
          <button
            key={shape}
            type="button"
            class={shape === spec.shape ? 'choice-option is-current' : 'choice-option'}
            title={words.shapeTips[shape]}
            aria-pressed={shape === spec.shape}
            data-testid={`fleet-${shape}`}
            onClick={() => onChange({ shape })}
          >
            {words.shapes[shape]}
          </button>
        ))}
      </fieldset>
      <input
        class="input"
        type="search"
        placeholder={words.search}
        aria-label={words.search}
        data-testid="fleet-search"
        value={search.value}
        onInput={(event) => {
          search.value = event.currentTarget.value;
        }}
      />
      <select
        class="input fleet-order"
        aria-label={words.order}
        data-testid="fleet-order"
        value={`${spec.order.by} ${spec.order.isDown ? 'down' : 'up'}`}
        onChange={(event) => {
          const [by, direction] = event.currentTarget.value.split(' ');
          onChange({ order: { by: by as FleetColumn, isDown: direction === 'down' } });
        }}
      >
        {columns
          .filter((name) => isOffered(name, spec))
          .map((name) =>
            (['up', 'down'] as const).map((direction) => (
              <option key={`${name} ${direction}`} value={`${name} ${direction}`}>
                {`${nameOf(name, metrics)} ${direction === 'up' ? '\u2191' : '\u2193'}`}
              </option>
            )),
          )}
      </select>
      <button
        type="button"
        class="button"
        title={words.settingsTip}
        aria-expanded={isChoosing.value}
        data-testid="fleet-choose"
        onClick={() => {
          isChoosing.value = !isChoosing.value;
        }}
      >
        {words.settings}
      </button>
      <Counts
        spec={spec}
        answer={props.answer.value}
        onSearch={(text) => {
          search.value = text;
        }}
      />
    </div>
  );
}

function isOffered(name: FleetColumn, spec: FleetSettings): boolean {
  if (name === 'node') return spec.shape !== 'nodes';
  return !name.startsWith('metric-') || Number(name.slice(-1)) < (spec.metrics?.length ?? 0);
}

function nameOf(name: FleetColumn, metrics: readonly ShownMetric[]): string {
  return name.startsWith('metric-') ? (metrics[Number(name.slice(-1))]?.label ?? '') : words.columns[name];
}

/** How many rows there are, and how many in each state; a click searches for a state. */
function Counts(props: {
  spec: FleetSettings;
  answer: FleetAnswer | undefined;
  onSearch: (text: string) => void;
}) {
  const { answer, spec } = props;
  if (!answer) return <p class="fleet-counts" />;
  const all = spec.shape === 'nodes' ? answer.nodes : answer.members;
  return (
    <p class="fleet-counts" data-testid="fleet-counts">
      <span data-testid="fleet-count">
        {words.of(formatInteger(answer.matched), formatInteger(all), words.units[spec.shape])}
      </span>
      {healths.map((health, place) =>
        answer.healths[place] > 0 ? (
          <button
            key={health}
            type="button"
            class={`fleet-count is-${health}`}
            title={strings.card.stateTip[health]}
            data-testid={`fleet-count-${health}`}
            onClick={() => props.onSearch(health)}
          >
            {formatInteger(answer.healths[place])} {words.counted[health]}
          </button>
        ) : null,
      )}
    </p>
  );
}
