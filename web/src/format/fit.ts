import { formatInteger, GROUP } from './number.ts';

/** SI prefixes, thousand by thousand. */
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
/** Fewest significant digits. */
const FIGURES = 3;

/**
 * A number in as many characters as there is room for, where that can be: as it is written in full, or with fewer digits behind
 * the point, or in thousands, millions and so on.
 */
export function fitNumber(value: number | bigint, full: string, room: number): string {
  if (full.length <= room || !Number.isFinite(Number(value))) return full;
  const number = Number(value);
  return fewerDecimals(number, full, room) ?? scaled(number) ?? full;
}

function fewerDecimals(value: number, full: string, room: number): string | undefined {
  const [whole, fraction = ''] = full.split('.');
  if (fraction === '' || full.includes('e')) return undefined;
  const kept = Math.min(fraction.length, room - whole.length - 1);
  const digits = whole.replace(/\D/g, '').replace(/^0+/, '').length;
  if (kept + digits < FIGURES || kept < 1) {
    return whole.length <= room && digits >= FIGURES ? formatInteger(Math.round(value)) : undefined;
  }
  const [rounded, rest] = Math.abs(value).toFixed(kept).split('.');
  const sign = value < 0 ? '\u2212' : '';
  return `${sign}${formatInteger(Number(rounded))}.${rest}`;
}

function scaled(value: number): string | undefined {
  const size = Math.abs(value);
  if (size < 1000) return undefined;
  let power = Math.min(PREFIXES.length - 1, Math.floor(Math.log10(size) / 3));
  let text = (size / 1000 ** power).toPrecision(FIGURES);
  // 999 999 is a million in three digits.
  if (Number(text) >= 1000 && power < PREFIXES.length - 1) {
    power++;
    text = (size / 1000 ** power).toPrecision(FIGURES);
  }
  return text.includes('e') ? undefined : `${value < 0 ? '\u2212' : ''}${text}${GROUP}${PREFIXES[power]}`;
}
