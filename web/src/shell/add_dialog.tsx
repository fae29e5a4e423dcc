import { type ReadonlySignal, type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { ExpressionField } from '../components/expression_field.tsx';
import { panelChoices } from '../panels/descriptions.ts';
import { buildPanels, type Pick } from '../panels/shared/choices.ts';
import type { PanelChoice } from '../panels/shared/description.ts';
import { activeDock } from '../state/active_dock.ts';
import { openDialog } from '../state/dialogs.ts';
import { judge } from '../state/expressions.ts';
import { openPanels, panels, wantedChoice } from '../state/panels.ts';
import { readSchemas } from '../state/schemas.ts';
import { registry } from '../state/store.ts';
import { schemaOfTarget } from '../state/target_schema.ts';
import { addStrings as words } from './add_strings.ts';
import { candidates, InstanceList } from './instance_list.tsx';

const CHART = 'chart';

/** Adds panels: asks for the kind and the metrics. */
export function AddDialog() {
  const choice = useComputed(() => choiceNamed(wantedChoice.value));
  const texts = [useSignal(''), useSignal('')];
  const wanted = useSignal('');
  const picked = useSignal<readonly Pick[]>([]);
  const contents = useComputed(() => {
    const typed = choice.value.from === 'expressions' ? texts.slice(0, choice.value.count) : [];
    const expressions = typed.flatMap(({ value }) => readyIn(value));
    return buildPanels(choice.value, { picks: picked.value, expressions }, schemaOfTarget);
  }).value;
  useEffect(() => reset, []);
  useSignalEffect(() => void readSchemas(registry.value?.instances ?? []));
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
        <Kinds
          onChoose={() => {
            picked.value = [];
          }}
        />
        <p class="add-about">{choice.value.about}</p>
        {choice.value.from === 'expressions' && <TypedFields texts={texts.slice(0, choice.value.count)} />}
        {isPicked(choice.value) && <InstanceList choice={choice.value} wanted={wanted} picked={picked} />}
        <button
          type="submit"
          class="button button-main"
          disabled={contents.length === 0}
          data-testid="add-panel"
        >
          {words.add(contents.length)}
        </button>
        {contents.length === 0 && <FirstStep choice={choice} wanted={wanted} />}
      </form>
    </Dialog>
  );
}

function Kinds({ onChoose }: { onChoose: () => void }) {
  const chosen = wantedChoice.value;
  return (
    <fieldset class="add-kinds">
      <legend>{words.kind}</legend>
      {panelChoices.map(({ name, label }) => (
        <label key={name} class={name === chosen ? 'add-kind is-current' : 'add-kind'}>
          <input
            type="radio"
            name="kind"
            class="visually-hidden"
            checked={name === chosen}
            data-testid={`kind-${name}`}
            onChange={() => {
              wantedChoice.value = name;
              onChoose();
            }}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function TypedFields({ texts: [right, upward] }: { texts: readonly Signal<string>[] }) {
  const nothing = () => {};
  return (
    <>
      <ExpressionField
        value={right}
        {...(upward && { label: words.xAxis })}
        isAutoFocused={true}
        onEnter={nothing}
        onEscape={nothing}
      />
      {upward && (
        <ExpressionField
          value={upward}
          label={words.yAxis}
          testId="expression-upward"
          onEnter={nothing}
          onEscape={nothing}
        />
      )}
    </>
  );
}

/** What is to be done before there is a panel to add. */
function FirstStep({ choice, wanted }: { choice: ReadonlySignal<PanelChoice>; wanted: Signal<string> }) {
  const step = firstStep(choice.value);
  if (isPicked(choice.value) && candidates(choice.value, wanted.value).length === 0) return null;
  return (
    <p class="hint" data-testid="add-first">
      {step}
    </p>
  );
}

function firstStep(choice: PanelChoice): string {
  if (choice.from === 'expressions') return choice.count === 2 ? words.typeTwo : words.typeOne;
  return choice.from === 'instances' ? words.tickInstance : words.tickMetric;
}

function isPicked({ from }: PanelChoice): boolean {
  return from === 'metrics' || from === 'instances';
}

function readyIn(text: string): string[] {
  const found = judge(text);
  return found.state === 'ready' ? [found.text] : [];
}

function choiceNamed(wanted: string): PanelChoice {
  return panelChoices.find(({ name }) => name === wanted) ?? panelChoices[0];
}

/** The next dialog begins with a chart. */
function reset(): void {
  wantedChoice.value = CHART;
}
