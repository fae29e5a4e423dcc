import type { Diagnostic, TextRange } from './files.ts';

/** Parts of a text of rules, by what they are. */
export type PartKind = 'plain' | 'comment' | 'quoted' | 'number' | 'keyword' | 'function' | 'name';

export interface Part {
  readonly kind: PartKind;
  readonly text: string;
  /** Whether an error is here. */
  readonly isWrong: boolean;
}

/** Longer texts are not colored, so that typing stays fast. */
const MAX_COLORED = 200_000;

const KEYWORDS = new Set([
  ...['input', 'alarm', 'event', 'derive', 'check', 'raise', 'clear', 'for', 'severity', 'latch', 'message'],
  ...['notify', 'on', 'on_unknown', 'when', 'then', 'within', 'every', 'after', 'always', 'and', 'or', 'not'],
  ...['last', 'at', 'most', 'samples', 'true', 'false'],
]);
const FUNCTIONS = new Set([
  ...['abs', 'sqrt', 'mean', 'min', 'max', 'sum', 'count', 'rate', 'rising', 'falling', 'silent', 'hold'],
  ...['linear', 'nearest'],
]);

const TOKEN =
  /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("[^"\n]*"?)|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[A-Za-z%]*)|([A-Za-z_]\w*)/g;

/** Splits a text into lines of colored parts. */
export function highlight(text: string, diagnostics: readonly Diagnostic[]): Part[][] {
  const wrong = diagnostics.flatMap(({ place }) => (place ? rangeOf(text, place) : []));
  const parts = text.length > MAX_COLORED ? [{ kind: 'plain' as const, text }] : colored(text);
  const lines: Part[][] = [[]];
  let at = 0;
  for (const part of parts) {
    for (const piece of cut(part.text, at, wrong)) {
      piece.text.split('\n').forEach((line, index) => {
        if (index > 0) lines.push([]);
        if (line !== '') lines.at(-1)?.push({ kind: part.kind, text: line, isWrong: piece.isWrong });
      });
    }
    at += part.text.length;
  }
  return lines;
}

function colored(text: string): { readonly kind: PartKind; readonly text: string }[] {
  const parts: { kind: PartKind; text: string }[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) parts.push({ kind: 'plain', text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    parts.push({ kind: kindOf(match, text.slice(end, end + 1)), text: match[0] });
  }
  if (end < text.length) parts.push({ kind: 'plain', text: text.slice(end) });
  return parts;
}

function kindOf([whole, comment, quoted, number]: RegExpExecArray, next: string): PartKind {
  if (comment !== undefined) return 'comment';
  if (quoted !== undefined) return 'quoted';
  if (number !== undefined) return 'number';
  if (FUNCTIONS.has(whole) && next === '(') return 'function';
  return KEYWORDS.has(whole) ? 'keyword' : 'name';
}

type Span = readonly [from: number, to: number];

/** Cuts a text that begins at a place where errors begin and end. */
function cut(text: string, at: number, wrong: readonly Span[]): { text: string; isWrong: boolean }[] {
  const end = at + text.length;
  const near = wrong.filter(([from, to]) => from < end && to > at);
  if (near.length === 0) return [{ text, isWrong: false }];
  const edges = [...new Set([at, end, ...near.flat().filter((edge) => edge > at && edge < end)])].sort(
    (one, other) => one - other,
  );
  return edges.slice(0, -1).map((from, index) => ({
    text: text.slice(from - at, edges[index + 1] - at),
    isWrong: near.some(([first, last]) => first <= from && last > from),
  }));
}

/** Where a place begins and ends in a text; at least one character. */
export function rangeOf(text: string, { line, column, endLine, endColumn }: TextRange): [number, number][] {
  const from = offsetOf(text, line, column);
  const to = offsetOf(text, endLine, endColumn);
  return [[from, Math.max(from + 1, to)]];
}

/** Returns the offset of a line and a column of characters, both from 1. */
export function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed++) {
    const end = text.indexOf('\n', at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  const end = text.indexOf('\n', at);
  const content = text.slice(at, end < 0 ? text.length : end);
  // Columns count characters, offsets count units of UTF-16.
  return at + [...content].slice(0, column - 1).join('').length;
}

/** Returns the line and the column of an offset, both from 0. */
export function placeAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const begin = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length - 1, column: before.length - begin };
}
