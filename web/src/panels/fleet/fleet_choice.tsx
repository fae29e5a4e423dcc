import { useSignal } from '@preact/signals';
import { keyOfChoice, type OfferedMetric, withUnit } from '../../fleet/metrics.ts';
import {
  type FleetMetricChoice,
  type GroupingName,
  groupings,
  MAX_METRICS,
  PERIODS,
} from '../../fleet/query.ts';
import type { FleetSettings } from '../../fleet/settings.ts';
import { formatInteger } from '../../format/number.ts';
import { labelled } from './fleet_metrics.ts';
import { fleetStrings as words } from './strings.ts';

interface Props {
  readonly spec: FleetSettings;
  readonly offered: readonly OfferedMetric[];
  readonly onChange: (change: Partial<FleetSettings>) => void;
}

/** Which instances and metrics, how often, and how they are grouped. */
export function FleetChoice({ spec, offered, onChange }: Props) {
  return (
    <div class="fleet-choice" data-testid="fleet-choice">
      {(['nodes', 'instances', 'types'] as const).map((part) => (
        <TextField
          key={part}
          label={words[part]}
          value={spec[part]}
          tip={words.patternTip}
          testId={`fleet-pattern-${part}`}
          onChange={(text) => onChange({ [part]: text === '' ? '*' : text })}
        />
      ))}
      <TextField
        label={words.labels}
        value={spec.labels}
        tip={words.labelsTip}
        testId="fleet-labels"
        onChange={(labels) => onChange({ labels })}
      />
      <Metrics spec={spec} offered={offered} onChange={onChange} />
      <label class="fleet-field">
        <span>{words.period}</span>
        <select
          class="input"
          data-testid="fleet-period"
          value={String(spec.period)}
          onChange={(event) => onChange({ period: Number(event.currentTarget.value) })}
        >
          {PERIODS.map((period) => (
            <option key={period} value={String(period)}>
              {words.everySeconds(period)}
            </option>
          ))}
        </select>
      </label>
      <Groups spec={spec} onChange={onChange} />
    </div>
  );
}

function Metrics({ spec, offered, onChange }: Props) {
  const chosen = (spec.metrics ?? []).map((choice) => withUnit(choice, offered));
  const choose = (place: number, key: string) => {
    const found = offered.find((metric) => keyOfChoice(metric) === key);
    const next: FleetMetricChoice[] = [...chosen];
    if (found) next[place] = { path: found.path, unit: found.unit };
    else next.splice(place, 1);
    const keys = next.map(keyOfChoice);
    onChange({ metrics: next.filter((_, at) => keys.indexOf(keys[at]) === at) });
  };
  // The next one is offered once the one before is chosen.
  return Array.from({ length: Math.min(MAX_METRICS, chosen.length + 1) }, (_, place) => {
    const choice = chosen[place];
    const current = choice ? keyOfChoice(choice) : '';
    const isGone = choice && !offered.some((metric) => keyOfChoice(metric) === current);
    return (
      <label key={place} class="fleet-field">
        <span>{words.metric(place + 1)}</span>
        <select
          class="input"
          data-testid={`fleet-metric-choice-${place}`}
          value={current}
          onChange={(event) => choose(place, event.currentTarget.value)}
        >
          <option value="">{words.noMetric}</option>
          {isGone && (
            <option value={current}>{words.offer(labelled(choice.path, choice.unit), 0, '0')}</option>
          )}
          {offered.map((metric) => (
            <option key={keyOfChoice(metric)} value={keyOfChoice(metric)}>
              {words.offer(
                labelled(metric.label, metric.unit),
                metric.instances,
                formatInteger(metric.instances),
              )}
            </option>
          ))}
        </select>
      </label>
    );
  });
}

function Groups({ spec, onChange }: Pick<Props, 'spec' | 'onChange'>) {
  const { by, text } = spec.group;
  return (
    <>
      <label class="fleet-field">
        <span>{words.group}</span>
        <select
          class="input"
          data-testid="fleet-group-by"
          value={by}
          onChange={(event) =>
            onChange({ group: { by: event.currentTarget.value as GroupingName, text: '' } })
          }
        >
          {groupings.map((name) => (
            <option key={name} value={name}>
              {words.groups[name]}
            </option>
          ))}
        </select>
      </label>
      {(by === 'prefix' || by === 'pattern' || by === 'label') && (
        <TextField
          label={words.groupTexts[by]}
          value={text}
          tip={words.groupTips[by]}
          testId="fleet-group-text"
          onChange={(next) => onChange({ group: { by, text: next } })}
        />
      )}
    </>
  );
}

/** Applies what was typed with Enter, or when the focus leaves. */
function TextField(props: {
  label: string;
  value: string;
  tip: string;
  testId: string;
  onChange: (text: string) => void;
}) {
  // The panel is drawn again each second: what is being typed stays.
  const typed = useSignal<string | undefined>(undefined);
  const apply = () => {
    const text = typed.value;
    typed.value = undefined;
    if (text !== undefined) props.onChange(text.trim());
  };
  return (
    <label class="fleet-field">
      <span>{props.label}</span>
      <input
        class="input"
        type="text"
        maxLength={200}
        title={props.tip}
        data-testid={props.testId}
        value={typed.value ?? props.value}
        spellcheck={false}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onBlur={apply}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply();
        }}
      />
    </label>
  );
}
