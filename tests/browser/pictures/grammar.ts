/** The part of TextMate grammars that editors/vscode/syntaxes/pdl.tmLanguage.json uses. */

export interface Rule {
  readonly name?: string;
  readonly include?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly end?: string;
  readonly captures?: Captures;
  readonly beginCaptures?: Captures;
  readonly endCaptures?: Captures;
  readonly patterns?: readonly Rule[];
}

type Captures = Readonly<Record<string, Rule>>;

export interface Grammar {
  readonly patterns: readonly Rule[];
  readonly repository: Readonly<Record<string, Rule>>;
}

export interface Token {
  readonly text: string;
  /** The innermost scope, such as `keyword.declaration.probe.pdl`. */
  readonly scope: string;
}

interface RuleMatch {
  readonly rule: Rule;
  readonly match: RegExpExecArray;
  readonly isEnd: boolean;
}

/** Splits a line into tokens; `stack` has the rules that earlier lines have begun, and is changed. */
export function tokens(grammar: Grammar, line: string, stack: Rule[]): Token[] {
  const found: Token[] = [];
  const add = (text: string, scope = '') => text && found.push({ text, scope });
  for (let at = 0; at < line.length; ) {
    const open = stack.at(-1);
    const next = earliest(grammar, line, at, open);
    add(line.slice(at, next?.match.index), open?.name);
    if (!next) break;
    const { rule, match, isEnd } = next;
    at = match.index + match[0].length;
    const captures = isEnd ? rule.endCaptures : (rule.beginCaptures ?? rule.captures);
    for (const [text, scope] of captured(match, captures)) add(text, scope || rule.name);
    if (isEnd) stack.pop();
    else if (rule.begin) stack.push(rule);
  }
  return found;
}

function earliest(grammar: Grammar, line: string, at: number, open: Rule | undefined): RuleMatch | undefined {
  const rules = expanded(grammar, open ? (open.patterns ?? []) : grammar.patterns);
  const candidates = rules.map((rule) => ({ rule, source: rule.match ?? rule.begin ?? '', isEnd: false }));
  if (open?.end) candidates.unshift({ rule: open, source: open.end, isEnd: true });
  let first: RuleMatch | undefined;
  for (const { rule, source, isEnd } of candidates) {
    const expression = new RegExp(source, 'dg');
    expression.lastIndex = at;
    const match = expression.exec(line);
    if (match && (!first || match.index < first.match.index)) first = { rule, match, isEnd };
  }
  return first;
}

/** Resolves includes, and groups without an expression of their own. */
function expanded(grammar: Grammar, rules: readonly Rule[]): Rule[] {
  return rules.flatMap((rule) => {
    const target = rule.include ? grammar.repository[rule.include.slice(1)] : rule;
    return target.match || target.begin ? [target] : expanded(grammar, target.patterns ?? []);
  });
}

/** Cuts a match at its captured groups. */
function captured(match: RegExpExecArray, captures: Captures = {}): [string, string][] {
  const parts: [string, string][] = [];
  let at = match.index;
  for (const [group, { name = '' }] of Object.entries(captures)) {
    const [start, end] = match.indices?.[Number(group)] ?? [at, at];
    if (start < at || end === start) continue;
    parts.push([match.input.slice(at, start), '']);
    parts.push([match.input.slice(start, end), name]);
    at = end;
  }
  parts.push([match.input.slice(at, match.index + match[0].length), '']);
  return parts;
}
