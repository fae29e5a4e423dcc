import { signal } from '@preact/signals';
import { type LayoutDocument, parseLayout } from '../layout/document.ts';
import { ask } from './api.ts';

/** Layouts saved in the DAC, for everybody who opens its page. */

export interface DacLayout {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly changed: number;
}

export const dacLayouts = signal<readonly DacLayout[]>([]);

export async function listLayouts(): Promise<void> {
  const { layouts } = (await ask('GET', 'layouts')) as { layouts: { name: string; changed: number }[] };
  dacLayouts.value = layouts.map(({ name, changed }) => ({ name, changed: changed / 1e6 }));
}

export async function saveLayout(name: string, layout: LayoutDocument): Promise<void> {
  await ask('PUT', path(name), { body: layout });
  await listLayouts();
}

/** Returns nothing if the saved text is not a layout of this page. */
export async function fetchLayout(name: string): Promise<LayoutDocument | undefined> {
  return parseLayout(await ask('GET', path(name)));
}

export async function deleteLayout(name: string): Promise<void> {
  await ask('DELETE', path(name));
  await listLayouts();
}

function path(name: string): string {
  return `layouts/${encodeURIComponent(name)}`;
}
