import type { Metric } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { formatUnit } from '../format/unit.ts';
import { isLine } from '../series/metrics.ts';
import type { CommandRequest } from '../stream/protocol.ts';
import { strings } from '../strings/strings.ts';

const words = strings.commands;

/** The deadband of a metric of a probe on change. */
export function DeadbandForm(props: {
  metrics: readonly Metric[];
  onRequest: (request: CommandRequest) => void;
  onProblem: (text: string) => void;
}) {
  const numbers = props.metrics.filter(isLine);
  const chosen = useSignal<string | undefined>(undefined);
  const typed = useSignal('');
  const metric = numbers.find(({ name }) => name === chosen.value) ?? numbers[0];
  if (!metric) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    const text = typed.value.trim();
    // An empty field means that any change counts.
    if (text === '') return props.onRequest({ command: 'deadband', metric: metric.name });
    const deadband = Number(text);
    if (!(deadband >= 0)) return props.onProblem(words.deadbandWrong);
    props.onRequest({ command: 'deadband', metric: metric.name, deadband });
  };
  return (
    <form class="demand-form" noValidate title={words.deadbandTip} onSubmit={submit}>
      <select
        class="input"
        aria-label={words.deadbandMetric}
        data-testid="deadband-metric"
        value={metric.name}
        onChange={(event) => {
          chosen.value = event.currentTarget.value;
        }}
      >
        {numbers.map(({ name, label }) => (
          <option key={name} value={name}>
            {label ?? name}
          </option>
        ))}
      </select>
      <input
        class="input hertz-input"
        type="text"
        inputMode="decimal"
        autoComplete="off"
        placeholder={words.deadbandAny}
        aria-label={words.deadband}
        data-testid="deadband-value"
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
      />
      <span class="hertz-unit" aria-hidden="true">
        {formatUnit(metric.unit)}
      </span>
      <button type="submit" class="button" data-testid="deadband-set">
        {words.deadbandSet}
      </button>
    </form>
  );
}
