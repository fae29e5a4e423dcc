import { isNumber, isSameDimension, parseUnit, type Unit } from './units.ts';

/** How a value is converted to another unit: times `factor`, plus `offset`. */
export interface Conversion {
  readonly factor: number;
  readonly offset: number;
}

/** Units that panels offer; any other one that UCUM has can be typed. */
const OFFERED: readonly string[] = [
  ...['um', 'mm', 'cm', 'm', 'km', '[in_i]', '[ft_i]', '[mi_i]', '[nmi_i]'],
  ...['m/s', 'km/h', '[mi_i]/h', '[kn_i]', 'm/s2', '[g]'],
  ...['ns', 'us', 'ms', 's', 'min', 'h', 'd', 'Hz', 'kHz', 'MHz', '/min'],
  ...['Cel', 'K', '[degF]', 'Pa', 'hPa', 'kPa', 'mbar', 'bar', '[psi]'],
  ...['deg', 'rad', 'deg/s', 'rad/s', '%', '1', '[ppm]'],
  ...['W', 'kW', 'MW', '[HP]', 'J', 'kJ', 'W.h', 'kW.h', 'N', 'kN', '[lbf_av]', 'N.m'],
  ...['g', 'kg', 't', '[lb_av]', 'ml', 'l', 'm3', 'l/min', 'm3/h'],
  ...['mV', 'V', 'kV', 'mA', 'A', 'Ohm', 'kOhm'],
  ...['bit', 'kbit', 'Mbit', 'By', 'kBy', 'MBy', 'GBy', 'KiBy', 'MiBy', 'GiBy'],
  ...['bit/s', 'kbit/s', 'Mbit/s', 'By/s', 'kBy/s', 'MBy/s', 'KiBy/s', 'MiBy/s'],
];

const ANGLES = ['deg', 'rad', 'sr', "'", "''"];

/** Returns how values of a unit become values of another; undefined if that is not possible. */
export function conversion(from: string | undefined, to: string | undefined): Conversion | undefined {
  const [one, other] = [known(from), known(to)];
  if (!one || !other || !isSameDimension(one, other)) return undefined;
  // Angles and shares are numbers, but not of the same thing.
  if (isNumber(one) && isAngle(one) !== isAngle(other)) return undefined;
  return { factor: one.factor / other.factor, offset: (one.offset - other.offset) / other.factor };
}

/** Returns the units that values of any of these units can be shown in. */
export function unitsFor(units: readonly (string | undefined)[]): string[] {
  const own = units.flatMap((unit) => unit ?? []);
  const found = OFFERED.filter((offered) => units.some((unit) => conversion(unit, offered)));
  return [...new Set([...own, ...found])];
}

export function convert(value: number, { factor, offset }: Conversion): number {
  return value * factor + offset;
}

function known(unit: string | undefined): Unit | undefined {
  try {
    return parseUnit(unit);
  } catch {
    return undefined;
  }
}

function isAngle({ symbols }: Unit): boolean {
  return [...symbols.keys()].some((symbol) => ANGLES.includes(symbol));
}
