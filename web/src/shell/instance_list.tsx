import type { Signal } from '@preact/signals';
import { TargetText } from '../components/name_text.tsx';
import { formatInteger } from '../format/number.ts';
import { type Pick, suits } from '../panels/shared/choices.ts';
import type { PanelChoice } from '../panels/shared/description.ts';
import { chosenKeys, registry } from '../state/store.ts';
import { schemaOfTarget } from '../state/target_schema.ts';
import { search, wordsOf } from '../state/tree.ts';
import type { InstanceEntry } from '../stream/protocol.ts';
import { keyOf } from '../wire/target.ts';
import { addStrings as words } from './add_strings.ts';

/** Most instances that are listed; a filter finds the others. */
const MAX_LISTED = 40;

/** The instances that a choice can show, each with its metrics to tick. */
export function InstanceList(props: {
  choice: PanelChoice;
  wanted: Signal<string>;
  picked: Signal<readonly Pick[]>;
}) {
  const { choice, wanted, picked } = props;
  const found = candidates(choice, wanted.value);
  const toggle = (pick: Pick) => {
    const same = (other: Pick) => keyOf(other.target) === keyOf(pick.target) && other.metric === pick.metric;
    const before = picked.value;
    picked.value = before.some(same) ? before.filter((other) => !same(other)) : [...before, pick];
  };
  return (
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
        {found.length === 0 && (
          <p class="hint" data-testid="add-nothing">
            {whyNothing(choice, wanted.value)}
          </p>
        )}
        {found.slice(0, MAX_LISTED).map((entry) => (
          <Choices
            key={keyOf(entry)}
            entry={entry}
            choice={choice}
            wanted={wordsOf(wanted.value)}
            picked={picked.value}
            onToggle={toggle}
          />
        ))}
        {found.length > MAX_LISTED && (
          <p class="hint">{words.more(formatInteger(found.length - MAX_LISTED))}</p>
        )}
      </div>
    </>
  );
}

/** Returns the instances that a choice can show, watched ones first. Reads signals. */
export function candidates(choice: PanelChoice, wanted: string): InstanceEntry[] {
  const isWatched = (entry: InstanceEntry) => chosenKeys.value.has(keyOf(entry));
  const found = (registry.value?.instances ?? []).filter(
    (entry) => suits(choice, schemaOfTarget(entry)) && search(entry, wordsOf(wanted)) !== undefined,
  );
  return [...found.filter(isWatched), ...found.filter((entry) => !isWatched(entry))];
}

/** Why no instance is listed. */
function whyNothing(choice: PanelChoice, wanted: string): string {
  const instances = registry.value?.instances ?? [];
  if (instances.length === 0) return words.noInstances;
  if (instances.some((entry) => !schemaOfTarget(entry))) return words.reading;
  const need = ('needs' in choice ? choice.needs : undefined) ?? words.anyMetric;
  return wordsOf(wanted).length > 0 ? words.noMatch(need) : words.noneHas(need);
}

function Choices(props: {
  entry: InstanceEntry;
  choice: PanelChoice;
  wanted: readonly string[];
  picked: readonly Pick[];
  onToggle: (pick: Pick) => void;
}) {
  const { entry, choice, wanted, picked } = props;
  const target = { node: entry.node, instance: entry.instance };
  const isPicked = (metric: string | undefined) =>
    picked.some((pick) => keyOf(pick.target) === keyOf(target) && pick.metric === metric);
  return (
    <fieldset class="add-target" data-testid="add-target">
      <legend>
        <TargetText target={target} />
      </legend>
      {picksOf(choice, entry, wanted).map(({ metric, label }) => (
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

/** Returns what can be ticked of an instance. */
function picksOf(
  choice: PanelChoice,
  entry: InstanceEntry,
  wanted: readonly string[],
): { metric: string | undefined; label: string }[] {
  if (choice.from !== 'metrics') return [{ metric: undefined, label: words.whole }];
  const fitting = (schemaOfTarget(entry)?.metrics ?? []).filter(choice.fits);
  // A filter for a metric leaves its like; one for an instance leaves all.
  const named = fitting.filter(({ name, label }) =>
    wanted.some((word) => `${name} ${label ?? ''}`.toLowerCase().includes(word)),
  );
  const metrics = named.length > 0 ? named : fitting;
  return metrics.map(({ name, label }) => ({ metric: name, label: label ?? name }));
}
