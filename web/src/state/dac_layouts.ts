import { signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { type Fields, isFields, listOf, withinDepth } from '../wire/fields.ts';

/** Dashboards: layouts saved in the DAC, for everybody who opens its page. */

/** A version of a dashboard. */
export interface DacVersion {
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly changed: number;
  /** Its author; empty if it was changed as a file. */
  readonly by: string;
}

export type DacLayout = DacVersion & { readonly name: string };

export const dacLayouts = signal<readonly DacLayout[]>([]);
/** Whether dashboards end with the DAC. */
export const endWithDac = signal(false);

export async function listLayouts(): Promise<void> {
  const answer = await fetchJson('GET', 'layouts');
  const { kept_in, layouts } = isFields(answer) ? answer : {};
  endWithDac.value = kept_in === 'memory';
  dacLayouts.value = listOf(layouts).flatMap((entry) =>
    typeof entry.name === 'string' ? { ...versionIn(entry), name: entry.name } : [],
  );
}

/** What is replaced: whatever is there, nothing, or a revision. */
export type Replaced = 'anything' | 'nothing' | number;

/** Saves a layout and returns its revision. */
export async function saveLayout(name: string, layout: Fields, replaced: Replaced): Promise<number> {
  let revision = 0;
  await fetchJson('PUT', path(name), {
    body: layout,
    headers: {
      ...(replaced === 'nothing' && { 'if-none-match': '*' }),
      ...(typeof replaced === 'number' && { 'if-match': `"${replaced}"` }),
    },
    onHeaders: (headers) => {
      revision = revisionIn(headers);
    },
  });
  await listLayouts();
  return revision;
}

/** Returns what the DAC keeps: the newest version, or an earlier one. */
export async function fetchLayout(
  name: string,
  revision?: number,
): Promise<{ readonly layout: Fields; readonly revision: number }> {
  let found = 0;
  const query = revision === undefined ? '' : `?revision=${revision}`;
  const answer = await fetchJson('GET', `${path(name)}${query}`, {
    onHeaders: (headers) => {
      found = revisionIn(headers);
    },
  });
  const layout = withinDepth(answer);
  return { layout: isFields(layout) ? layout : {}, revision: found };
}

/** The versions that the DAC keeps, newest first. */
export async function fetchVersions(name: string): Promise<DacVersion[]> {
  const answer = await fetchJson('GET', `${path(name)}/versions`);
  return listOf(isFields(answer) ? answer.versions : undefined).map(versionIn);
}

export async function deleteLayout(name: string): Promise<void> {
  await fetchJson('DELETE', path(name));
  await listLayouts();
}

function versionIn({ revision, changed, by }: Fields): DacVersion {
  return {
    revision: typeof revision === 'number' ? revision : 0,
    changed: typeof changed === 'number' ? changed / 1e6 : 0,
    by: typeof by === 'string' ? by : '',
  };
}

function revisionIn(headers: Headers): number {
  // A proxy that compresses makes the tag a weak one.
  return Number(/"(\d+)/.exec(headers.get('etag') ?? '')?.[1] ?? 0);
}

function path(name: string): string {
  return `layouts/${encodeURIComponent(name)}`;
}
