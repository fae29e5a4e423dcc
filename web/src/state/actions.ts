import { effect } from '@preact/signals';
import { startTitle } from '../alarms/count.ts';
import { followAlarms } from '../alarms/follow.ts';
import { StreamClient } from '../stream/client.ts';
import type { DoorName } from '../stream/doors/door.ts';
import type { CommandRequest } from '../stream/protocol.ts';
import type { Query, ViewResult } from '../stream/query.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { followAnnotations } from './annotations.ts';
import { followArchiveCondition } from './archive_condition.ts';
import { takeLeftOff } from './arrival.ts';
import { awaitView, forgetView, viewAnswered } from './awaited_views.ts';
import { awaited, newestOfAllAway } from './away.ts';
import { defaultChoice } from './choice.ts';
import { followHealth } from './dac_health.ts';
import { followDacs } from './dacs.ts';
import { dashboard, missing } from './dashboard.ts';
import { chosenDoor, storeDoor } from './door_choice.ts';
import { goOnWhenLost } from './going_on.ts';
import { startKeys } from './keys.ts';
import { followMarkers } from './markers.ts';
import { isViewOnly } from './mode.ts';
import { startTicking } from './now.ts';
import { followOtherPages } from './other_pages.ts';
import { dashboardInAddress, pageRoot } from './page_root.ts';
import { closeTarget, openPanels, panels, readTargets, shownTargets } from './panels.ts';
import { currentLayout, load, startSaving } from './saved.ts';
import { followSession, restoreFragment, signInByAddress } from './session.ts';
import { apply, cellsOf, forget, offView, onView, registry } from './store.ts';
import { takeTemLocation } from './tem_location.ts';
import { startTheme } from './theme.ts';
import { isWanted, wanted } from './wanted.ts';

const PATIENCE_MS = 600;
/** For nodes that come back after a restart of the DAC. */
const RETURN_PATIENCE_MS = 3000;

let client: StreamClient | undefined;
let lastView = 0;

export async function start(): Promise<void> {
  if (isViewOnly) void import('../dashboards/view_only.ts').then(({ startViewOnly }) => startViewOnly());
  startTheme();
  takeTemLocation();
  await signInByAddress();
  restoreFragment();
  startTitle();
  startKeys();
  client = new StreamClient(apply);
  client.start(pageRoot(), chosenDoor.peek());
  startTicking();
  followAlarms();
  followAnnotations();
  followMarkers(showView, hideView);
  followArchiveCondition();
  followHealth();
  followDacs();
  followOtherPages();
  goOnWhenLost(client);
  followSession();
  followPanels(client);
  await openFirst();
  startSaving();
  followChangesFromFirstUse();
}

/** Steps back need code that a page without a user does not; the layout before the first change is kept at once. */
function followChangesFromFirstUse(): void {
  const end = new AbortController();
  const begin = () => {
    end.abort();
    const before = currentLayout();
    void import('../dashboards/changes.ts').then(({ followChanges }) => followChanges(before));
  };
  for (const type of ['keydown', 'pointerdown'])
    window.addEventListener(type, begin, { capture: true, signal: end.signal });
}

/** Opens what the address names, or else what this browser has shown before, or else what a first visit shows. */
async function openFirst(): Promise<void> {
  // The back button leads to what the page has shown before.
  window.addEventListener('popstate', () => {
    if (dashboardInAddress() !== (dashboard.peek() ?? missing.peek())?.name) location.reload();
  });
  const name = dashboardInAddress();
  if (name !== undefined) {
    const { openByAddress } = await import('../dashboards/open.ts');
    await openByAddress(name);
  } else if (namesInstances() || !(await load())) chooseOnFirstSight();
  else awaitNewestIfAllAreAway();
  const { run } = wanted.peek();
  if (run !== undefined)
    void import('./run_in_address.ts').then(({ showRunOfAddress }) => showRunOfAddress(run));
}

/** Whether the address names a node or an instance, and no panels. */
function namesInstances(): boolean {
  const { node, instance } = wanted.peek();
  return (node ?? instance) !== undefined && location.hash === '';
}

/** Connects through a door, now and after a reload; without one, through the best that opens. */
export function chooseDoor(door: DoorName | undefined): void {
  storeDoor(door);
  client?.choose(door);
}

/** Opens the panels of an instance. */
export function watch(target: Target): void {
  const { node, instance } = target;
  const isShown = panels
    .peek()
    .some((spec) => spec.kind === 'instance' && keyOf(spec.target) === keyOf(target));
  if (isShown) return;
  openDefault([{ node, instance }]);
  // While any instance is live, the page stays at the present.
  const isAnyThere = shownTargets.peek().some((shown) => cellsOf(shown).entry.peek()?.state === 'online');
  awaited.value = isAnyThere ? '' : keyOf(target);
}

/** Waits for the nodes: a link or a saved layout may show only offline instances. */
function awaitNewestIfAllAreAway(): void {
  const stop = effect(() => {
    if (!registry.value) return;
    const entries = shownTargets.peek().map((target) => cellsOf(target).entry.peek());
    awaited.value = newestOfAllAway(entries, registry.value.nodes) ?? '';
    queueMicrotask(() => stop());
  });
}

export function unwatch(target: Target): void {
  closeTarget(target);
}

/** Opens a table, and beside it the panel that suits the instance best. */
export function openDefault(targets: readonly Target[]): void {
  openPanels(
    targets.flatMap((target) => [
      { kind: 'instance', target },
      { kind: 'auto', target },
    ]),
  );
}

export function command(target: Target, request: CommandRequest): void {
  client?.command(target, request);
}

/** Subscribes to the answers of a query. Returns the number for `hide`. */
export function showView(query: Query, draw: (result: ViewResult) => void): number {
  lastView++;
  awaitView(lastView);
  onView(lastView, (result) => {
    viewAnswered(result);
    draw(result);
  });
  client?.show(lastView, query);
  return lastView;
}

export function hideView(id: number): void {
  offView(id);
  forgetView(id);
  client?.hide(id);
}

/** Watches the instances that panels show or something has borrowed, and no others. */
function followPanels(stream: StreamClient): void {
  let before = new Map<string, Target>();
  effect(() => {
    const next = new Map(readTargets.value.map((target) => [keyOf(target), target]));
    for (const [key, target] of before) {
      if (next.has(key)) continue;
      stream.unwatch(target);
      forget(target);
    }
    for (const [key, target] of next) {
      if (before.has(key)) continue;
      cellsOf(target);
      stream.watch(target, takeLeftOff(target));
    }
    before = next;
  });
}

/**
 * Waits for the first instances, and a moment longer for a complete choice: a node that has just started
 * registers one instance after another.
 */
function chooseOnFirstSight(): void {
  const candidates = () => (registry.value?.instances ?? []).filter(isWanted);
  const settle = () => {
    const { targets } = defaultChoice(candidates());
    if (panels.peek().length === 0 && targets.length > 0) openDefault(targets);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let patience = Number.POSITIVE_INFINITY;
  const stop = effect(() => {
    const { targets, isComplete, isLive } = defaultChoice(candidates());
    if (isComplete) queueMicrotask(settle);
    const next = isLive ? PATIENCE_MS : RETURN_PATIENCE_MS;
    if (targets.length === 0 || next >= patience) return;
    patience = next;
    clearTimeout(timer);
    timer = setTimeout(() => {
      stop();
      settle();
    }, patience);
  });
}
