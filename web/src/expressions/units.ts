import { formatUnit } from '../format/unit.ts';
import { expressionStrings } from './strings.ts';
import { ExpressionError } from './tokens.ts';

const words = expressionStrings.expressions;

/**
 * Units of UCUM as PDL has them, so far as an expression calculates with them. A unit that is not in the tables is a
 * dimension of its own: it is equal to itself alone, and can be multiplied and canceled.
 */
export interface Unit {
  /** Size in base units. */
  readonly factor: number;
  /** Zero of the scale in base units, of temperatures that do not begin at absolute zero. */
  readonly offset: number;
  /** Exponents of base units; none of them is 0. */
  readonly dimensions: ReadonlyMap<string, number>;
  /** The unit as it is written: exponents of its symbols. */
  readonly symbols: ReadonlyMap<string, number>;
}

export const NONE: Unit = { factor: 1, offset: 0, dimensions: new Map(), symbols: new Map() };

/** Longest text of a unit. */
const MAX_UNIT_LENGTH = 60;

/** Size and base units: `kg.m2/s2` is `g` 1, `m` 2, `s` -2 with 1000 g. */
type Definition = readonly [factor: number, base: string, offset?: number];

/** Symbols that take a metric prefix. */
const METRIC: Readonly<Record<string, Definition>> = {
  m: [1, 'm'],
  s: [1, 's'],
  g: [1, 'g'],
  K: [1, 'K'],
  A: [1, 'A'],
  cd: [1, 'cd'],
  mol: [1, 'mol'],
  rad: [1, ''],
  sr: [1, ''],
  Hz: [1, 's-1'],
  N: [1e3, 'g m s-2'],
  Pa: [1e3, 'g m-1 s-2'],
  bar: [1e8, 'g m-1 s-2'],
  J: [1e3, 'g m2 s-2'],
  W: [1e3, 'g m2 s-3'],
  C: [1, 'A s'],
  V: [1e3, 'g m2 s-3 A-1'],
  F: [1e-3, 'g-1 m-2 s4 A2'],
  Ohm: [1e3, 'g m2 s-3 A-2'],
  S: [1e-3, 'g-1 m-2 s3 A2'],
  Wb: [1e3, 'g m2 s-2 A-1'],
  T: [1e3, 'g s-2 A-1'],
  H: [1e3, 'g m2 s-2 A-2'],
  lm: [1, 'cd'],
  lx: [1, 'cd m-2'],
  Bq: [1, 's-1'],
  eV: [1.602176634e-16, 'g m2 s-2'],
  l: [1e-3, 'm3'],
  L: [1e-3, 'm3'],
  t: [1e6, 'g'],
  Cel: [1, 'K', 273.15],
  bit: [1, 'bit'],
  By: [8, 'bit'],
};

/** Symbols without prefixes. */
const FIXED: Readonly<Record<string, Definition>> = {
  '%': [0.01, ''],
  '[ppm]': [1e-6, ''],
  '[ppb]': [1e-9, ''],
  '10*': [10, ''],
  '10^': [10, ''],
  deg: [Math.PI / 180, ''],
  "'": [Math.PI / 10_800, ''],
  "''": [Math.PI / 648_000, ''],
  min: [60, 's'],
  h: [3600, 's'],
  d: [86_400, 's'],
  '[in_i]': [0.0254, 'm'],
  '[ft_i]': [0.3048, 'm'],
  '[mi_i]': [1609.344, 'm'],
  '[nmi_i]': [1852, 'm'],
  '[kn_i]': [1852 / 3600, 'm s-1'],
  '[lb_av]': [453.59237, 'g'],
  '[lbf_av]': [4448.2216152605, 'g m s-2'],
  '[psi]': [6894757.293168, 'g m-1 s-2'],
  '[HP]': [745699.87158227, 'g m2 s-3'],
  '[degF]': [5 / 9, 'K', 459.67 * (5 / 9)],
  '[g]': [9.80665, 'm s-2'],
  'm[Hg]': [133322387.4, 'g m-1 s-2'],
  atm: [101325e3, 'g m-1 s-2'],
};

const PREFIXES: Readonly<Record<string, number>> = {
  ...{ Y: 1e24, Z: 1e21, E: 1e18, P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, h: 1e2, da: 10 },
  ...{ d: 0.1, c: 1e-2, m: 1e-3, u: 1e-6, n: 1e-9, p: 1e-12, f: 1e-15, a: 1e-18, z: 1e-21, y: 1e-24 },
  ...{ Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 },
};

/** Symbols of angles: they are numbers, but a result keeps them unless it is a length. */
const ANGLES: ReadonlySet<string> = new Set(['deg', 'rad', 'sr', "'", "''"]);

/** Parses a unit; a text that is no unit is a symbol of its own. Throws an {@link ExpressionError} if it is too long. */
export function parseUnit(text: string | undefined): Unit {
  if (text === undefined || text === '' || text === '1') return NONE;
  if (text.length > MAX_UNIT_LENGTH) throw new ExpressionError(words.longUnit(MAX_UNIT_LENGTH));
  if (/[()]/.test(text)) return unknown(text, true);
  let found = NONE;
  let sign = 1;
  // Annotations may contain anything, and brackets contain no operators.
  for (const [part] of text.matchAll(/[./]|(?:\[[^\]]*\]|\{[^}]*\}|[^./])+/g)) {
    if (part === '/') sign = -1;
    else if (part === '.') sign = 1;
    else {
      found = product(found, factorOf(part), sign);
      sign = 1;
    }
  }
  // A scale that does not begin at zero is one only by itself.
  return found.symbols.size === 1 && text in AFFINE ? { ...found, offset: AFFINE[text] } : found;
}

const AFFINE: Readonly<Record<string, number>> = {
  Cel: METRIC.Cel[2] ?? 0,
  '[degF]': FIXED['[degF]'][2] ?? 0,
};

/** A symbol with its exponent and annotations: `s2`, `m-1`, `By{sent}`. */
function factorOf(part: string): Unit {
  const annotation = part.replace(/^[^{]*/, '');
  const plain = part.slice(0, part.length - annotation.length);
  if (plain === '' || plain === '1') return annotation === '' ? NONE : unknown(annotation, false);
  const [, symbol = plain, exponent = '1'] = /^(.*?[^\d+-])([+-]?\d+)$/.exec(plain) ?? [];
  return power(symbolOf(symbol), Number(exponent));
}

function symbolOf(symbol: string): Unit {
  if (/^\d+$/.test(symbol)) return { ...NONE, factor: Number(symbol), symbols: new Map([[symbol, 1]]) };
  const definition = definitionOf(symbol);
  if (!definition) return unknown(symbol, true);
  const [factor, base] = definition;
  return { factor, offset: 0, dimensions: dimensionsOf(base), symbols: new Map([[symbol, 1]]) };
}

function definitionOf(symbol: string): Definition | undefined {
  if (Object.hasOwn(FIXED, symbol)) return FIXED[symbol];
  if (Object.hasOwn(METRIC, symbol)) return METRIC[symbol];
  for (const length of [2, 1]) {
    const [prefix, rest] = [symbol.slice(0, length), symbol.slice(length)];
    if (!Object.hasOwn(PREFIXES, prefix) || !Object.hasOwn(METRIC, rest)) continue;
    const [factor, base] = METRIC[rest];
    return [factor * PREFIXES[prefix], base];
  }
  return undefined;
}

function unknown(symbol: string, isDimension: boolean): Unit {
  const once = new Map([[symbol, 1]]);
  return { factor: 1, offset: 0, dimensions: isDimension ? once : new Map(), symbols: once };
}

function dimensionsOf(base: string): ReadonlyMap<string, number> {
  return new Map(
    base
      .split(' ')
      .filter(Boolean)
      .map((part) => {
        const [, name = part, exponent = '1'] = /^([A-Za-z]+?)(-?\d+)$/.exec(part) ?? [];
        return [name, Number(exponent)] as const;
      }),
  );
}

/** Writes a unit as UCUM does; undefined for plain numbers. */
export function nameOfUnit({ symbols }: Unit): string | undefined {
  const parts = (sign: number) =>
    [...symbols]
      .filter(([, exponent]) => exponent * sign > 0)
      .map(([symbol, exponent]) => symbol + (Math.abs(exponent) === 1 ? '' : Math.abs(exponent)));
  const [above, below] = [parts(1), parts(-1)];
  if (above.length + below.length === 0) return undefined;
  return [above.join('.'), ...below].join('/');
}

/** The unit in words, for messages. */
export function unitInWords(unit: Unit): string {
  return formatUnit(nameOfUnit(unit)) || words.noUnit;
}

export function multiply(left: Unit, right: Unit): Unit {
  return simple(product(left, right, 1));
}

export function divide(left: Unit, right: Unit): Unit {
  return simple(product(left, right, -1));
}

/** The unit of a change per second. */
export function perSecond(unit: Unit): Unit {
  return product(isAffine(unit) ? differenceOf(unit) : unit, parseUnit('s'), -1);
}

/** Raises a unit to a power; undefined if the result has no whole exponents. */
export function raise(unit: Unit, exponent: number): Unit | undefined {
  const raised = power(unit, exponent);
  const isWhole = [...raised.symbols.values(), ...raised.dimensions.values()].every(
    (each) => Math.abs(each - Math.round(each)) < 1e-9,
  );
  return isWhole ? raised : undefined;
}

export function isAffine({ offset }: Unit): boolean {
  return offset !== 0;
}

export function isNumber({ dimensions }: Unit): boolean {
  return dimensions.size === 0;
}

export function isSameDimension(one: Unit, other: Unit): boolean {
  return (
    one.dimensions.size === other.dimensions.size &&
    [...one.dimensions].every(([name, exponent]) => other.dimensions.get(name) === exponent)
  );
}

/** The difference of two temperatures on a scale such as `Cel`: it has no zero of its own. */
export function differenceOf(unit: Unit): Unit {
  return unit.symbols.has('Cel') ? parseUnit('K') : { ...unit, offset: 0 };
}

function product(left: Unit, right: Unit, sign: number): Unit {
  return {
    factor: left.factor * right.factor ** sign,
    offset: 0,
    dimensions: sum(left.dimensions, right.dimensions, sign),
    symbols: sum(left.symbols, right.symbols, sign),
  };
}

function power(unit: Unit, exponent: number): Unit {
  const times = (of: ReadonlyMap<string, number>) =>
    new Map([...of].map(([name, own]) => [name, own * exponent] as const).filter(([, own]) => own !== 0));
  return {
    factor: unit.factor ** exponent,
    offset: 0,
    dimensions: times(unit.dimensions),
    symbols: times(unit.symbols),
  };
}

function sum(
  left: ReadonlyMap<string, number>,
  right: ReadonlyMap<string, number>,
  sign: number,
): ReadonlyMap<string, number> {
  const found = new Map(left);
  for (const [name, exponent] of right) {
    const total = (found.get(name) ?? 0) + sign * exponent;
    if (total === 0) found.delete(name);
    else found.set(name, total);
  }
  return found;
}

/**
 * Leaves out symbols that are mere numbers, such as `%` in `%.W` or `kW/W`: the factor keeps their size. Angles remain,
 * unless the result is a length or a speed.
 */
function simple(unit: Unit): Unit {
  if (isNumber(unit) && ![...unit.symbols.keys()].every((symbol) => symbol.startsWith('{')))
    return ANGLES.has([...unit.symbols.keys()].join())
      ? unit
      : { ...unit, symbols: annotations(unit.symbols) };
  const isLength = (unit.dimensions.get('m') ?? 0) > 0;
  const symbols = new Map(
    [...unit.symbols].filter(([symbol]) => {
      const [, base = symbol] = definitionOf(symbol) ?? [];
      const isMereNumber = base === '' || /^\d+$/.test(symbol);
      return !isMereNumber || (ANGLES.has(symbol) && !isLength);
    }),
  );
  return { ...unit, symbols };
}

function annotations(symbols: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...symbols].filter(([symbol]) => symbol.startsWith('{')));
}

/** The unit as it is written, and by how much a number must be multiplied to be in it: of `%.W` only `W` is written. */
export function settle(unit: Unit): { readonly unit: Unit; readonly scale: number } {
  let written = 1;
  for (const [symbol, exponent] of unit.symbols) written *= sizeOf(symbol) ** exponent;
  const scale = unit.factor / written;
  return Math.abs(scale - 1) < 1e-12 ? { unit, scale: 1 } : { unit: { ...unit, factor: written }, scale };
}

function sizeOf(symbol: string): number {
  return symbol.startsWith('{') ? 1 : symbolOf(symbol).factor;
}
