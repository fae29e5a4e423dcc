import type { Metric } from '@oasis/wire';
import { formatHertz, shortType } from '../format/name.ts';
import { addToChart } from '../panels/series/more_metrics.ts';
import { isNumber, isScalar } from '../series/metrics.ts';
import { can } from '../state/abilities.ts';
import { unwatch, watch } from '../state/actions.ts';
import { activeDock } from '../state/active_dock.ts';
import { editLabels, labelsOf, pairsOf } from '../state/labels.ts';
import { isViewOnly } from '../state/mode.ts';
import { targetsOf } from '../state/panel_kinds.ts';
import { titleOf } from '../state/panel_titles.ts';
import { openPanels, panels, revealed } from '../state/panels.ts';
import { readSchemas } from '../state/schemas.ts';
import { mayAdminister } from '../state/session.ts';
import { chosenKeys, registry } from '../state/store.ts';
import { schemaOfTarget } from '../state/target_schema.ts';
import { type CommandRequest, type InstanceEntry, isRate } from '../stream/protocol.ts';
import { strings } from '../strings/strings.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { askDac, giveCommand } from './dac_requests.ts';
import type { PaletteEntry, PaletteLevel } from './entry.ts';

const words = strings.palette;
/** Rates that are offered before one is typed. */
const RATES = [1, 10, 50, 100, 1000] as const;

export async function prepareInstances(): Promise<void> {
  await readSchemas(registry.peek()?.instances ?? []);
}

/** All instances, watched ones first. */
function sorted(): readonly InstanceEntry[] {
  const all = registry.peek()?.instances ?? [];
  const isWatched = (entry: InstanceEntry) => chosenKeys.peek().has(keyOf(entry));
  return [...all.filter(isWatched), ...all.filter((entry) => !isWatched(entry))];
}

export function* instanceEntries(): Iterable<PaletteEntry> {
  for (const entry of sorted()) yield instanceEntry(entry);
}

function instanceEntry(entry: InstanceEntry): PaletteEntry {
  const isWatched = chosenKeys.peek().has(keyOf(entry));
  const state = entry.state !== 'online' ? words.offline : isWatched ? words.watched : '';
  return {
    id: `instance ${keyOf(entry)}`,
    kind: 'instance',
    title: entry.instance,
    detail: [words.on(entry.node), shortType(entry.type), state].filter(Boolean).join(' \u00b7 '),
    words: pairsOf(labelsOf(entry)).join(' '),
    run: () => goTo(entry),
    actions: () => actionsOf(entry),
  };
}

/** Brings the panels of an instance to the front; opens them if there are none. */
function goTo(entry: InstanceEntry): void {
  const { node, instance } = entry;
  watch({ node, instance });
  const key = keyOf(entry);
  const first = panels.peek().find((spec) => targetsOf(spec).some((target) => keyOf(target) === key));
  if (first) reveal(first.id);
}

/** Brings a panel to the front. */
export function reveal(id: string): void {
  activeDock()?.focus(id);
  revealed.value = { id };
}

export function* metricEntries(): Iterable<PaletteEntry> {
  for (const entry of sorted()) {
    for (const metric of schemaOfTarget(entry)?.metrics ?? []) yield metricEntry(entry, metric);
  }
}

function metricEntry(entry: InstanceEntry, metric: Metric): PaletteEntry {
  return {
    id: `metric ${keyOf(entry)} ${metric.name}`,
    kind: 'metric',
    title: words.of(metric.name, entry.instance),
    detail: [metric.label, words.on(entry.node)].filter(Boolean).join(' \u00b7 '),
    run: () => openMetric({ node: entry.node, instance: entry.instance }, metric),
    ...(isNumber(metric) && !isViewOnly && { actions: () => chartsFor(entry, metric) }),
  };
}

/** Open charts that can take a metric. */
function chartsFor({ node, instance }: InstanceEntry, { name }: Metric): PaletteLevel {
  const charts = panels.peek().filter((spec) => spec.kind === 'series' && spec.mode === 'lines');
  const entries = charts.map(
    (spec): PaletteEntry => ({
      id: `add-to ${spec.id} ${keyOf({ node, instance })} ${name}`,
      kind: 'panel',
      title: words.addTo(titleOf(spec)),
      run: () => {
        addToChart(spec.id, { target: { node, instance }, metric: name });
        reveal(spec.id);
      },
    }),
  );
  return { title: words.of(name, instance), entries: () => entries };
}

/** Opens the panel that suits a metric best. */
function openMetric(target: Target, metric: Metric): void {
  const sources = [{ target, metrics: [metric.name] }];
  if (isNumber(metric)) openPanels([{ kind: 'series', sources, mode: 'lines' }]);
  else if (isScalar(metric)) openPanels([{ kind: 'states', sources }]);
  else openPanels([{ kind: 'instance', target }]);
  const last = panels.peek().at(-1);
  if (last) reveal(last.id);
}

/** The commands of all instances that can take them. */
export function* controlEntries(): Iterable<PaletteEntry> {
  for (const entry of sorted()) yield* controlsOf(entry);
}

function actionsOf(entry: InstanceEntry): PaletteLevel {
  const { node, instance } = entry;
  const isWatched = chosenKeys.peek().has(keyOf(entry));
  const watching: PaletteEntry = isWatched
    ? control(entry, 'unwatch', words.unwatch(instance), { run: () => unwatch(entry) })
    : control(entry, 'watch', words.watch(instance), { run: () => watch({ node, instance }) });
  const entries = [
    control(entry, 'go', words.goTo(instance), { run: () => goTo(entry) }),
    watching,
    ...controlsOf(entry),
    ...(schemaOfTarget(entry)?.metrics ?? []).map((metric) => metricEntry(entry, metric)),
  ];
  return { title: words.actions(placeOf(entry)), entries: () => entries };
}

function* controlsOf(entry: InstanceEntry): Iterable<PaletteEntry> {
  const { node, instance } = entry;
  yield control(entry, 'labels', words.labels(instance), { run: () => editLabels(entry) });
  if (entry.state === 'online' && !entry.replay) {
    if (can(entry, 'sample-now')) yield command(entry, words.sampleNow, { command: 'sample-now' });
    if (can(entry, 'hertz')) yield rateEntry(entry);
    if (can(entry, 'trigger')) yield command(entry, words.trigger, { command: 'trigger' });
    if (can(entry, 'demand-off')) yield command(entry, words.follow, { command: 'demand-off' });
    if (can(entry, 'reset')) yield command(entry, words.reset, { command: 'reset' });
    if (!entry.enabled) yield command(entry, words.enable, { command: 'enable' });
    else {
      const sure = words.sureToDisable(instance, node);
      yield { ...command(entry, words.disable, { command: 'disable' }), sure };
    }
  }
  if (entry.state !== 'online' && mayAdminister.peek()) {
    yield control(entry, 'forget', words.forget(instance), {
      sure: words.sureToForget(instance, node),
      run: () => askDac(words.forget(placeOf(entry)), 'DELETE', `instances/${entry.id}`),
    });
  }
}

/** Nodes that are gone for good can be forgotten. */
export function* nodeEntries(): Iterable<PaletteEntry> {
  if (!mayAdminister.peek()) return;
  for (const { name, state } of registry.peek()?.nodes ?? []) {
    if (state === 'online') continue;
    const title = words.forgetNode(name);
    yield {
      id: `forget-node ${name}`,
      kind: 'control',
      title,
      sure: words.sureToForgetNode(name),
      run: () => askDac(title, 'DELETE', `nodes/${encodeURIComponent(name)}`),
    };
  }
}

function rateEntry(entry: InstanceEntry): PaletteEntry {
  const { instance } = entry;
  const set = (hertz: number): PaletteEntry => {
    const titleFor = (name: string) => words.rateOf(formatHertz(hertz), name);
    return {
      ...command(entry, titleFor, { command: 'hertz', hertz }),
      id: `hertz ${hertz} ${keyOf(entry)}`,
    };
  };
  const level: PaletteLevel = {
    title: words.rate(placeOf(entry)),
    placeholder: words.rateField,
    isValue: true,
    entries: (typed) => {
      const wanted = Number(typed);
      if (typed.trim() === '') return RATES.map(set);
      return isRate(wanted) ? [set(wanted)] : [];
    },
  };
  return control(entry, 'hertz', words.rate(instance), { level: () => level });
}

/** A command for an instance. The result names the node, too: it stands alone. */
function command(
  entry: InstanceEntry,
  titleFor: (name: string) => string,
  request: CommandRequest,
): PaletteEntry {
  return control(entry, request.command, titleFor(entry.instance), {
    run: () => giveCommand(entry, request, titleFor(placeOf(entry))),
  });
}

function placeOf({ node, instance }: Target): string {
  return `${instance} ${words.on(node)}`;
}

function control(
  entry: InstanceEntry,
  name: string,
  title: string,
  what: Pick<PaletteEntry, 'run' | 'level' | 'sure'>,
): PaletteEntry {
  return { id: `${name} ${keyOf(entry)}`, kind: 'control', title, detail: words.on(entry.node), ...what };
}
