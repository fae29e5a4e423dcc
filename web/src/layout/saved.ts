import { effect, signal } from '@preact/signals';
import { pageRoot, storedName } from '../api/page_root.ts';
import { zone } from '../format/zone.ts';
import { type HandOver, parseHandOver } from '../going_on/hand_over.ts';
import { decodeTargets, encodeTargets } from '../state/address.ts';
import { annotations } from '../state/annotations.ts';
import { arrival, arrive } from '../state/arrival.ts';
import { dashboard, isChanged } from '../state/dashboard.ts';
import { targetsOf } from '../state/panel_kinds.ts';
import { openPanels, panels, shownTargets } from '../state/panels.ts';
import { mustSignIn, who } from '../state/session.ts';
import { compareAgo, range } from '../state/time.ts';
import { isFields, withinDepth } from '../wire/fields.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { type LayoutDocument, parseLayout } from './document.ts';
import type { Geometry } from './geometry.ts';
import { pack, unpack } from './packed.ts';

/** The layout in the address (to share), in the browser's storage (to restore), and in files. */

const STORED = 'oasis.layout';
const VIEW = '#view=';
const PAUSE_MS = 300;

/** The places of the panels in the dock's last report. */
export const geometry = signal<Geometry | undefined>(undefined);
/** Counts loaded layouts. A change makes the dock place all panels again. */
export const loaded = signal(0);

export function currentLayout(): LayoutDocument {
  return {
    oasis: 'layout',
    version: 1,
    panels: panels.peek(),
    geometry: geometry.peek(),
    range: range.peek(),
    ...(compareAgo.peek() !== 0 && { ago: compareAgo.peek() }),
    annotations: annotations.peek(),
  };
}

/** A layout with the time that the page shows now, and what is drawn over it. */
export function atTimeShown({ range: _, ago: __, ...layout }: LayoutDocument): LayoutDocument {
  return { ...layout, ...(compareAgo.peek() !== 0 && { ago: compareAgo.peek() }) };
}

export function applyLayout(layout: LayoutDocument): void {
  geometry.value = layout.geometry;
  panels.value = layout.panels;
  if (layout.range) range.value = layout.range;
  compareAgo.value = layout.ago ?? 0;
  annotations.value = layout.annotations ?? [];
  loaded.value++;
}

/** An address that shows others what this page shows: its layout, and the time if it is paused. */
export async function sharedAddress(): Promise<string> {
  const { name } = dashboard.peek() ?? {};
  // The DAC keeps it: its short address is enough.
  if (name !== undefined && !isChanged.peek() && range.peek().live && compareAgo.peek() === 0)
    return location.href;
  const url = pageRoot();
  url.hash = await layoutFragment();
  return url.href;
}

/** The layout as the fragment of an address, with what the page of another DAC needs besides if this one goes on there. */
export async function layoutFragment(handOver?: HandOver): Promise<string> {
  return `${VIEW}${await pack(JSON.stringify({ ...currentLayout(), zone: zone.peek(), handOver }))}`;
}

/** Loads the layout of the address, or else the saved one, and takes what another page has handed over. Returns whether there was any layout. */
export async function load(): Promise<boolean> {
  window.addEventListener('hashchange', () => void fromAddress(undefined));
  const handOver = await handedOver();
  if (handOver) arrive(handOver);
  return fromAddress(stored());
}

async function handedOver(): Promise<HandOver | undefined> {
  const text = location.hash.startsWith(VIEW) ? await unpack(location.hash.slice(VIEW.length)) : undefined;
  const json: unknown = text === undefined ? undefined : parsed(text);
  return isFields(json) ? parseHandOver(json.handOver, Date.now()) : undefined;
}

async function fromAddress(before: LayoutDocument | undefined): Promise<boolean> {
  const { hash } = location;
  if (hash.startsWith(VIEW)) {
    const text = await unpack(hash.slice(VIEW.length));
    const layout = text === undefined ? undefined : parseText(text);
    // Both see the same times; the choice of this browser stays as it is.
    const json: unknown = text === undefined ? undefined : parsed(text);
    if (isFields(json) && json.zone === 'utc') zone.value = 'utc';
    // A page that is handed over before it has shown anything has no layout.
    if (layout && (layout.panels.length > 0 || arrival.peek() === undefined)) {
      applyLayout(layout);
      return true;
    }
  }
  const targets = decodeTargets(hash);
  if (targets && encodeTargets(targets) !== encodeTargets(shown(before))) {
    panels.value = [];
    openPanels(
      targets.flatMap((target) => [
        { kind: 'instance', target },
        { kind: 'auto', target },
      ]),
    );
    return true;
  }
  if (!before) return targets !== undefined;
  applyLayout(before);
  return true;
}

/** Keeps address and storage up to date. */
export function startSaving(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isFirst = true;
  effect(() => {
    void [panels.value, geometry.value, annotations.value, range.value];
    if (isFirst && panels.value.length === 0) return;
    isFirst = false;
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE_MS);
  });
  effect(() => {
    const wanted = encodeTargets(shownTargets.value);
    // Until the user has signed in, the address keeps all that it came with: signing in loads the page again.
    if (who.value === undefined || mustSignIn.value) return;
    // The browser takes some time for it, and a click must not wait.
    if (panels.value.length > 0 || !isFirst) setTimeout(() => replaceAddress(wanted));
  });
}

function save(): void {
  // A dashboard leaves the layout alone that this browser shows without one.
  if (dashboard.peek()) return;
  try {
    localStorage.setItem(
      storedName(STORED),
      JSON.stringify({ ...currentLayout(), range: undefined, ago: undefined }),
    );
  } catch {
    // Storage is not allowed: the address still contains the layout.
  }
}

function replaceAddress(hash: string): void {
  // Replacing the entry lets the back button leave the page.
  if (!dashboard.peek() && location.hash !== hash) history.replaceState(null, '', hash);
}

/** The instances that the panels of a layout show, as the address lists them. */
function shown(layout: LayoutDocument | undefined): Target[] {
  const found = new Map<string, Target>();
  for (const spec of layout?.panels ?? []) {
    for (const target of targetsOf(spec)) found.set(keyOf(target), target);
  }
  return [...found.values()];
}

function stored(): LayoutDocument | undefined {
  try {
    return parseText(localStorage.getItem(storedName(STORED)) ?? '');
  } catch {
    return undefined;
  }
}

function parseText(text: string): LayoutDocument | undefined {
  return parseLayout(parsed(text));
}

function parsed(text: string): unknown {
  try {
    return withinDepth(JSON.parse(text));
  } catch {
    return undefined;
  }
}
