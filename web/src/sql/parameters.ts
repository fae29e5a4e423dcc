/** Parameters of a query that the time bar gives: nanoseconds since 1970. */
export interface TimeParameters {
  readonly from: bigint;
  readonly to: bigint;
}

/** Texts, names in quotes and comments, in which nothing is replaced; and the parameters. */
const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$(from|to)\b/g;

/** Writes `$from` and `$to` as numbers. */
export function withParameters(query: string, { from, to }: TimeParameters): string {
  return query.replace(TOKENS, (token, name: 'from' | 'to' | undefined) =>
    name === undefined ? token : String(name === 'from' ? from : to),
  );
}

/** Whether the time bar changes what a query means. */
export function hasParameters(query: string): boolean {
  for (const [, name] of query.matchAll(TOKENS)) if (name !== undefined) return true;
  return false;
}

/** Nanoseconds of a time in milliseconds. */
export function nanos(milliseconds: number): bigint {
  return BigInt(Math.max(0, Math.round(milliseconds))) * 1_000_000n;
}

/** The word that ends at the caret, and its first letters in lower case. */
export function wordBefore(text: string, caret: number): string {
  return /[\w.]*$/.exec(text.slice(0, caret))?.[0] ?? '';
}
