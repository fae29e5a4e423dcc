import { type Reference, referencesIn, type Syntax } from '../expressions/syntax.ts';
import { ruleStrings } from '../strings/rules.ts';
import type { Target } from '../wire/target.ts';

const words = ruleStrings.rules.derive;

/** A rule that computes an expression in the DAC, or why there can be none. */
export type Derived =
  | { readonly state: 'ready'; readonly name: string; readonly text: string }
  | { readonly state: 'failed'; readonly problem: string };

class NoRule extends Error {}

const LEVELS: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2 };
const NEGATION = 3;
const MAX_NAME = 48;
/** Samples of a moving mean: rules have to know their memory. */
const MAX_SAMPLES = 10_000;
const MAX_POWER = 4;

/** Writes a `derive` rule of an expression whose references name their nodes. */
export function deriveRule(
  syntax: Syntax,
  written: string,
  typeOf: (target: Target) => string | undefined,
): Derived {
  try {
    const target = onlyTarget(referencesIn(syntax));
    const type = typeOf(target);
    if (type === undefined) throw new NoRule(words.unknownType(target.instance));
    const pattern = `${target.node}/${target.instance}`;
    if (/["\n*]/.test(pattern)) throw new NoRule(words.pattern(pattern));
    const input = identifier(target.instance, 'input').toLowerCase();
    const body = expression(syntax, input, 0);
    const metric = referencesIn(syntax)[0]?.metric ?? '';
    const name = identifier(`${capital(input)}_${metric}`, 'Computed').slice(0, MAX_NAME);
    const lines = [
      `// ${written.replaceAll('\n', ' ')}`,
      `input ${input} = "${pattern}" : ${type};`,
      '',
      `derive ${name} every 1s {`,
      `  value = ${body};`,
      '}',
      '',
    ];
    return { state: 'ready', name, text: lines.join('\n') };
  } catch (error) {
    if (error instanceof NoRule) return { state: 'failed', problem: error.message };
    throw error;
  }
}

function onlyTarget(references: readonly Reference[]): Target {
  const [first] = references;
  if (first?.node === undefined) throw new NoRule(words.noNode);
  const { node, instance } = first;
  const isOther = (other: Reference) => other.node !== node || other.instance !== instance;
  if (references.some(isOther)) throw new NoRule(words.oneInstance);
  return { node, instance };
}

function expression(syntax: Syntax, input: string, level: number): string {
  const around = (text: string, own: number) => (own < level ? `(${text})` : text);
  switch (syntax.kind) {
    case 'number':
      return number(syntax.text === 'pi' ? String(Math.PI) : syntax.text, syntax.unit);
    case 'reference':
      return `${input}.${metric(syntax.reference)}`;
    case 'negate':
      return around(`-${expression(syntax.of, input, NEGATION)}`, NEGATION);
    case 'binary': {
      if (syntax.operator === '^') return power(syntax.left, syntax.right, input, level);
      const own = LEVELS[syntax.operator];
      const [left, right] = [expression(syntax.left, input, own), expression(syntax.right, input, own + 1)];
      return around(`${left} ${syntax.operator} ${right}`, own);
    }
    case 'call':
      return call(syntax, input);
    case 'unit':
      throw new NoRule(words.noUnit(syntax.how));
  }
}

function number(text: string, unit: string | undefined): string {
  const plain = text.startsWith('.') ? `0${text}` : text.replace(/\.(?!\d)/, '');
  return unit === undefined ? plain : `${plain} [${unit}]`;
}

function metric({ metric, element }: Reference): string {
  const isPlain = metric.split('.').every((part) => /^[A-Za-z_]\w*$/.test(part));
  if (element !== undefined || !isPlain) throw new NoRule(words.noElement(metric));
  return metric;
}

/** Rules have no powers: small ones are products. */
function power(base: Syntax, exponent: Syntax, input: string, level: number): string {
  const count = exponent.kind === 'number' ? exponent.value : Number.NaN;
  if (!Number.isInteger(count) || count < 1 || count > MAX_POWER) throw new NoRule(words.noPower);
  const factor = expression(base, input, NEGATION);
  const product = Array.from({ length: count }, () => factor).join(' * ');
  return count > 1 && level > LEVELS['*'] ? `(${product})` : product;
}

function call({ name, args }: Syntax & { kind: 'call' }, input: string): string {
  const [first, second] = args;
  if (name === 'abs' || name === 'sqrt' || name === 'rate') return `${name}(${expression(first, input, 0)})`;
  if (name === 'mean' && second?.kind === 'number' && second.value > 0) {
    const milliseconds = Math.max(1, Math.round(second.value * 1000));
    const window = milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
    return `mean(${expression(first, input, 0)}, ${window} at most ${MAX_SAMPLES} samples)`;
  }
  throw new NoRule(words.noFunction(name));
}

/** A name of the language of rules that looks like another one. */
function identifier(text: string, otherwise: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return plain === '' ? otherwise : /^\d/.test(plain) ? `${otherwise}_${plain}` : plain;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
