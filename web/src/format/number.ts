import type { MetricType, Value } from '@oasis/wire';

/** A narrow no-break space. It groups digits and is no decimal sign anywhere. */
export const GROUP = '\u202f';
const MINUS = '\u2212';
const DIGITS = 6;

export function formatScalar(value: Value, type: MetricType): string {
  if (typeof value === 'bigint') return formatInteger(value);
  if (typeof value !== 'number') return String(value);
  return type === 'real32' || type === 'real64' ? formatReal(value) : formatInteger(value);
}

export function formatInteger(value: number | bigint): string {
  if (Object.is(value, -0)) return `${MINUS}0`;
  if (typeof value === 'number' && Math.abs(value) >= 1e21) return formatReal(value);
  const digits = String(value).replace('-', '');
  return (value < 0 ? MINUS : '') + group(digits);
}

/** Formats with a constant number of digits, so that a live value does not jump. */
export function formatReal(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  const sign = value < 0 || Object.is(value, -0) ? MINUS : '';
  const size = Math.abs(value);
  if (size === Number.POSITIVE_INFINITY) return `${sign}∞`;
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
    const [digits, exponent] = size.toExponential(DIGITS - 1).split('e');
    return `${sign}${digits}e${exponent.replace('+', '').replace('-', MINUS)}`;
  }
  const decimals = Math.min(DIGITS, Math.max(0, DIGITS - 1 - Math.floor(Math.log10(Math.max(size, 1)))));
  const [whole, fraction] = size.toFixed(decimals).split('.');
  return sign + group(whole) + (fraction ? `.${fraction}` : '');
}

/** Formats a rate with three or four significant digits. */
export function formatRough(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return formatInteger(Math.round(value));
  const text = size >= 10 ? value.toFixed(1) : value.toFixed(2);
  return text.replace('-', MINUS);
}

/** Formats a share of 1 as a percentage with two significant digits. */
export function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 ? Math.round(percent) : percent >= 1 ? percent.toFixed(1) : percent.toFixed(2)}\u202f%`;
}

/** Formats a change in percent with one decimal, and no sign before zero. */
export function formatChange(percent: number): string {
  const size = Math.abs(percent) < 0.05 ? 0 : Math.abs(percent);
  const sign = size === 0 ? '' : percent < 0 ? MINUS : '+';
  const [whole, fraction] = size.toFixed(1).split('.');
  return `${sign}${group(whole)}.${fraction}\u202f%`;
}

function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, GROUP);
}
