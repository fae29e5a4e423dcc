import { IconButton } from '../components/icon.tsx';
import type { Threshold } from '../panels/shared/settings.ts';
import { settingsStrings as words } from './settings_strings.ts';

/** The thresholds of a panel; until there is one, the limits of its metrics count. */
export function ThresholdList(props: {
  thresholds: readonly Threshold[] | undefined;
  most: number;
  onChange: (thresholds: readonly Threshold[] | undefined) => void;
}) {
  const { thresholds, most, onChange } = props;
  const all = thresholds ?? [];
  const change = (index: number, changed: Threshold) =>
    onChange(all.map((threshold, at) => (at === index ? changed : threshold)));
  return (
    <fieldset class="settings-thresholds">
      <legend>{words.thresholds}</legend>
      <p class="hint">{thresholds === undefined ? words.ofMetrics : words.ofPanel}</p>
      {all.map((threshold, index) => (
        <Row
          key={index}
          threshold={threshold}
          onChange={(changed) => change(index, changed)}
          onRemove={() => onChange(all.filter((_, at) => at !== index))}
        />
      ))}
      <div class="settings-row">
        <button
          type="button"
          class="button"
          disabled={all.length >= most}
          data-testid="threshold-add"
          onClick={() => onChange([...all, { value: 0, severity: 'warn', side: 'above' }])}
        >
          {words.addThreshold}
        </button>
        {thresholds !== undefined && (
          <button type="button" class="button button-quiet" onClick={() => onChange(undefined)}>
            {words.useMetrics}
          </button>
        )}
      </div>
    </fieldset>
  );
}

function Row(props: { threshold: Threshold; onChange: (changed: Threshold) => void; onRemove: () => void }) {
  const { threshold, onChange, onRemove } = props;
  const { isZone, ...line } = threshold;
  return (
    <div class="settings-row" data-testid="threshold">
      <select
        class="input"
        aria-label={words.side}
        data-testid="threshold-side"
        value={threshold.side}
        onChange={({ currentTarget }) =>
          onChange({ ...threshold, side: currentTarget.value === 'below' ? 'below' : 'above' })
        }
      >
        <option value="above">{words.above}</option>
        <option value="below">{words.below}</option>
      </select>
      <input
        class="input"
        type="number"
        step="any"
        required
        aria-label={words.value}
        data-testid="threshold-value"
        value={Number.isNaN(threshold.value) ? '' : threshold.value}
        onInput={({ currentTarget }) => onChange({ ...threshold, value: currentTarget.valueAsNumber })}
      />
      <select
        class="input"
        aria-label={words.severity}
        data-testid="threshold-severity"
        value={threshold.severity}
        onChange={({ currentTarget }) =>
          onChange({ ...threshold, severity: currentTarget.value === 'alarm' ? 'alarm' : 'warn' })
        }
      >
        <option value="warn">{words.warn}</option>
        <option value="alarm">{words.alarm}</option>
      </select>
      <label class="panel-toggle">
        <input
          type="checkbox"
          checked={isZone === true}
          data-testid="threshold-zone"
          onChange={({ currentTarget }) => onChange(currentTarget.checked ? { ...line, isZone: true } : line)}
        />
        {words.zone}
      </label>
      <IconButton icon="close" label={words.removeThreshold} testId="threshold-remove" onClick={onRemove} />
    </div>
  );
}
