import { GROUP } from './number.ts';

/** Exact decimal numbers: `digits` times 10 to the power `exponent`. */

const MINUS = '\u2212';

/** Returns 10 to the power of the place of the first digit, as in scientific notation; `-Infinity` for zero. */
export function magnitude(digits: bigint, exponent: number): number {
  return digits === 0n ? Number.NEGATIVE_INFINITY : sizeOf(digits).length - 1 + exponent;
}

/** Formats all digits, with as many after the point as a negative exponent has; in groups of three if `isGrouped`. */
export function plainDecimal(digits: bigint, exponent: number, isGrouped = false): string {
  const after = Math.max(0, -exponent);
  const size = (sizeOf(digits) + '0'.repeat(Math.max(0, exponent))).padStart(after + 1, '0');
  const whole = size.slice(0, size.length - after);
  const shown = isGrouped ? whole.replace(/\B(?=(\d{3})+$)/g, GROUP) : whole;
  return signOf(digits) + (digits === 0n ? '0' : shown + (after > 0 ? `.${size.slice(-after)}` : ''));
}

/** Formats all digits with an exponent. */
export function exponentialDecimal(digits: bigint, exponent: number): string {
  if (digits === 0n) return '0';
  const size = sizeOf(digits);
  const rest = size.length > 1 ? `.${size.slice(1)}` : '';
  const power = String(size.length - 1 + exponent).replace('-', MINUS);
  return `${signOf(digits)}${size[0]}${rest}e${power}`;
}

function sizeOf(digits: bigint): string {
  return String(digits < 0n ? -digits : digits);
}

function signOf(digits: bigint): string {
  return digits < 0n ? MINUS : '';
}
