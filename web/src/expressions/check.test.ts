import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { checkExpression, isChecked } from './check.ts';
import { evaluate } from './evaluate.ts';
import { mapReferences, parseExpression } from './syntax.ts';
import { nameOfUnit, parseUnit } from './units.ts';

const UNITS: Record<string, string | undefined> = {
  torque: 'N.m',
  speed: '/min',
  turn: 'deg/s',
  voltage: 'V',
  millivolts: 'mV',
  current: 'A',
  distance: 'm',
  length: 'mm',
  time: 's',
  wait: 'min',
  temperature: 'Cel',
  kelvin: 'K',
  share: '%',
  angle: 'deg',
  packets: '{packet}',
  bytes: 'By',
  memory: 'KiBy',
  odd: '[quux]',
  plain: undefined,
  name: 'text',
};

const schema = parseSchema({
  name: 'E',
  uuid: 'u',
  version: '1',
  metrics: [
    ...Object.entries(UNITS).map(([name, unit]) =>
      unit === 'text' ? { name, type: 'string' } : { name, type: 'real64', ...(unit && { unit }) },
    ),
    {
      name: 'axes',
      type: { vector: { struct: { name: 'A', members: [{ name: 'x', type: 'real64', unit: 'm' }] } } },
    },
  ],
});

/** The unit of an expression, and its value if every metric is 2. */
function checked(text: string) {
  const syntax = mapReferences(parseExpression(text), (reference) => ({ ...reference, node: 'n' }));
  const found = checkExpression(syntax, () => schema);
  if (!isChecked(found)) throw new Error('no schema');
  const { plan, unit } = found;
  const signal = {
    times: Float64Array.of(0, 1000),
    values: Float64Array.of(2, 2),
    breaks: new Uint8Array(2),
    maxAge: 1,
    until: Number.POSITIVE_INFINITY,
  };
  const { values } = evaluate(
    plan.root,
    plan.inputs.map(() => ({ ...signal, values: signal.values.slice() })),
  );
  return [unit, Number(values[1].toPrecision(9))];
}

it.each([
  ['e.torque * e.speed / 9.549', 'N.m/min', 0.418892031],
  ['e.torque * e.speed / 9.549 as [W]', 'W', 0.418892031],
  ['2 * pi * e.torque * e.speed in [W]', 'W', 0.41887902],
  ['e.voltage * e.current', 'V.A', 4],
  ['e.voltage * e.current in [mW]', 'mW', 4000],
  ['e.voltage / e.current in [kOhm]', 'kOhm', 0.001],
  ['e.voltage + e.millivolts', 'V', 2.002],
  ['e.millivolts + e.voltage', 'mV', 2002],
  ['e.voltage + 1', 'V', 3],
  ['1 - e.voltage', 'V', -1],
  ['e.voltage / e.voltage', undefined, 1],
  ['e.voltage / e.millivolts', undefined, 1000],
  ['e.distance / e.time in [km/h]', 'km/h', 3.6],
  ['e.time + e.wait', 's', 122],
  ['e.voltage * e.share', 'V', 0.04],
  ['e.share * e.share', undefined, 0.0004],
  ['e.turn * e.distance', 'm/s', 0.0698131701],
  ['sin(e.angle)', undefined, 0.0348994967],
  ['cos(e.plain)', undefined, -0.416146837],
  ['sin(30 [deg]) * e.plain', undefined, 1],
  ['sqrt(e.distance ^ 2 + e.length ^ 2)', 'm', 2.000001],
  ['e.distance ^ 3', 'm3', 8],
  ['sqrt(e.distance * e.distance)', 'm', 2],
  ['e.temperature - 20 [Cel]', 'K', -18],
  ['e.temperature - e.temperature', 'K', 0],
  ['(e.temperature + e.temperature) / 2', 'Cel', 2],
  ['e.temperature + e.kelvin', 'Cel', 4],
  ['e.temperature in [K]', 'K', 275.15],
  ['e.kelvin in [Cel]', 'Cel', -271.15],
  ['e.temperature in [[degF]]', '[degF]', 35.6],
  ['rate(e.distance)', 'm/s', 0],
  ['rate(e.share)', '%/s', 0],
  ['rate(e.temperature)', 'K/s', 0],
  ['rate(e.bytes) in [KiBy/s]', 'KiBy/s', 0],
  ['mean(e.voltage, 10)', 'V', 2],
  ['mean(e.voltage, 1 [min])', 'V', 2],
  ['min(e.voltage, e.millivolts, 5)', 'V', 0.002],
  ['max(e.plain, 3)', undefined, 3],
  ['abs(-e.voltage)', 'V', 2],
  ['exp(log(e.plain))', undefined, 2],
  ['e.memory / e.bytes', undefined, 1024],
  ['e.packets / e.time', '{packet}/s', 1],
  ['e.odd * 2 + e.odd', '[quux]', 6],
  ['e.odd / e.time', '[quux]/s', 1],
  ['e.axes[3].x * 2', 'm', 4],
  ['2 ^ e.plain', undefined, 4],
  ['e.plain ^ -1', undefined, 0.5],
])('computes %s in %s', (text, unit, value) => {
  expect(checked(text)).toEqual([unit, value]);
});

it.each([
  ['e.temperature + e.voltage', 'Cannot add °C and V.'],
  ['e.voltage - e.current', 'Cannot subtract A from V.'],
  ['e.voltage + e.plain', 'Cannot add V and no unit.'],
  ['e.voltage + e.odd', 'Cannot add V and quux.'],
  ['max(e.voltage, e.current)', 'Cannot compare V with A.'],
  ['e.voltage in [A]', 'Cannot convert V to A.'],
  ['e.temperature * e.current', '°C does not begin at zero'],
  ['-e.temperature', '°C does not begin at zero'],
  ['e.kelvin - e.temperature', '°C does not begin at zero'],
  ['log(e.voltage)', 'log takes a value without a unit, and not V.'],
  ['sin(e.voltage)', 'sin takes a value without a unit'],
  ['sqrt(e.voltage)', 'V has no square root.'],
  ['e.voltage ^ 0.5', 'no such power of V'],
  ['e.voltage ^ e.plain', 'takes only a number as exponent'],
  ['2 ^ e.voltage', 'An exponent has no unit'],
  ['mean(e.voltage, e.time)', 'number of seconds, at most 600'],
  ['mean(e.voltage, 601)', 'at most 600'],
  ['mean(e.voltage, 0)', 'at most 600'],
  ['e.missing', 'e has no metric missing.'],
  ['e.name', 'e.name is not a number.'],
  ['1 + 2', 'has no metric'],
  [`e.voltage in [${'x'.repeat(61)}]`, 'at most 60 characters'],
])('says what is wrong with %s', (text, problem) => {
  expect(() => checked(text)).toThrow(problem);
});

it('waits for the schema of an instance', () => {
  const syntax = mapReferences(parseExpression('e.x'), (reference) => ({ ...reference, node: 'n' }));
  expect(checkExpression(syntax, () => undefined)).toEqual({ node: 'n', instance: 'e' });
});

it.each(['m/s2', 'kBy', '/s', 'N.m', '{packet}/s', 'm[Hg]', '10*3.m', 'By{sent}', '%', 'kg/(m.s2)'])(
  'keeps the unit %s as it is written',
  (unit) => {
    expect(nameOfUnit(parseUnit(unit))).toBe(
      unit === 'By{sent}' ? 'By' : unit === '10*3.m' ? '10*3.m' : unit,
    );
  },
);
