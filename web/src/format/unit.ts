/** Common notations of UCUM symbols, without prefix. Other symbols stay unchanged. */
const SYMBOLS = new Map([
  ['By', 'B'],
  ['Cel', '°C'],
  ['deg', '°'],
  ['Ohm', 'Ω'],
  ["'", '′'],
  ["''", '″'],
]);
const PREFIX = /^(?:[KMGT]i|da|[YZEPTGMkhdcmunpfazy])/;
const RAISED = new Map([...'0123456789+-'].map((digit, index) => [digit, '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻'.charAt(index)]));

/** Longest displayed unit, in letters. */
const MAX_UNIT_LENGTH = 24;

/** `KiBy/s` as `KiB/s`, `m/s2` as `m/s²`, `{packet}` as `packet`. */
export function formatUnit(unit: string | undefined): string {
  if (!unit || unit === '1') return '';
  const readable = unit.replace(/\{[^}]*\}|[./]|[^./{}]+/g, (part, at: number) => {
    if (part === '/') return part;
    if (part === '.') return '·';
    if (!part.startsWith('{')) return formatFactor(part);
    // Annotations such as {jiffy} say what is counted.
    const isFirst = at === 0 || './'.includes(unit.charAt(at - 1));
    return (isFirst ? '' : ' ') + part.slice(1, -1);
  });
  const whole = readable.startsWith('/') ? `1${readable}` : readable;
  return whole.length > MAX_UNIT_LENGTH ? `${whole.slice(0, MAX_UNIT_LENGTH - 1)}\u2026` : whole;
}

function formatFactor(factor: string): string {
  const [, symbol = factor, exponent = ''] = /^(.*?\D)([+-]?\d+)$/.exec(factor) ?? [];
  const raised = Array.from(exponent, (digit) => RAISED.get(digit)).join('');
  return formatSymbol(symbol) + raised;
}

function formatSymbol(symbol: string): string {
  const known = SYMBOLS.get(symbol);
  if (known !== undefined) return known;
  if (symbol === '10*' || symbol === '10^') return '10';
  // [in_i] is the international inch, dB[W] a level over a watt.
  if (symbol.startsWith('[')) return symbol.slice(1, -1).replace(/_.*$/, '').replace(/^deg/, '°');
  const prefix = PREFIX.exec(symbol)?.[0] ?? '';
  const rest = symbol.slice(prefix.length);
  const shown = SYMBOLS.get(rest);
  // None of the symbols that stay as they are begins with `u`, but for the atomic mass.
  if (shown === undefined) return symbol.replace(/^u(?=.)/, 'µ');
  return (prefix === 'u' ? 'µ' : prefix) + shown;
}

const BYTES = new Map([
  ['By', 1],
  ['kBy', 1000],
  ['KiBy', 1024],
  ['MBy', 1e6],
  ['MiBy', 1024 ** 2],
]);
const PREFIXES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

const SECONDS = new Map([
  ['s', 1],
  ['ms', 1e-3],
  ['us', 1e-6],
  ['ns', 1e-9],
]);

/** Returns the number of seconds in a unit, if it is a unit of durations that scales by thousands. */
export function durationSize(unit: string | undefined): number | undefined {
  return SECONDS.get(unit ?? '');
}

/** Returns the number of bytes in a unit, if it is a unit of bytes. */
export function byteSize(unit: string | undefined): number | undefined {
  return BYTES.get(unit ?? '');
}

/** Formats a large number of bytes in few digits; empty if the value is readable as it is. */
export function scaledBytes(value: number | bigint, unit: string | undefined): string | undefined {
  const size = byteSize(unit);
  if (size === undefined) return undefined;
  const bytes = Number(value) * size;
  return bytes >= 10 * 1024 ? formatBytes(bytes) : undefined;
}

/** Bytes in few digits. */
export function formatBytes(bytes: number): string {
  let scaled = bytes;
  let prefix = 0;
  while (scaled >= 1024 && prefix < PREFIXES.length - 1) {
    scaled /= 1024;
    prefix++;
  }
  return `${scaled >= 100 || prefix === 0 ? scaled.toFixed(0) : scaled.toFixed(1)} ${PREFIXES[prefix]}`;
}
