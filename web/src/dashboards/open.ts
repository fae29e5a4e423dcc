import { effect } from '@preact/signals';
import { Refusal } from '../api/api.ts';
import { pageRoot } from '../api/page_root.ts';
import { parseLayout } from '../layout/document.ts';
import { applyLayout, atTimeShown, currentLayout } from '../layout/saved.ts';
import { deleteLayout, fetchLayout, listLayouts, type Replaced, saveLayout } from '../state/dac_layouts.ts';
import { conflict, type Dashboard, dashboard, missing } from '../state/dashboard.ts';
import { openDialog } from '../state/dialogs.ts';
import { mustSignIn } from '../state/session.ts';
import { isConnected, registry } from '../state/store.ts';
import { strings } from '../strings/strings.ts';
import type { Fields } from '../wire/fields.ts';
import { beginAt } from './changes.ts';
import { kept } from './kept.ts';
import { instancesWanted, isTemplate, matchingNodes, withNode, withVariable } from './template.ts';

/** Opens the dashboard of the address, as soon as the DAC answers. */
export async function openByAddress(name: string): Promise<void> {
  try {
    await open(name, nodeInAddress());
  } catch (error) {
    if (error instanceof Refusal)
      await tellMissing(name, error.code === 'unknown_layout' ? '' : error.message);
    else {
      missing.value = { name, problem: String(error instanceof Error ? error.message : error) };
      onNextConnection(() => void openByAddress(name));
    }
  }
}

async function tellMissing(name: string, problem: string): Promise<void> {
  if (mustSignIn.peek()) return;
  missing.value = { name, problem };
  await listLayouts().catch(() => undefined);
}

function onNextConnection(act: () => void): void {
  const stop = effect(() => {
    if (!isConnected.value) return;
    queueMicrotask(() => {
      stop();
      act();
    });
  });
}

/** Opens a dashboard, and writes it to the address. */
export async function openDashboard(name: string): Promise<void> {
  await open(name, undefined);
  history.pushState(null, '', addressOf({ name }));
  rememberNode();
}

/** Opens a dashboard of a cycle for the node that is chosen, and leaves the address as it is. */
export async function openNext(name: string): Promise<void> {
  await open(name, nodeInAddress());
}

async function open(name: string, wantedNode: string | undefined): Promise<void> {
  const { layout, revision } = await fetchLayout(name);
  if (!parseLayout(layout)) throw new Refusal(strings.layouts.notALayout(name), 'not_a_layout');
  missing.value = undefined;
  conflict.value = undefined;
  kept.value = layout;
  const node = isTemplate(layout) ? (wantedNode ?? (await defaultNode(layout))) : undefined;
  dashboard.value = { name, revision, node };
  show(layout, node);
}

/** Shows a layout that the DAC keeps. */
function show(layout: Fields, node: string | undefined): void {
  const shown = parseLayout(node === undefined ? layout : withNode(layout, node));
  if (!shown) return;
  applyLayout(shown);
  beginAt(currentLayout());
}

/** The node that the dashboard was saved with, or else the first that has its instances. */
export async function defaultNode(layout: Fields): Promise<string> {
  if (typeof layout.node === 'string') return layout.node;
  await new Promise<void>((resolve) => {
    const stop = effect(() => {
      if (!registry.value) return;
      queueMicrotask(() => {
        stop();
        resolve();
      });
    });
  });
  return matchingNodes(registry.peek()?.instances ?? [], instancesWanted(layout))[0] ?? '';
}

/** Shows the same for another node; what was changed stays changed. */
export function chooseNode(node: string): void {
  const shown = dashboard.peek();
  if (shown?.node === undefined) return;
  const template = withVariable({ ...currentLayout() }, shown.node, kept.peek());
  dashboard.value = { ...shown, node };
  const before = parseLayout(withNode(kept.peek(), node));
  const layout = parseLayout(withNode(template, node));
  if (!layout) return;
  applyLayout(atTimeShown(layout));
  if (before) beginAt({ ...before, geometry: before.geometry ?? layout.geometry }, true);
  rememberNode();
}

/** Saves the layout of the page under a name. `isForAny` makes a template of it: see `withVariable`. */
export async function saveDashboard(
  name: string,
  replaced: Replaced,
  isForAny: string | undefined = dashboard.peek()?.node,
): Promise<void> {
  const layout = { ...currentLayout() };
  const body: Fields =
    isForAny === undefined ? layout : { ...withVariable(layout, isForAny, kept.peek()), node: isForAny };
  try {
    const revision = await saveLayout(name, body, replaced);
    const isOther = dashboard.peek()?.name !== name;
    kept.value = body;
    conflict.value = undefined;
    missing.value = undefined;
    dashboard.value = { name, revision, node: isForAny };
    beginAt(currentLayout(), true);
    if (isOther) history.pushState(null, '', addressOf(dashboard.peek()));
    rememberNode();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'layout_changed') throw error;
    await listLayouts();
    conflict.value = { name, problem: error.message };
    openDialog.value = 'layout';
  }
}

/** Saves over the revision that the page shows, or over another one. */
export async function saveOpen(replaced = dashboard.peek()?.revision): Promise<void> {
  const shown = dashboard.peek();
  if (shown) await saveDashboard(shown.name, replaced || 'nothing');
}

/** Shows an earlier version, which is not saved. */
export async function lookAt(revision: number): Promise<void> {
  const shown = dashboard.peek();
  if (!shown) return;
  const { layout } = await fetchLayout(shown.name, revision);
  const node = isTemplate(layout) ? (shown.node ?? (await defaultNode(layout))) : undefined;
  const version = parseLayout(node === undefined ? layout : withNode(layout, node));
  if (!version) throw new Error(strings.layouts.notALayout(shown.name));
  dashboard.value = { ...shown, node };
  applyLayout(atTimeShown(version));
}

export async function deleteDashboard(name: string): Promise<void> {
  await deleteLayout(name);
  const shown = dashboard.peek();
  if (shown?.name === name) dashboard.value = { ...shown, revision: 0 };
}

/** The address of a dashboard, and of the chosen node. */
export function addressOf(shown: Pick<Dashboard, 'name' | 'node'> | undefined): string {
  const root = pageRoot();
  if (!shown) return root.href;
  const url = new URL(`d/${encodeURIComponent(shown.name)}`, root);
  if (shown.node !== undefined) url.searchParams.set('node', shown.node);
  return url.href;
}

function nodeInAddress(): string | undefined {
  return new URLSearchParams(location.search).get('node') ?? undefined;
}

/** Writes the chosen node to the address, and leaves the rest of it as it is. */
function rememberNode(): void {
  const url = new URL(location.href);
  const node = dashboard.peek()?.node;
  if (node === undefined) url.searchParams.delete('node');
  else url.searchParams.set('node', node);
  url.hash = '';
  if (url.href !== location.href) history.replaceState(null, '', url);
}
