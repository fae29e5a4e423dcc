import type { Metric } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { activeDock } from '../layout/active_dock.ts';
import { buildPanels, fits, type Pick, type WantedKind, wantedKinds } from '../panels/build.ts';
import { openDialog } from '../state/dialogs.ts';
import { openPanels, panels, shownTargets } from '../state/panels.ts';
import { cellsOf } from '../state/store.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { Dialog } from './dialog.tsx';

const words = strings.add;

/** Adds panels: asks for the kind and the metrics. */
export function AddDialog() {
  const kind = useSignal<WantedKind>('chart');
  const wanted = useSignal('');
  const picked = useSignal<readonly Pick[]>([]);
  const contents = buildPanels(kind.value, picked.value);
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
          {shownTargets.value.length === 0 && <p class="hint">{words.nothing}</p>}
          {shownTargets.value.map((target) => (
            <Choices
              key={keyOf(target)}
              target={target}
              kind={kind.value}
              wanted={wanted.value.trim().toLowerCase()}
              picked={picked.value}
              onToggle={toggle}
            />
          ))}
        </div>
        <button
          type="submit"
          class="button button-main"
          disabled={contents.length === 0}
          data-testid="add-panel"
        >
          {words.add(contents.length)}
        </button>
      </form>
    </Dialog>
  );
}

function Choices(props: {
  target: Target;
  kind: WantedKind;
  wanted: string;
  picked: readonly Pick[];
  onToggle: (pick: Pick) => void;
}) {
  const { target, kind, wanted, picked } = props;
  const metrics = cellsOf(target).status.value?.schema?.metrics ?? [];
  const isPicked = (metric: string | undefined) =>
    picked.some((pick) => keyOf(pick.target) === keyOf(target) && pick.metric === metric);
  const matches = (metric: Metric) =>
    fits(kind, metric) &&
    `${target.instance} ${metric.name} ${metric.label ?? ''}`.toLowerCase().includes(wanted);
  const choices: { metric: string | undefined; label: string }[] = fits(kind, undefined)
    ? [{ metric: undefined, label: words.whole }]
    : metrics.filter(matches).map((metric) => ({ metric: metric.name, label: metric.label ?? metric.name }));
  if (choices.length === 0) return null;
  return (
    <fieldset class="add-target">
      <legend title={target.node}>{target.instance}</legend>
      {choices.map(({ metric, label }) => (
        <label key={label} class="add-metric">
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
