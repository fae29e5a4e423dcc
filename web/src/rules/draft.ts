import { computed, effect, signal } from '@preact/signals';
import { Refusal } from '../api/api.ts';
import { storedName } from '../api/page_root.ts';
import { isFields } from '../wire/fields.ts';
import { type Diagnostic, deleteFile, MAX_RULES, parseDiagnostics, readFile, saveFile } from './files.ts';

/** The text that somebody writes. It stays while the panel is closed, and over a reload of the page. */

export interface Draft {
  readonly name: string;
  readonly text: string;
  /** Revision and text that it began with; undefined for a new file. */
  readonly revision: string | undefined;
  readonly saved: string | undefined;
  /** Whether the configuration names the file: it can be tried here, and not saved. */
  readonly isFixed?: boolean;
}

const STORED = 'oasis.rule-draft';
const ENDING = '.rules';

export const draft = signal<Draft | undefined>(undefined);

export const isChanged = computed(() => draft.value !== undefined && draft.value.text !== draft.value.saved);

/** Whether the list is shown although there is a draft. */
export const isSetAside = signal(false);

/** Why the DAC has refused the text; empty otherwise. */
export const refused = signal<readonly Diagnostic[]>([]);

export function write(text: string): void {
  const before = draft.peek();
  if (before && before.text !== text) draft.value = { ...before, text };
  refused.value = [];
}

export function rename(name: string): void {
  const before = draft.peek();
  if (before) draft.value = { ...before, name };
}

export function begin(name: string, text: string): void {
  show({ name, text, revision: undefined, saved: undefined });
}

export async function open(name: string): Promise<void> {
  const { text, revision, isEditable } = await readFile(name);
  show({ name, text, revision, saved: text, isFixed: !isEditable });
}

export function discard(): void {
  show(undefined);
}

function show(next: Draft | undefined): void {
  draft.value = next;
  refused.value = [];
  isSetAside.value = false;
}

/** Saves the text. A text with errors is not saved: they are in {@link refused} then. */
export async function save(): Promise<void> {
  const before = draft.peek();
  if (!before) return;
  const { text, revision } = before;
  const name = fileNameOf(before.name);
  try {
    const stored = await saveFile(name, text, revision);
    const now = draft.peek();
    // The user may have typed meanwhile.
    if (now) draft.value = { ...now, name, revision: stored.revision, saved: text };
  } catch (error) {
    if (error instanceof Refusal) refused.value = parseDiagnostics(error.problem.diagnostics);
    throw error;
  }
}

export async function remove(): Promise<void> {
  const { name, revision } = draft.peek() ?? {};
  if (name === undefined || revision === undefined) return;
  await deleteFile(name, revision);
  discard();
}

/** Replaces the revision that the text began with by the one of the DAC: the next save overwrites it. */
export async function takeOver(): Promise<void> {
  const before = draft.peek();
  if (!before) return;
  const { text, revision } = await readFile(before.name);
  draft.value = { ...before, revision, saved: text };
}

export function fileNameOf(name: string): string {
  const trimmed = name.trim();
  return trimmed.endsWith(ENDING) ? trimmed : `${trimmed}${ENDING}`;
}

/** Whether the DAC takes a name: plain letters, because it becomes the name of a file. */
export function isFileName(name: string): boolean {
  const whole = fileNameOf(name);
  return /^[A-Za-z0-9][-\w.]*\.rules$/.test(whole) && whole.length <= 64;
}

let isKept = false;

/** Restores the text of this tab, and keeps what is written from now on. */
export function keepDraft(): void {
  if (isKept) return;
  isKept = true;
  draft.value ??= stored();
  effect(() => {
    const text = draft.value && isChanged.value ? JSON.stringify(draft.value) : '';
    try {
      if (text === '') sessionStorage.removeItem(storedName(STORED));
      else if (text.length <= 2 * MAX_RULES) sessionStorage.setItem(storedName(STORED), text);
    } catch {
      // Without storage it stays in the memory of the page.
    }
  });
}

function stored(): Draft | undefined {
  try {
    const json: unknown = JSON.parse(sessionStorage.getItem(storedName(STORED)) ?? 'null');
    if (!isFields(json) || typeof json.name !== 'string' || typeof json.text !== 'string') return undefined;
    const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
    const [revision, saved, isFixed] = [text(json.revision), text(json.saved), json.isFixed === true];
    return { name: json.name, text: json.text, revision, saved, isFixed };
  } catch {
    return undefined;
  }
}
