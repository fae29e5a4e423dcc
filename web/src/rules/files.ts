import { numberIn, SEVERITIES, type Severity, textIn } from '../alarms/alarm.ts';
import { fetchJson } from '../api/api.ts';
import { type Fields, isFields, listOf, valuesOf } from '../wire/fields.ts';

/** Files of rules in the DAC (http-api.md, "rules"). */

/** An error or a warning in a text. Lines and columns count from 1; the end is exclusive. */
export interface Diagnostic {
  readonly code: string;
  /** Whether the rules run nevertheless. */
  readonly isWarning: boolean;
  readonly message: string;
  readonly help: string;
  readonly place: TextRange | undefined;
}

export interface TextRange {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export interface Rule {
  readonly name: string;
  /** `alarm`, `event`, `derive` or `check`. */
  readonly kind: string;
  /** Undefined for limits of PDL, and for what is not saved. */
  readonly file: string | undefined;
  readonly inputs: readonly string[];
  readonly severity: Severity | undefined;
  /** Of each instance, at most. */
  readonly memory: number;
  readonly instances: number;
}

export interface RuleFile {
  readonly name: string;
  readonly isEditable: boolean;
  /** `loaded`, `refused`, or `changed` until the engine has read it again. */
  readonly state: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface RuleList {
  readonly isEditable: boolean;
  readonly files: readonly RuleFile[];
  readonly rules: readonly Rule[];
}

/** What is wrong with a text, and what its rules would read. */
export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  readonly rules: readonly Rule[];
  /** Undefined if the text cannot be parsed. */
  readonly formatted: string | undefined;
}

export interface Stored {
  readonly text: string;
  readonly revision: string;
  readonly isEditable: boolean;
}

/** Longest text in bytes. */
export const MAX_RULES = 1 << 20;

export async function readRules(signal?: AbortSignal): Promise<RuleList> {
  return parseRuleList(await fetchJson('GET', 'rules', { ...(signal && { signal }) }));
}

export async function readFile(name: string): Promise<Stored> {
  return storedOf(await fetchJson('GET', path(name)));
}

/** Saves a text over the revision that was read; without one it is a new file. */
export async function saveFile(name: string, text: string, revision: string | undefined): Promise<Stored> {
  const body = { text, ...(revision !== undefined && { revision }) };
  return storedOf(await fetchJson('PUT', path(name), { body }));
}

export async function deleteFile(name: string, revision: string | undefined): Promise<void> {
  await fetchJson(
    'DELETE',
    revision === undefined ? path(name) : `${path(name)}?revision=${encodeURIComponent(revision)}`,
  );
}

export async function checkRules(text: string, signal?: AbortSignal): Promise<Checked> {
  const answer = await fetchJson('POST', 'rules/check', { body: { text }, ...(signal && { signal }) });
  const json = isFields(answer) ? answer : {};
  return {
    diagnostics: parseDiagnostics(json.diagnostics),
    rules: listOf(json.rules).map(ruleOf),
    formatted: typeof json.formatted === 'string' ? json.formatted : undefined,
  };
}

function path(name: string): string {
  return `rules/files/${encodeURIComponent(name)}`;
}

export function parseRuleList(answer: unknown): RuleList {
  const json = isFields(answer) ? answer : {};
  return {
    isEditable: json.editable === true,
    files: listOf(json.files).map((file) => ({
      name: textIn(file, 'name'),
      isEditable: file.editable === true,
      state: textIn(file, 'state'),
      diagnostics: parseDiagnostics(file.diagnostics),
    })),
    rules: listOf(json.rules).map(ruleOf),
  };
}

function ruleOf(json: Fields): Rule {
  return {
    name: textIn(json, 'name'),
    kind: textIn(json, 'kind'),
    file: textIn(json, 'file') || undefined,
    inputs: valuesOf(json.inputs).filter((input) => typeof input === 'string'),
    severity: SEVERITIES.find((known) => known === json.severity),
    memory: numberIn(json, 'memory_bytes') ?? 0,
    instances: numberIn(json, 'instances') ?? 0,
  };
}

export function parseDiagnostics(json: unknown): Diagnostic[] {
  return listOf(json).map((entry) => ({
    code: textIn(entry, 'code'),
    isWarning: entry.severity === 'warning',
    message: textIn(entry, 'message'),
    help: textIn(entry, 'help'),
    place: placeOf(entry),
  }));
}

function placeOf(json: Fields): TextRange | undefined {
  const [line, column] = [numberIn(json, 'line'), numberIn(json, 'column')];
  if (line === undefined || column === undefined) return undefined;
  return {
    line,
    column,
    endLine: numberIn(json, 'end_line') ?? line,
    endColumn: numberIn(json, 'end_column') ?? column + 1,
  };
}

function storedOf(answer: unknown): Stored {
  const json = isFields(answer) ? answer : {};
  // Not `textIn`: a file may be long.
  const text = typeof json.text === 'string' ? json.text : '';
  return { text, revision: textIn(json, 'revision'), isEditable: json.editable !== false };
}
