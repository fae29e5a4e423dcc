import { type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatInteger } from '../format/number.ts';
import { activeDock } from '../layout/active_dock.ts';
import {
  buildPanels,
  fits,
  isTyped,
  type Pick,
  suits,
  type WantedKind,
  wantedKinds,
} from '../panels/build.ts';
import type { PanelContent } from '../panels/spec.ts';
import { openDialog } from '../state/dialogs.ts';
import { judge } from '../state/expressions.ts';
import { openPanels, panels, wantedKind } from '../state/panels.ts';
import { readSchemas } from '../state/schemas.ts';
import { chosenKeys, registry } from '../state/store.ts';
import { schemaOfTarget } from '../state/target_schema.ts';
import { search, wordsOf } from '../state/tree.ts';
import type { InstanceEntry } from '../stream/protocol.ts';
import { keyOf } from '../stream/view.ts';
import { addStrings as words } from '../strings/add_panel.ts';
import { Dialog } from './dialog.tsx';
import { ExpressionField } from './expression_field.tsx';
import { TargetText } from './name_text.tsx';

/** Most instances that are listed; a filter finds the others. */
const MAX_LISTED = 40;

/** Adds panels: asks for the kind and the metrics. */
export function AddDialog() {
  const kind = wantedKind;
  const [text, upward] = [useSignal(''), useSignal('')];
  const wanted = useSignal('');
  const picked = useSignal<readonly Pick[]>([]);
  const typed = useComputed(() => typedPanel(kind.value, text.value, upward.value)).value;
  const contents = typed ?? buildPanels(kind.value, picked.value, schemaOfTarget);
  const found = useComputed(() => candidates(kind.value, wordsOf(wanted.value)));
  useEffect(() => reset, []);
  useSignalEffect(() => void readSchemas(registry.value?.instances ?? []));
  const toggle = (pick: Pick) => {
    const same = (other: Pick) => keyOf(other.target) === keyOf(pick.target) && other.metric === pick.metric;
    const before = picked.value;
    picked.value = before.some(same) ? before.filter((other) => !same(other)) : [...before, pick];
  };
  return (
    <Dialog title={words.title} testId="add">
      <form
        class="add-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (contents.length === 0) return;
          openPanels(contents);
          openDialog.value = undefined;
          const last = panels.peek().at(-1);
          if (last) activeDock()?.focus(last.id);
        }}
      >
        <fieldset class="add-kinds">
          <legend>{words.kind}</legend>
          {wantedKinds.map((name) => (
            <label key={name} class={name === kind.value ? 'add-kind is-current' : 'add-kind'}>
              <input
                type="radio"
                name="kind"
                class="visually-hidden"
                checked={name === kind.value}
                data-testid={`kind-${name}`}
                onChange={() => {
                  kind.value = name;
                  picked.value = [];
                }}
              />
              {words.kinds[name]}
            </label>
          ))}
        </fieldset>
        <p class="add-about">{words.about[kind.value]}</p>
        {isTyped(kind.value) && <TypedFields kind={kind.value} text={text} upward={upward} />}
        {!isTyped(kind.value) && !['text', 'sql', 'fleet'].includes(kind.value) && (
          <>
            <input
              class="input"
              type="search"
              placeholder={words.filter}
              aria-label={words.filter}
              value={wanted.value}
              onInput={(event) => {
                wanted.value = event.currentTarget.value;
              }}
            />
            <div class="add-metrics">
              {found.value.length === 0 && (
                <p class="hint" data-testid="add-nothing">
                  {whyNothing(kind.value, wanted.value)}
                </p>
              )}
              {found.value.slice(0, MAX_LISTED).map((entry) => (
                <Choices
                  key={keyOf(entry)}
                  entry={entry}
                  kind={kind.value}
                  wanted={wordsOf(wanted.value)}
                  picked={picked.value}
                  onToggle={toggle}
                />
              ))}
              {found.value.length > MAX_LISTED && (
                <p class="hint">{words.more(formatInteger(found.value.length - MAX_LISTED))}</p>
              )}
            </div>
          </>
        )}
        <button
          type="submit"
          class="button button-main"
          disabled={contents.length === 0}
          data-testid="add-panel"
        >
          {words.add(contents.length)}
        </button>
        {contents.length === 0 && (isTyped(kind.value) || found.value.length > 0) && (
          <p class="hint" data-testid="add-first">
            {firstStep(kind.value)}
          </p>
        )}
      </form>
    </Dialog>
  );
}

/** The panel of what somebody has typed; undefined for kinds of which metrics are picked. */
function typedPanel(kind: WantedKind, text: string, upward: string): PanelContent[] | undefined {
  if (!isTyped(kind)) return undefined;
  const expressions = (kind === 'xy' ? [text, upward] : [text]).flatMap((each) => {
    const found = judge(each);
    return found.state === 'ready' ? found.text : [];
  });
  if (kind === 'xy') return expressions.length === 2 ? [{ kind, expressions }] : [];
  return expressions.length === 1 ? [{ kind: 'series', sources: [], mode: 'lines', expressions }] : [];
}

function TypedFields(props: { kind: WantedKind; text: Signal<string>; upward: Signal<string> }) {
  const isXy = props.kind === 'xy';
  const nothing = () => {};
  return (
    <>
      <ExpressionField
        value={props.text}
        {...(isXy && { label: words.xAxis })}
        isAutoFocused={true}
        onEnter={nothing}
        onEscape={nothing}
      />
      {isXy && (
        <ExpressionField
          value={props.upward}
          label={words.yAxis}
          testId="expression-upward"
          onEnter={nothing}
          onEscape={nothing}
        />
      )}
    </>
  );
}

/** Why no instance is listed. */
function whyNothing(kind: WantedKind, wanted: string): string {
  const instances = registry.value?.instances ?? [];
  if (instances.length === 0) return words.noInstances;
  if (instances.some((entry) => !schemaOfTarget(entry))) return words.reading;
  const need = words.needs[kind] ?? words.anyMetric;
  return wordsOf(wanted).length > 0 ? words.noMatch(need) : words.noneHas(need);
}

/** What is to be done before there is a panel to add. */
function firstStep(kind: WantedKind): string {
  if (kind === 'xy') return words.typeTwo;
  if (kind === 'expression') return words.typeOne;
  return fits(kind, undefined) ? words.tickInstance : words.tickMetric;
}

/** The next dialog begins with a chart. */
function reset(): void {
  wantedKind.value = 'chart';
}

/** Returns the instances that a panel of a kind can show, watched ones first. */
function candidates(kind: WantedKind, wanted: readonly string[]): InstanceEntry[] {
  const isWatched = (entry: InstanceEntry) => chosenKeys.value.has(keyOf(entry));
  const found = (registry.value?.instances ?? []).filter(
    (entry) => suits(kind, schemaOfTarget(entry)) && search(entry, wanted) !== undefined,
  );
  return [...found.filter(isWatched), ...found.filter((entry) => !isWatched(entry))];
}

function Choices(props: {
  entry: InstanceEntry;
  kind: WantedKind;
  wanted: readonly string[];
  picked: readonly Pick[];
  onToggle: (pick: Pick) => void;
}) {
  const { entry, kind, wanted, picked } = props;
  const target = { node: entry.node, instance: entry.instance };
  const isPicked = (metric: string | undefined) =>
    picked.some((pick) => keyOf(pick.target) === keyOf(target) && pick.metric === metric);
  const fitting = (schemaOfTarget(target)?.metrics ?? []).filter((metric) => fits(kind, metric));
  // A filter for a metric leaves its like; one for an instance leaves all.
  const named = fitting.filter(({ name, label }) =>
    wanted.some((word) => `${name} ${label ?? ''}`.toLowerCase().includes(word)),
  );
  const metrics = named.length > 0 ? named : fitting;
  const choices: { metric: string | undefined; label: string }[] = fits(kind, undefined)
    ? [{ metric: undefined, label: words.whole }]
    : metrics.map((metric) => ({ metric: metric.name, label: metric.label ?? metric.name }));
  return (
    <fieldset class="add-target" data-testid="add-target">
      <legend>
        <TargetText target={target} />
      </legend>
      {choices.map(({ metric, label }) => (
        <label key={metric ?? ''} class="add-metric">
          <input
            type="checkbox"
            checked={isPicked(metric)}
            data-testid={`pick-${target.instance}-${metric ?? ''}`}
            onChange={() => props.onToggle({ target, metric })}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
