import { expressionStrings } from './strings.ts';

const words = expressionStrings.expressions;

/** A text that is no expression; the message is shown on the page. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

export interface Token {
  /** A `bracket` contains a unit or the name of an element: `[m/s2]`. */
  readonly kind: 'number' | 'name' | 'bracket' | 'symbol' | 'end';
  /** Of a name, without quotes; of a bracket, what is within. */
  readonly text: string;
  readonly isQuoted: boolean;
  /** Where it begins and ends in the text. */
  readonly at: number;
  readonly end: number;
}

/** Longest expression, in characters. */
export const MAX_TEXT = 500;

const SPACE = /\s*/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const QUOTED = /"(?:[^"\\]|\\.)*"/y;
const SYMBOL = /[-+*/^(),.]/y;

/** A name without quotes, as the lexer reads it. */
const PLAIN = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** Splits a text; the last token is an `end`. */
export function tokensOf(text: string): Token[] {
  if (text.length > MAX_TEXT) throw new ExpressionError(words.tooLong(MAX_TEXT));
  const found: Token[] = [];
  let at = match(SPACE, text, 0)?.length ?? 0;
  while (at < text.length) {
    const token = tokenAt(text, at);
    found.push(token);
    at = token.end + (match(SPACE, text, token.end)?.length ?? 0);
  }
  return [...found, { kind: 'end', text: '', isQuoted: false, at, end: at }];
}

function tokenAt(text: string, at: number): Token {
  const make = (kind: Token['kind'], raw: string, value = raw): Token => ({
    kind,
    text: value,
    isQuoted: raw !== value,
    at,
    end: at + raw.length,
  });
  const quoted = match(QUOTED, text, at);
  if (quoted !== undefined) return make('name', quoted, unquote(quoted));
  if (text[at] === '"') throw new ExpressionError(words.openQuote);
  if (text[at] === '[') {
    const bracket = bracketAt(text, at);
    return make('bracket', bracket, bracket.slice(1, -1).trim());
  }
  const number = match(NUMBER, text, at);
  if (number !== undefined) return make('number', number);
  const name = match(NAME, text, at);
  if (name !== undefined) return make('name', name);
  const symbol = match(SYMBOL, text, at);
  if (symbol !== undefined) return make('symbol', symbol);
  throw new ExpressionError(words.unexpected(String.fromCodePoint(text.codePointAt(at) ?? 0)));
}

/** Returns a bracket with all brackets in it: `[[in_i]/s]`. */
function bracketAt(text: string, at: number): string {
  let depth = 0;
  for (let end = at; end < text.length; end++) {
    if (text[end] === '[') depth++;
    else if (text[end] === ']') depth--;
    if (depth === 0) return text.slice(at, end + 1);
  }
  throw new ExpressionError(words.openBracket);
}

/** Writes a name as the lexer reads it. */
export function quoteName(name: string): string {
  return PLAIN.test(name) && name !== 'pi' ? name : JSON.stringify(name);
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw new ExpressionError(words.badQuote(quoted));
  }
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
