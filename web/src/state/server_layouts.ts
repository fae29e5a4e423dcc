import { signal } from '@preact/signals';
import { type LayoutDocument, parseLayout } from '../layout/document.ts';

/** Layouts saved in the DAC, for everybody who opens its page. */

export interface ServerLayout {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly changed: number;
}

export const serverLayouts = signal<readonly ServerLayout[]>([]);

export async function listLayouts(): Promise<void> {
  const answer = await ask('GET', '');
  const { layouts } = (await answer.json()) as { layouts: { name: string; changed: number }[] };
  serverLayouts.value = layouts.map(({ name, changed }) => ({ name, changed: changed / 1e6 }));
}

export async function saveLayout(name: string, layout: LayoutDocument): Promise<void> {
  await ask('PUT', name, JSON.stringify(layout));
  await listLayouts();
}

/** Nothing if what is saved there is no layout of this page. */
export async function fetchLayout(name: string): Promise<LayoutDocument | undefined> {
  return parseLayout(await (await ask('GET', name)).json());
}

export async function deleteLayout(name: string): Promise<void> {
  await ask('DELETE', name);
  await listLayouts();
}

/** Throws an error whose message is for people. */
async function ask(method: string, name: string, body?: string): Promise<Response> {
  const path = name === '' ? '' : `/${encodeURIComponent(name)}`;
  const answer = await fetch(new URL(`api/v1/layouts${path}`, document.baseURI), {
    method,
    body,
    cache: 'no-store',
  });
  if (answer.ok) return answer;
  const problem = (await answer.json().catch(() => undefined)) as { detail?: unknown } | undefined;
  throw new Error(typeof problem?.detail === 'string' ? problem.detail : `HTTP ${answer.status}`);
}
