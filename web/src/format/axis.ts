import { GROUP } from './number.ts';
import { formatAge } from './time.ts';
import { byteSize, durationSize, formatUnit } from './unit.ts';

const MINUS = '\u2212';
const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const DURATIONS = [
  ['s', 1],
  ['ms', 1e-3],
  ['\u00b5s', 1e-6],
  ['ns', 1e-9],
] as const;
const DECIMAL = ['', 'k', 'M', 'G', 'T'];
/** Numbers of this size, as a power of ten, have all digits: 1e15 + 1 is another number than 1e15. */
const WHOLE_POWER = 15;
/** Numbers of this size, as a power of ten, have an exponent: 1e18 is no name of a prefix. */
const MAX_PLAIN_POWER = 18;

/** How numbers of a panel are written, where somebody has chosen it. */
export interface FigureLook {
  readonly unit: string | undefined;
  /** Whether the number is a rate of a counter. */
  readonly isCounter: boolean;
  /** Digits after the point; as many as are needed without. */
  readonly decimals?: number;
  /** Whether the number stays in this unit, however large it is. */
  readonly isUnitFixed?: boolean;
}

/** Formats a value as {@link formatQuantity} does, unless somebody has chosen unit or decimals. */
export function formatFigure(value: number, look: FigureLook): string {
  const { unit, isCounter, decimals, isUnitFixed } = look;
  if (!isUnitFixed && decimals === undefined) return formatQuantity(value, unit, isCounter);
  const isScaled = byteSize(unit) !== undefined || durationSize(unit) !== undefined;
  if (!Number.isFinite(value) || (!isUnitFixed && isScaled)) return formatQuantity(value, unit, isCounter);
  // `toFixed` has an exponent and all digits from here on.
  const isLarge = Math.abs(value) >= 10 ** MAX_PLAIN_POWER;
  return withUnit(
    grouped(decimals === undefined || isLarge ? digits(value) : value.toFixed(decimals)),
    unit,
    isCounter,
  );
}

function grouped(text: string): string {
  const [whole, fraction] = text.replace('-', MINUS).split('.');
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, GROUP);
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** A value in few digits, with its unit, for legends; a dash for NaN. */
export function formatQuantity(value: number, unit: string | undefined, isRate: boolean): string {
  if (Number.isNaN(value)) return '\u2013';
  if (!Number.isFinite(value)) return value < 0 ? `${MINUS}\u221e` : '\u221e';
  const bytes = byteSize(unit);
  const per = isRate ? '/s' : '';
  const size = Math.abs(value);
  if (bytes !== undefined && size < 10 ** MAX_PLAIN_POWER) {
    const [scale, symbol] = scaled(size * bytes, 1024, BINARY);
    return `${digits((value * bytes) / scale)} ${symbol}${per}`;
  }
  const seconds = durationSize(unit);
  // Very short and very long durations have an exponent in their own unit.
  if (seconds !== undefined && isDuration(size * seconds)) return formatDuration(value, seconds) + per;
  if (size < 10_000 || size >= 10 ** MAX_PLAIN_POWER) return withUnit(digits(value), unit, isRate);
  if (size >= 10 ** WHOLE_POWER) return withUnit(grouped(digits(value)), unit, isRate);
  const [scale, prefix] = scaled(size, 1000, DECIMAL);
  return withUnit(digits(value / scale) + prefix, unit, isRate);
}

function withUnit(text: string, unit: string | undefined, isRate: boolean): string {
  const name = formatUnit(unit) + (isRate ? '/s' : '');
  return name === '' ? text : `${text}${name.startsWith('%') ? '' : GROUP}${name}`;
}

function isDuration(seconds: number): boolean {
  return seconds === 0 || (seconds >= 1e-13 && seconds < 1e12);
}

/** A duration in the unit in which it is short to read; from minutes on in two units. */
function formatDuration(value: number, seconds: number): string {
  const size = Math.abs(value) * seconds;
  if (size >= 120) return (value < 0 ? MINUS : '') + formatAge(size * 1000);
  const known = DURATIONS.find(([, scale]) => size >= scale * (1 - 1e-9));
  const [name, scale] = known ?? (size === 0 ? [unitOf(seconds), seconds] : ['ns', 1e-9]);
  return `${digits((value * seconds) / scale)}${GROUP}${name}`;
}

/** A long duration in few digits; undefined if the value is readable as it is. */
export function scaledDuration(value: number | bigint, unit: string | undefined): string | undefined {
  const size = Math.abs(Number(value));
  const isLong = unit === 's' ? size >= 600 : size >= 10_000;
  if (durationSize(unit) === undefined || !isLong || !Number.isFinite(size)) return undefined;
  return formatQuantity(Number(value), unit, false);
}

function unitOf(seconds: number): string {
  return DURATIONS.find(([, scale]) => scale === seconds)?.[0] ?? 's';
}

function scaled(size: number, base: number, prefixes: readonly string[]): [number, string] {
  let scale = 1;
  let prefix = 0;
  while (size / scale >= base && prefix < prefixes.length - 1) {
    scale *= base;
    prefix++;
  }
  return [scale, prefixes[prefix]];
}

/** Four significant digits, and all digits of a whole number. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 10 ** MAX_PLAIN_POWER))
    return value
      .toExponential(3)
      .replace(/\.?0+e/, 'e')
      .replace('+', '')
      .replaceAll('-', MINUS);
  const decimals =
    size >= 1000 || Number.isInteger(value)
      ? 0
      : Math.max(0, 3 - Math.floor(Math.log10(Math.max(size, 0.1))) - 1);
  return value.toFixed(decimals).replace('-', MINUS);
}
