import { effect } from '@preact/signals';
import { dashboardInAddress } from '../api/page_root.ts';
import { startKeys } from '../commands/keys.ts';
import { currentLayout, load, startSaving } from '../layout/saved.ts';
import { connect, hideView, openDefault, showView } from '../state/actions.ts';
import { startTitle } from '../state/alarm_count.ts';
import { followAnnotations } from '../state/annotations.ts';
import { followArchiveCondition } from '../state/archive_condition.ts';
import { takeLeftOff } from '../state/arrival.ts';
import { awaited, newestOfAllAway } from '../state/away.ts';
import { byRegistration, defaultChoice } from '../state/choice.ts';
import { followHealth } from '../state/dac_health.ts';
import { followDacs } from '../state/dacs.ts';
import { dashboard, missing } from '../state/dashboard.ts';
import { acceptDroppedFiles } from '../state/dropped_files.ts';
import { followAlarms } from '../state/follow_alarms.ts';
import { followMarkers } from '../state/markers.ts';
import { isViewOnly } from '../state/mode.ts';
import { startTicking } from '../state/now.ts';
import { followOtherPages } from '../state/other_pages.ts';
import { panels, readTargets, shownTargets } from '../state/panels.ts';
import { followSession, restoreFragment, signInByAddress } from '../state/session.ts';
import { cellsOf, forget, registry } from '../state/store.ts';
import { takeTemLocation } from '../state/tem_location.ts';
import { startTheme } from '../state/theme.ts';
import { isWanted, wanted } from '../state/wanted.ts';
import type { StreamClient } from '../stream/client.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { goOnWhenLost } from './going_on.ts';

const FIRST_SIGHT_TIMEOUT_MS = 600;
/** For nodes that come back after a restart of the DAC. */
const RETURN_TIMEOUT_MS = 3000;

export async function start(): Promise<void> {
  if (isViewOnly) void import('../dashboards/view_only.ts').then(({ startViewOnly }) => startViewOnly());
  startTheme();
  takeTemLocation();
  await signInByAddress();
  restoreFragment();
  startTitle();
  startKeys();
  acceptDroppedFiles();
  const client = connect();
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
    if (isViewOnly) void import('../dashboards/cycle.ts').then(({ startCycle }) => startCycle(name));
  } else if (namesInstances() || !(await load())) chooseOnFirstSight();
  else awaitNewestIfAllAreAway();
  const { run } = wanted.peek();
  if (run !== undefined)
    void import('../state/run_in_address.ts').then(({ showRunOfAddress }) => showRunOfAddress(run));
}

/** Whether the address names a node or an instance, and no panels. */
function namesInstances(): boolean {
  const { node, instance } = wanted.peek();
  return (node ?? instance) !== undefined && location.hash === '';
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
  const candidates = () => byRegistration(registry.value?.instances ?? []).filter(isWanted);
  const settle = () => {
    const { targets } = defaultChoice(candidates());
    if (panels.peek().length === 0 && targets.length > 0) openDefault(targets);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let patience = Number.POSITIVE_INFINITY;
  const stop = effect(() => {
    const { targets, isComplete, isLive } = defaultChoice(candidates());
    if (isComplete) queueMicrotask(settle);
    const next = isLive ? FIRST_SIGHT_TIMEOUT_MS : RETURN_TIMEOUT_MS;
    if (targets.length === 0 || next >= patience) return;
    patience = next;
    clearTimeout(timer);
    timer = setTimeout(() => {
      stop();
      settle();
    }, patience);
  });
}
