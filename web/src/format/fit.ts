import { formatInteger, GROUP } from './number.ts';

/** SI prefixes, thousand by thousand. */
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
/** Fewest significant digits. */
const FIGURES = 3;

/** Stands for a number that has no room: half of its digits would be another number. */
const NO_ROOM = '\u2026';

/**
 * A number in as many characters as there is room for: as it is written in full, or with fewer digits after the point, or in
 * thousands, millions and so on, or with an exponent. A number is whole: without room for any of these an ellipsis stands for it.
 */
export function fitNumber(value: number | bigint, full: string, room: number): string {
  if (widthOf(full) <= room) return full;
  const number = Number(value);
  if (!Number.isFinite(number)) return NO_ROOM;
  const shorter = [
    fewerDecimals(number, full, room),
    ...[FIGURES, 2, 1].flatMap((figures) => [scaled(number, figures), exponential(number, full, figures)]),
  ];
  return shorter.find((text) => text !== undefined && widthOf(text) <= room) ?? NO_ROOM;
}

/** Width in digits: points and the spaces of groups are narrow. */
function widthOf(text: string): number {
  return text.length - (text.match(/[.\u202f]/g)?.length ?? 0) / 2;
}

function fewerDecimals(value: number, full: string, room: number): string | undefined {
  const [whole, fraction = ''] = full.split('.');
  if (fraction === '' || full.includes('e')) return undefined;
  const kept = Math.min(fraction.length, room - whole.length - 1);
  const digits = figuresBefore(value, whole);
  if (kept + digits < FIGURES || kept < 1) {
    return whole.length <= room && digits >= FIGURES ? formatInteger(Math.round(value)) : undefined;
  }
  const [rounded, rest] = Math.abs(value).toFixed(kept).split('.');
  const sign = value < 0 ? '\u2212' : '';
  return `${sign}${formatInteger(Number(rounded))}.${rest}`;
}

/** Figures before the point; below 1, the zeros after it count against those that follow. Zero has all that matter. */
function figuresBefore(value: number, whole: string): number {
  const size = Math.abs(value);
  if (size === 0) return FIGURES;
  return size < 1 ? Math.floor(Math.log10(size)) + 1 : whole.replace(/\D/g, '').length;
}

function scaled(value: number, figures: number): string | undefined {
  const size = Math.abs(value);
  if (size < 1000) return undefined;
  let power = Math.min(PREFIXES.length - 1, Math.floor(Math.log10(size) / 3));
  let text = (size / 1000 ** power).toPrecision(figures);
  // 999 999 is a million in three digits.
  if (Number(text) >= 1000 && power < PREFIXES.length - 1) {
    power++;
    text = (size / 1000 ** power).toPrecision(figures);
  }
  // Two figures of 123 thousand would be 1.2e+2.
  return text.includes('e') ? undefined : `${value < 0 ? '\u2212' : ''}${text}${GROUP}${PREFIXES[power]}`;
}

/** A number of few figures, for what is much smaller than 1 or too large for a prefix. */
function exponential(value: number, full: string, figures: number): string | undefined {
  if (!/[.e]/.test(full)) return undefined;
  const size = Math.abs(value);
  const sign = value < 0 ? '\u2212' : '';
  if (size >= 1e-3 && size < 1e3) return `${sign}${Number(size.toPrecision(figures))}`;
  return (
    sign +
    size
      .toExponential(figures - 1)
      .replace('+', '')
      .replace('e-', 'e\u2212')
  );
}
