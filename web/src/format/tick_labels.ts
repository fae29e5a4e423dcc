import { type FigureLook, formatQuantity } from './axis.ts';
import { exponentialDecimal, magnitude, plainDecimal } from './decimal.ts';
import { GROUP } from './number.ts';
import { durationSize, formatUnit } from './unit.ts';

/** A tick at exactly `digits` times `base` to the power `exponent`. */
export interface Tick {
  readonly digits: bigint;
  readonly exponent: number;
  /** Its place, as a share of the axis. */
  readonly share: number;
}

export interface Ticks {
  /** Ten in the unit of the axis, or two in bytes. */
  readonly base: 2 | 10;
  readonly ticks: readonly Tick[];
  /** Whether each tick is a power of its own, so that their labels have no digits in common. */
  readonly isLogarithmic: boolean;
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'];
const DURATIONS = ['s', 'ms', '\u00b5s', 'ns'];
/** Sizes, as powers of ten, that have labels without an exponent. */
const PLAIN = { from: -4, to: 18 };
/** The same of durations in seconds. */
const PLAIN_SECONDS = { from: -13, to: 9 };
/** A number of this size, as a power of ten, has a prefix: 10k. */
const PREFIXED = 4;
/** Digits after the point of a number with a prefix; more are easier to read without it. */
const MAX_DECIMALS = 3;

/**
 * Formats ticks with their units. Each label has all digits of its tick, so that no two are equal, however close the ticks
 * are compared to their size.
 */
export function tickLabels(found: Ticks, look: FigureLook): string[] {
  const per = look.isCounter ? '/s' : '';
  if (found.base === 2) return found.ticks.map((tick) => byteLabel(tick) + per);
  const seconds = look.isUnitFixed ? undefined : durationSize(look.unit);
  const shift = seconds === undefined ? 0 : Math.round(Math.log10(seconds));
  const isPlain = plainness(found, shift, seconds === undefined ? PLAIN : PLAIN_SECONDS);
  if (seconds === undefined) {
    const name = formatUnit(look.unit) + per;
    const suffix = name === '' || name.startsWith('%') ? name : GROUP + name;
    return found.ticks.map((tick) => decimalLabel(tick, isPlain(tick), look.isUnitFixed === true) + suffix);
  }
  return found.ticks.map((tick) =>
    isPlain(tick)
      ? durationLabel(tick, shift) + per
      : `${exponentialDecimal(tick.digits, tick.exponent)}${GROUP}${formatUnit(look.unit)}${per}`,
  );
}

/** Returns which ticks have no exponent: all or none of an axis with even steps. */
function plainness(
  { ticks, isLogarithmic }: Ticks,
  shift: number,
  { from, to }: typeof PLAIN,
): (tick: Tick) => boolean {
  const sizeOf = ({ digits, exponent }: Tick) => magnitude(digits, exponent) + shift;
  const isWithin = (size: number) => size < to && size >= from;
  if (isLogarithmic) return (tick) => isWithin(sizeOf(tick));
  const isPlain = isWithin(Math.max(...ticks.map(sizeOf)));
  return ({ digits }) => isPlain || digits === 0n;
}

function decimalLabel({ digits, exponent }: Tick, isPlain: boolean, isUnitFixed: boolean): string {
  if (!isPlain) return exponentialDecimal(digits, exponent);
  const size = magnitude(digits, exponent);
  if (size < PREFIXED || isUnitFixed) return plainDecimal(digits, exponent, isUnitFixed);
  const prefix = Math.min(DECIMAL.length - 1, Math.floor(size / 3));
  const scaled = exponent - 3 * prefix;
  return scaled >= -MAX_DECIMALS
    ? plainDecimal(digits, scaled) + DECIMAL[prefix]
    : plainDecimal(digits, exponent, true);
}

/** A duration in the largest unit that it has one of; zero in its own. */
function durationLabel({ digits, exponent }: Tick, shift: number): string {
  const size = magnitude(digits, exponent) + shift;
  const own = -shift / 3;
  const unit = digits === 0n ? own : Math.min(DURATIONS.length - 1, Math.max(0, Math.ceil(-size / 3)));
  return plainDecimal(digits, exponent + shift + 3 * unit, size >= PREFIXED) + GROUP + DURATIONS[unit];
}

/** A number of bytes in a unit in which it has few digits. */
function byteLabel({ digits, exponent }: Tick): string {
  const size = digits === 0n ? 0 : (digits < 0n ? -digits : digits).toString(2).length - 1 + exponent;
  const fitting = Math.min(Math.floor(size / 10), Math.floor((exponent + MAX_DECIMALS) / 10));
  const prefix = Math.min(BINARY.length - 1, Math.max(0, fitting));
  const scaled = exponent - 10 * prefix;
  // A half is five tenths: each negative power of two is a decimal of as many digits.
  const decimal = digits * (scaled < 0 ? 5n ** BigInt(-scaled) : 2n ** BigInt(scaled));
  const text = plainDecimal(decimal, Math.min(0, scaled), size - 10 * prefix > 10);
  return `${text} ${digits === 0n ? 'B' : BINARY[prefix]}`;
}

/** Digits beyond those that two ends of a range have in common. */
const TELLING_DIGITS = 3;
/** Digits that tell all doubles apart. */
const MAX_DIGITS = 17;

/**
 * Formats a value in few digits, but in as many as tell it from others between two ends: 1 000 000 000 000 001 between 1e15
 * and 1e15 + 2.
 */
export function formatWithin(
  value: number,
  [one, other]: readonly [number, number],
  unit: string | undefined,
  isRate = false,
): string {
  const size = Math.max(Math.abs(one), Math.abs(other));
  const width = Math.abs(one - other);
  if (!(width > 0 && width < size / 1000) || !Number.isFinite(value))
    return formatQuantity(value, unit, isRate);
  const figures = Math.min(MAX_DIGITS, Math.ceil(Math.log10(size / width)) + TELLING_DIGITS);
  const [mantissa, power] = value.toExponential(figures - 1).split('e');
  const tick = { digits: BigInt(mantissa.replace('.', '')), exponent: Number(power) - figures + 1, share: 0 };
  return tickLabels({ base: 10, ticks: [tick], isLogarithmic: false }, { unit, isCounter: isRate })[0];
}
