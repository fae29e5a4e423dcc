import { expressionStrings } from './strings.ts';
import { ExpressionError, quoteName, type Token, tokensOf } from './tokens.ts';

const words = expressionStrings.expressions;

/** A metric of an instance. */
export interface Reference {
  /** Undefined where the text leaves it out, because one node alone has the instance. */
  readonly node: string | undefined;
  readonly instance: string;
  /** Name of a metric, or a pattern for numbers within it: `axes[].position`. */
  readonly metric: string;
  /** The element that a pattern means. */
  readonly element?: string;
}

export type Operator = '+' | '-' | '*' | '/' | '^';

export type Syntax =
  | { readonly kind: 'number'; readonly value: number; readonly text: string; readonly unit?: string }
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'negate'; readonly of: Syntax }
  | {
      readonly kind: 'binary';
      readonly operator: Operator;
      readonly left: Syntax;
      readonly right: Syntax;
    }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Syntax[] }
  /** `in` converts to a unit; `as` says which unit the number has. */
  | { readonly kind: 'unit'; readonly how: 'in' | 'as'; readonly unit: string; readonly of: Syntax };

/** Functions with the least and the most arguments. */
export const FUNCTIONS = {
  abs: [1, 1],
  sqrt: [1, 1],
  min: [2, 8],
  max: [2, 8],
  exp: [1, 1],
  log: [1, 1],
  sin: [1, 1],
  cos: [1, 1],
  rate: [1, 1],
  mean: [2, 2],
} as const satisfies Record<string, readonly [number, number]>;
export type FunctionName = keyof typeof FUNCTIONS;

/** Most metrics in an expression. */
const MAX_INPUTS = 16;
const MAX_PARTS = 200;
const MAX_DEPTH = 40;
const LEVELS: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '^': 4 };
const NEGATION = 3;

/** Parses an expression. Throws an {@link ExpressionError}. */
export function parseExpression(text: string): Syntax {
  const parser = new Parser(tokensOf(text));
  const syntax = parser.whole();
  if (referencesIn(syntax).length > MAX_INPUTS) throw new ExpressionError(words.tooManyInputs(MAX_INPUTS));
  return syntax;
}

/** Returns the metrics in an expression, each as often as it is written. */
export function referencesIn(syntax: Syntax): Reference[] {
  switch (syntax.kind) {
    case 'number':
      return [];
    case 'reference':
      return [syntax.reference];
    case 'binary':
      return [...referencesIn(syntax.left), ...referencesIn(syntax.right)];
    case 'call':
      return syntax.args.flatMap(referencesIn);
    default:
      return referencesIn(syntax.of);
  }
}

/** Replaces each reference. */
export function mapReferences(syntax: Syntax, change: (reference: Reference) => Reference): Syntax {
  const within = (part: Syntax) => mapReferences(part, change);
  switch (syntax.kind) {
    case 'number':
      return syntax;
    case 'reference':
      return { ...syntax, reference: change(syntax.reference) };
    case 'binary':
      return { ...syntax, left: within(syntax.left), right: within(syntax.right) };
    case 'call':
      return { ...syntax, args: syntax.args.map(within) };
    default:
      return { ...syntax, of: within(syntax.of) };
  }
}

/** Writes an expression as {@link parseExpression} reads it. */
export function formatExpression(syntax: Syntax, level = 0): string {
  const around = (text: string, own: number) => (own < level ? `(${text})` : text);
  switch (syntax.kind) {
    case 'number':
      return syntax.unit === undefined ? syntax.text : `${syntax.text} [${syntax.unit}]`;
    case 'reference':
      return formatReference(syntax.reference);
    case 'negate':
      return around(`-${formatExpression(syntax.of, NEGATION)}`, NEGATION);
    case 'binary': {
      const own = LEVELS[syntax.operator];
      // `a - (b - c)` and `(a ^ b) ^ c` need their parentheses.
      const [left, right] = syntax.operator === '^' ? [own + 1, NEGATION] : [own, own + 1];
      const text = `${formatExpression(syntax.left, left)} ${syntax.operator} ${formatExpression(syntax.right, right)}`;
      return around(text, own);
    }
    case 'call':
      return `${syntax.name}(${syntax.args.map((part) => formatExpression(part)).join(', ')})`;
    case 'unit':
      return around(`${formatExpression(syntax.of, 1)} ${syntax.how} [${syntax.unit}]`, 0.5);
  }
}

export function formatReference({ node, instance, metric, element }: Reference): string {
  const path = metric
    .split('.')
    .map((part) => {
      const isVector = part.endsWith('[]');
      const name = quoteName(isVector ? part.slice(0, -2) : part);
      return isVector ? `${name}[${element ?? ''}]` : name;
    })
    .join('.');
  return `${node === undefined ? '' : `${quoteName(node)}/`}${quoteName(instance)}.${path}`;
}

class Parser {
  private at = 0;
  private parts = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  whole(): Syntax {
    const syntax = this.withUnit(0);
    const { kind, text } = this.next;
    if (kind !== 'end') throw new ExpressionError(words.unexpected(text));
    return syntax;
  }

  /** A sum, and the unit of all of it: `a * b in [kW]`. */
  private withUnit(depth: number): Syntax {
    let syntax = this.binary(1, depth);
    while (this.isName('in') || this.isName('as')) {
      const how = this.take().text as 'in' | 'as';
      if (this.next.kind !== 'bracket') throw new ExpressionError(words.unitExpected(how));
      syntax = this.made({ kind: 'unit', how, unit: this.take().text, of: syntax });
    }
    return syntax;
  }

  private binary(level: number, depth: number): Syntax {
    if (depth > MAX_DEPTH) throw new ExpressionError(words.tooDeep);
    let left = level === NEGATION ? this.negation(depth) : this.binary(level + 1, depth);
    while (level < NEGATION && LEVELS[this.next.text] === level && this.next.kind === 'symbol') {
      const operator = this.take().text as Operator;
      left = this.made({ kind: 'binary', operator, left, right: this.binary(level + 1, depth) });
    }
    return left;
  }

  private negation(depth: number): Syntax {
    if (depth > MAX_DEPTH) throw new ExpressionError(words.tooDeep);
    if (this.skip('+')) return this.negation(depth + 1);
    if (this.skip('-')) return this.made({ kind: 'negate', of: this.negation(depth + 1) });
    const base = this.primary(depth);
    if (!this.skip('^')) return base;
    return this.made({ kind: 'binary', operator: '^', left: base, right: this.negation(depth + 1) });
  }

  private primary(depth: number): Syntax {
    const { kind, text, isQuoted } = this.next;
    if (kind === 'number') return this.number();
    if (this.skip('(')) {
      const syntax = this.withUnit(depth + 1);
      this.expect(')');
      return syntax;
    }
    if (kind !== 'name')
      throw new ExpressionError(kind === 'end' ? words.unfinished : words.unexpected(text));
    this.at++;
    if (!isQuoted && this.skip('(')) return this.call(text, depth);
    if (!isQuoted && text === 'pi' && this.next.text !== '.')
      return this.made({ kind: 'number', value: Math.PI, text });
    return this.made({ kind: 'reference', reference: this.reference(text) });
  }

  private number(): Syntax {
    const { text } = this.take();
    const unit = this.next.kind === 'bracket' ? this.take().text : undefined;
    return this.made({ kind: 'number', value: Number(text), text, ...(unit !== undefined && { unit }) });
  }

  private call(name: string, depth: number): Syntax {
    if (!Object.hasOwn(FUNCTIONS, name)) throw new ExpressionError(words.unknownFunction(name));
    const args = [this.withUnit(depth + 1)];
    while (this.skip(',')) args.push(this.withUnit(depth + 1));
    this.expect(')');
    const [least, most] = FUNCTIONS[name as FunctionName];
    if (args.length < least || args.length > most)
      throw new ExpressionError(words.wrongCount(name, least, most));
    return this.made({ kind: 'call', name: name as FunctionName, args });
  }

  /** `instance.metric` or `node/instance.metric`; a division has no name without a metric on its left. */
  private reference(first: string): Reference {
    if (this.skip('.')) return { node: undefined, instance: first, ...this.metric() };
    const [slash, instance, dot] = this.tokens.slice(this.at);
    if (slash?.text !== '/' || instance?.kind !== 'name' || dot?.text !== '.')
      throw new ExpressionError(words.noMetric(first));
    this.at += 3;
    return { node: first, instance: instance.text, ...this.metric() };
  }

  private metric(): Pick<Reference, 'metric' | 'element'> {
    let metric = this.name();
    let element: string | undefined;
    while (true) {
      if (this.next.kind === 'bracket' && element === undefined && !metric.endsWith('[]')) {
        element = this.take().text;
        metric += '[]';
      } else if (this.next.text === '.' && this.next.kind === 'symbol') {
        this.at++;
        metric += `.${this.name()}`;
      } else return element === undefined ? { metric } : { metric, element };
    }
  }

  private name(): string {
    if (this.next.kind !== 'name') throw new ExpressionError(words.metricExpected);
    return this.take().text;
  }

  private made(syntax: Syntax): Syntax {
    this.parts++;
    if (this.parts > MAX_PARTS) throw new ExpressionError(words.tooDeep);
    return syntax;
  }

  private get next(): Token {
    return this.tokens[this.at];
  }

  private take(): Token {
    this.at++;
    return this.tokens[this.at - 1];
  }

  private isName(name: string): boolean {
    return this.next.kind === 'name' && !this.next.isQuoted && this.next.text === name;
  }

  private skip(symbol: string): boolean {
    const isThere = this.next.kind === 'symbol' && this.next.text === symbol;
    if (isThere) this.at++;
    return isThere;
  }

  private expect(symbol: string): void {
    if (!this.skip(symbol)) throw new ExpressionError(words.expected(symbol));
  }
}
