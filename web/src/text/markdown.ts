/**
 * The part of Markdown that a panel shows: headings, paragraphs, lists, quotes, code, rules, emphasis and links, and values
 * in double braces. It becomes data, never HTML: whatever a text contains stays text.
 */

export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis'; readonly of: readonly Inline[] }
  | { readonly kind: 'link'; readonly address: string; readonly of: readonly Inline[] }
  /** An expression whose value stands here. */
  | { readonly kind: 'value'; readonly expression: string };

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly of: readonly Inline[] }
  | { readonly kind: 'paragraph' | 'quote'; readonly of: readonly Inline[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'rule' };

/** Longest text of a panel, in characters. */
export const MAX_MARKDOWN = 10_000;
/** Most values in it. */
const MAX_VALUES = 30;
const MAX_DEPTH = 4;

const HEADING = /^(#{1,4})\s+(.*)$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,3})[.)])\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/;
const FENCE = /^```/;

export function parseMarkdown(text: string): Block[] {
  const lines = text.slice(0, MAX_MARKDOWN).split(/\r?\n/);
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

/** The block at a line, and the line after it. */
function blockAt(lines: readonly string[], at: number): [Block | undefined, number] {
  const line = lines[at];
  if (line.trim() === '') return [undefined, at + 1];
  if (FENCE.test(line)) {
    const end = endOf(lines, at + 1, (later) => !FENCE.test(later));
    return [{ kind: 'code', text: lines.slice(at + 1, end).join('\n') }, end + 1];
  }
  if (RULE.test(line)) return [{ kind: 'rule' }, at + 1];
  const heading = HEADING.exec(line);
  if (heading) return [{ kind: 'heading', level: heading[1].length, of: parseInline(heading[2]) }, at + 1];
  if (ITEM.test(line)) {
    const end = endOf(lines, at, (later) => ITEM.test(later) && !RULE.test(later));
    const items = lines.slice(at, end).map((item) => parseInline(ITEM.exec(item)?.[2] ?? ''));
    return [{ kind: 'list', isOrdered: ITEM.exec(line)?.[1] !== undefined, items }, end];
  }
  if (QUOTE.test(line)) {
    const end = endOf(lines, at, (later) => QUOTE.test(later));
    const quoted = lines.slice(at, end).map((later) => later.replace(QUOTE, '$1'));
    return [{ kind: 'quote', of: parseInline(quoted.join('\n')) }, end];
  }
  const end = endOf(lines, at + 1, isParagraph);
  return [{ kind: 'paragraph', of: parseInline(lines.slice(at, end).join('\n')) }, end];
}

function isParagraph(line: string): boolean {
  return line.trim() !== '' && ![FENCE, RULE, HEADING, ITEM, QUOTE].some((begin) => begin.test(line));
}

function endOf(lines: readonly string[], from: number, belongs: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && belongs(lines[end])) end++;
  return end;
}

/** What begins something else than text; the first that matches counts. */
const SPANS: readonly (readonly [RegExp, (found: RegExpExecArray, depth: number) => Inline | undefined])[] = [
  [/`([^`]+)`/y, ([, text]) => ({ kind: 'code', text })],
  [/\{\{([^{}]+)\}\}/y, ([, text]) => valueOfText(text)],
  [
    /\*\*(?=\S)((?:[^*{]|\{(?!\{)|\{\{[^{}]*\}\})+)\*\*/y,
    ([, text], depth) => ({ kind: 'strong', of: parseInline(text, depth + 1) }),
  ],
  [
    /\*(?=\S)((?:[^*{]|\{(?!\{)|\{\{[^{}]*\}\})+)\*/y,
    ([, text], depth) => ({ kind: 'emphasis', of: parseInline(text, depth + 1) }),
  ],
  [/\[([^\]]+)\]\(([^()\s]+)\)/y, ([, text, address], depth) => linkOf(text, address, depth)],
];

function parseInline(text: string, depth = 0): Inline[] {
  if (depth > MAX_DEPTH) return [{ kind: 'text', text }];
  const found: Inline[] = [];
  let plain = '';
  for (let at = 0; at < text.length; ) {
    const [span, length] = '`{*['.includes(text[at]) ? spanAt(text, at, depth) : [undefined, 0];
    if (span) {
      if (plain !== '') found.push({ kind: 'text', text: plain });
      plain = '';
      found.push(span);
      at += length;
    } else {
      plain += text[at];
      at++;
    }
  }
  return plain === '' ? found : [...found, { kind: 'text', text: plain }];
}

function spanAt(text: string, at: number, depth: number): [Inline | undefined, number] {
  for (const [pattern, make] of SPANS) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    const span = found && make(found, depth);
    if (found && span) return [span, found[0].length];
  }
  return [undefined, 0];
}

function valueOfText(text: string): Inline | undefined {
  const expression = text.trim();
  return expression === '' ? undefined : { kind: 'value', expression };
}

/** Only pages are linked: a link must not run anything. */
function linkOf(text: string, address: string, depth: number): Inline | undefined {
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) return undefined;
  return { kind: 'link', address, of: parseInline(text, depth + 1) };
}

/** Returns the expressions in a text, each once. */
export function valuesIn(text: string): string[] {
  const found = new Set<string>();
  const visit = (parts: readonly Inline[]) => {
    for (const part of parts) {
      if (part.kind === 'value') found.add(part.expression);
      else if ('of' in part) visit(part.of);
    }
  };
  for (const block of parseMarkdown(text)) {
    if (block.kind === 'list') for (const item of block.items) visit(item);
    else if ('of' in block) visit(block.of);
  }
  return [...found].slice(0, MAX_VALUES);
}

/** Replaces the expressions in a text. */
export function mapValues(text: string, change: (expression: string) => string): string {
  return text.replace(/\{\{([^{}]+)\}\}/g, (_, expression: string) => `{{ ${change(expression.trim())} }}`);
}
