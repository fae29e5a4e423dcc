import type { Schema } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { metricsOfAll } from '../fleet/metrics.ts';
import { type GroupingName, groupings, MAX_METRICS, PERIODS } from '../fleet/query.ts';
import type { FleetSettings } from '../fleet/settings.ts';
import { formatUnit } from '../format/unit.ts';
import { fleetStrings as words } from '../strings/fleet.ts';
import { visible } from '../text/visible.ts';

interface Props {
  readonly spec: FleetSettings;
  readonly schemas: readonly Schema[];
  readonly onChange: (change: Partial<FleetSettings>) => void;
}

/** Which instances and metrics, how often, and how they are grouped. */
export function FleetChoice({ spec, schemas, onChange }: Props) {
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
      <Metrics spec={spec} schemas={schemas} onChange={onChange} />
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

function Metrics({ spec, schemas, onChange }: Props) {
  const offered = metricsOfAll(schemas);
  const chosen = spec.metrics ?? [];
  const choose = (place: number, path: string) => {
    const next = [...chosen];
    if (path === '') next.splice(place, 1);
    else next[place] = path;
    onChange({ metrics: next.filter((metric, at) => metric && next.indexOf(metric) === at) });
  };
  // The next one is offered once the one before is chosen.
  return Array.from({ length: Math.min(MAX_METRICS, chosen.length + 1) }, (_, place) => {
    const path = chosen[place] ?? '';
    return (
      <label key={place} class="fleet-field">
        <span>{words.metric(place + 1)}</span>
        <select
          class="input"
          data-testid={`fleet-metric-choice-${place}`}
          value={path}
          onChange={(event) => choose(place, event.currentTarget.value)}
        >
          <option value="">{words.noMetric}</option>
          {path !== '' && !offered.some((metric) => metric.path === path) && (
            <option value={path}>{visible(path)}</option>
          )}
          {offered.map(({ path: other, label, metric }) => (
            <option key={other} value={other}>
              {visible(label) + (formatUnit(metric.unit) === '' ? '' : ` [${formatUnit(metric.unit)}]`)}
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
