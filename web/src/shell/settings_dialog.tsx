import { useSignal } from '@preact/signals';
import { SERIES_COLORS } from '../charts/palette.ts';
import { Dialog } from '../components/dialog.tsx';
import { conversion, unitsFor } from '../expressions/convert.ts';
import { formatUnit } from '../format/unit.ts';
import { descriptionOf } from '../panels/descriptions.ts';
import { pictureOf } from '../panels/shared/exports.ts';
import { MAX_TITLE, MAX_UNIT, parseSettings } from '../panels/shared/parse_settings.ts';
import { isRepeatable, repeated } from '../panels/shared/repeated.ts';
import { MAX_COLORED, MAX_DECIMALS, MAX_THRESHOLDS, type Threshold } from '../panels/shared/settings.ts';
import { openDialog } from '../state/dialogs.ts';
import { isSettable, type SettableSpec } from '../state/panel_kinds.ts';
import { defaultTitle } from '../state/panel_titles.ts';
import { changePanel, findPanel, panels, settled } from '../state/panels.ts';
import { visible } from '../text/visible.ts';
import { settingsStrings as words } from './settings_strings.ts';
import { ThresholdList } from './threshold_list.tsx';

/** Title, unit, axis, colors and thresholds of one panel. */
export function SettingsDialog() {
  const spec = findPanel(settled.value ?? '');
  return (
    <Dialog title={words.title} testId="settings">
      {spec && isSettable(spec) ? <Form spec={spec} /> : <p class="hint">{words.gone}</p>}
    </Dialog>
  );
}

/** What is typed: texts, until the form is applied. */
interface Draft {
  readonly title: string;
  readonly unit: string;
  readonly decimals: string;
  readonly min: string;
  readonly max: string;
  readonly isLogarithmic: boolean;
  readonly colors: Readonly<Record<string, number>>;
  readonly thresholds: readonly Threshold[] | undefined;
}

function draftOf({ settings }: SettableSpec): Draft {
  const { title = '', unit = '', decimals, min, max, isLogarithmic, colors, thresholds } = settings ?? {};
  return {
    title,
    unit,
    decimals: decimals === undefined ? '' : String(decimals),
    min: min === undefined ? '' : String(min),
    max: max === undefined ? '' : String(max),
    isLogarithmic: isLogarithmic === true,
    colors: colors ?? {},
    thresholds,
  };
}

function Form({ spec }: { spec: SettableSpec }) {
  const draft = useSignal(draftOf(spec));
  const { lines, units } = pictureOf(spec.id) ?? {};
  const native = [...new Set(units?.() ?? [])];
  const change = (changed: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changed };
  };
  /** A panel within another one is repeated already. */
  const isOwn = panels.value.some(({ id }) => id === spec.id);
  const problem = problemOf(draft.value, native);
  const { hasValues, hasAxis, hasLines } = descriptionOf(spec.kind).settings?.(spec) ?? {};
  const apply = (next: Draft | undefined) => {
    const { settings: _, ...rest } = spec;
    const settings = next && parseSettings(settingsOf(next));
    changePanel(spec.id, settings ? { ...rest, settings } : rest);
    openDialog.value = undefined;
  };
  return (
    <form
      class="settings-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined) apply(draft.value);
      }}
    >
      <Field label={words.name}>
        <input
          class="input"
          maxLength={MAX_TITLE}
          placeholder={visible(defaultTitle(spec))}
          data-testid="settings-title"
          value={draft.value.title}
          onInput={(event) => change({ title: event.currentTarget.value })}
        />
      </Field>
      {hasValues && <UnitFields draft={draft.value} native={native} onChange={change} />}
      {hasAxis && <AxisFields draft={draft.value} isLines={hasLines === true} onChange={change} />}
      {hasLines && (
        <ColorFields
          lines={lines?.() ?? []}
          colors={draft.value.colors}
          onChange={(colors) => change({ colors })}
        />
      )}
      {hasValues && (
        <ThresholdList
          thresholds={draft.value.thresholds}
          most={MAX_THRESHOLDS}
          onChange={(thresholds) => change({ thresholds })}
        />
      )}
      <p class="form-problem" role="status" data-testid="settings-problem">
        {problem}
      </p>
      <div class="settings-buttons">
        <button
          type="submit"
          class="button button-main"
          disabled={problem !== undefined}
          data-testid="settings-apply"
        >
          {words.apply}
        </button>
        <button
          type="button"
          class="button button-quiet"
          data-testid="settings-reset"
          onClick={() => apply(undefined)}
        >
          {words.reset}
        </button>
        {isOwn && isRepeatable(spec) && (
          <button
            type="button"
            class="button button-quiet"
            title={words.repeatTip}
            data-testid="settings-repeat"
            onClick={() => {
              changePanel(spec.id, { kind: 'repeat', ...repeated(spec) });
              openDialog.value = undefined;
            }}
          >
            {words.repeat}
          </button>
        )}
      </div>
    </form>
  );
}

function Field({ label, children }: { label: string; children: preact.ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class="settings-field">
      <span>{label}</span>
      {children}
    </label>
  );
}

interface Part {
  draft: Draft;
  onChange: (changed: Partial<Draft>) => void;
}

function UnitFields({ draft, native, onChange }: Part & { native: readonly (string | undefined)[] }) {
  const [own] = native;
  return (
    <div class="settings-row">
      <Field label={words.unit}>
        <input
          class="input"
          list="settings-units"
          maxLength={MAX_UNIT}
          placeholder={formatUnit(own) || words.noUnit}
          title={words.unitTip}
          data-testid="settings-unit"
          value={draft.unit}
          onInput={(event) => onChange({ unit: event.currentTarget.value.trim() })}
        />
        <datalist id="settings-units">
          {unitsFor(native).map((unit) => (
            <option key={unit} value={unit}>
              {formatUnit(unit)}
            </option>
          ))}
        </datalist>
      </Field>
      <Field label={words.decimals}>
        <select
          class="input"
          data-testid="settings-decimals"
          value={draft.decimals}
          onChange={(event) => onChange({ decimals: event.currentTarget.value })}
        >
          <option value="">{words.automatic}</option>
          {Array.from({ length: MAX_DECIMALS + 1 }, (_, count) => (
            <option key={count} value={String(count)}>
              {count}
            </option>
          ))}
        </select>
      </Field>
    </div>
  );
}

function AxisFields({ draft, isLines, onChange }: Part & { isLines: boolean }) {
  const end = (name: 'min' | 'max') => (
    <Field label={words[name]}>
      <input
        class="input"
        inputMode="decimal"
        placeholder={words.automatic}
        data-testid={`settings-${name}`}
        value={draft[name]}
        onInput={(event) => onChange({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
  return (
    <div class="settings-row" title={isLines ? words.axisTip : undefined}>
      {end('min')}
      {end('max')}
      {isLines && (
        <label class="panel-toggle">
          <input
            type="checkbox"
            checked={draft.isLogarithmic}
            data-testid="settings-log"
            onChange={(event) => onChange({ isLogarithmic: event.currentTarget.checked })}
          />
          {words.logarithmic}
        </label>
      )}
    </div>
  );
}

function ColorFields(props: {
  lines: readonly { readonly id: string; readonly label: string; readonly color: number }[];
  colors: Readonly<Record<string, number>>;
  onChange: (colors: Readonly<Record<string, number>>) => void;
}) {
  const { lines, colors, onChange } = props;
  return (
    <fieldset class="settings-colors">
      <legend>{words.colors}</legend>
      {lines.slice(0, MAX_COLORED).map(({ id, label, color }) => (
        <div key={id} class="settings-color" role="radiogroup" aria-label={words.colorOf(label)}>
          <span class="settings-line">{label}</span>
          {Array.from({ length: SERIES_COLORS }, (_, index) => (
            <label key={index} class="settings-swatch" title={words.color(index + 1)}>
              <input
                type="radio"
                name={`color ${id}`}
                aria-label={words.color(index + 1)}
                checked={(colors[id] ?? color) === index}
                data-testid="settings-color"
                onChange={() => onChange({ ...colors, [id]: index })}
              />
              <span class={`legend-mark series-${index}`} aria-hidden="true" />
            </label>
          ))}
        </div>
      ))}
    </fieldset>
  );
}

/** What cannot be applied, in words. */
function problemOf(draft: Draft, native: readonly (string | undefined)[]): string | undefined {
  const { unit, min, max, isLogarithmic, thresholds } = draft;
  if (unit !== '' && native.length > 0 && !native.some((own) => conversion(own, unit)))
    return words.noConversion(unit, native.map((own) => formatUnit(own) || words.noUnit).join(', '));
  const [low, high] = [numberIn(min), numberIn(max)];
  if (Number.isNaN(low) || Number.isNaN(high)) return words.noNumber;
  if (low !== undefined && high !== undefined && low >= high) return words.order;
  if (isLogarithmic && ((low ?? 1) <= 0 || (high ?? 1) <= 0)) return words.aboveZero;
  return thresholds?.some(({ value }) => Number.isNaN(value)) ? words.noNumber : undefined;
}

function settingsOf({ title, unit, decimals, min, max, isLogarithmic, colors, thresholds }: Draft): object {
  return {
    title,
    unit,
    decimals: numberIn(decimals),
    min: numberIn(min),
    max: numberIn(max),
    isLogarithmic,
    colors,
    thresholds,
  };
}

/** A number with a point or a comma; NaN if it is none. */
function numberIn(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text.trim().replace(',', '.').replace('\u2212', '-'));
}
