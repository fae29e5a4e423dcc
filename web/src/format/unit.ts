/** UCUM units as people write them; what is not in the table stays as it is. */
const KNOWN = new Map([
  ['By', 'B'],
  ['kBy', 'kB'],
  ['KiBy', 'KiB'],
  ['MBy', 'MB'],
  ['MiBy', 'MiB'],
  ['GBy', 'GB'],
  ['GiBy', 'GiB'],
  ['bit', 'bit'],
  ['Cel', '°C'],
  ['deg', '°'],
  ['us', 'µs'],
  ['Ohm', 'Ω'],
  ['1', ''],
]);

export function formatUnit(unit: string | undefined): string {
  if (!unit) return '';
  const known = KNOWN.get(unit);
  if (known !== undefined) return known;
  // Annotations such as {jiffy} say what is counted.
  return unit.replace(/\{([^}]*)\}/g, '$1');
}

const BYTES = new Map([
  ['By', 1],
  ['kBy', 1000],
  ['KiBy', 1024],
  ['MBy', 1e6],
  ['MiBy', 1024 ** 2],
]);
const PREFIXES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Many bytes in few digits, or nothing if the value can be read as it is. */
export function scaledBytes(value: number | bigint, unit: string | undefined): string | undefined {
  const size = BYTES.get(unit ?? '');
  if (size === undefined) return undefined;
  let scaled = Number(value) * size;
  if (!(scaled >= 10 * 1024)) return undefined;
  let prefix = 0;
  while (scaled >= 1024 && prefix < PREFIXES.length - 1) {
    scaled /= 1024;
    prefix++;
  }
  return `${scaled >= 100 ? scaled.toFixed(0) : scaled.toFixed(1)} ${PREFIXES[prefix]}`;
}
