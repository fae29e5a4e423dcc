import { formatInteger, GROUP } from './number.ts';
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
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'];

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
export function formatFigure(value: number, look: FigureLook, step?: number): string {
  const { unit, isCounter, decimals, isUnitFixed } = look;
  if (!isUnitFixed && decimals === undefined) return formatQuantity(value, unit, isCounter, step);
  if (!Number.isFinite(value)) return '\u2013';
  const isScaled = byteSize(unit) !== undefined || durationSize(unit) !== undefined;
  // A tick needs the digits that tell it from the next one.
  if (!isUnitFixed && (isScaled || step !== undefined)) return formatQuantity(value, unit, isCounter, step);
  const name = formatUnit(unit) + (isCounter ? '/s' : '');
  const isExact = decimals === undefined || step !== undefined;
  const text = grouped(isExact ? digits(value, step) : value.toFixed(decimals));
  return name === '' ? text : `${text}${name.startsWith('%') ? '' : GROUP}${name}`;
}

function grouped(text: string): string {
  const [whole, fraction] = text.replace('-', MINUS).split('.');
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, GROUP);
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** A value in few digits, with its unit: for axes and legends. `step` is the distance of two ticks, or undefined. */
export function formatQuantity(
  value: number,
  unit: string | undefined,
  isRate: boolean,
  step?: number,
): string {
  if (!Number.isFinite(value)) return '\u2013';
  const bytes = byteSize(unit);
  const per = isRate ? '/s' : '';
  if (bytes !== undefined) {
    const [scale, symbol] = scaled(Math.abs(value) * bytes, 1024, BINARY);
    return `${digits((value * bytes) / scale, step === undefined ? undefined : (step * bytes) / scale)} ${symbol}${per}`;
  }
  const seconds = durationSize(unit);
  if (seconds !== undefined) return formatDuration(value, seconds, step) + per;
  const name = formatUnit(unit);
  const [scale, prefix] = Math.abs(value) < 10_000 ? [1, ''] : scaled(Math.abs(value), 1000, DECIMAL);
  const text = digits(value / scale, step === undefined ? undefined : step / scale) + prefix;
  return name === '' && per === '' ? text : `${text}${name.startsWith('%') ? '' : '\u202f'}${name}${per}`;
}

/** A duration in the unit in which it is short to read; from minutes on, without a step, in two units. */
function formatDuration(value: number, seconds: number, step: number | undefined): string {
  const size = Math.abs(value) * seconds;
  if (size >= 120 && step === undefined) return (value < 0 ? MINUS : '') + formatAge(size * 1000);
  if (size >= 10_000) return `${formatInteger(Math.round(value * seconds))}\u202fs`;
  const known = DURATIONS.find(([, scale]) => size >= scale * (1 - 1e-9));
  const [name, scale] = known ?? (size === 0 ? [unitOf(seconds), seconds] : ['ns', 1e-9]);
  const text = digits((value * seconds) / scale, step === undefined ? undefined : (step * seconds) / scale);
  return `${text}\u202f${name}`;
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

/** As many decimals as the step between ticks needs; without a step four significant digits. */
function digits(value: number, step: number | undefined): string {
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-4 && (step === undefined || step < 1e-4))
    return value.toExponential(1).replaceAll('-', MINUS);
  const decimals =
    step === undefined
      ? size >= 1000 || Number.isInteger(value)
        ? 0
        : Math.max(0, 3 - Math.floor(Math.log10(Math.max(size, 0.1))) - 1)
      : Math.max(0, Math.min(8, Math.ceil(-Math.log10(step) - 1e-9)));
  return value.toFixed(decimals).replace('-', MINUS);
}
