import { expect, it } from 'vitest';
import { parseKnown, resolve, targetsIn } from './resolve.ts';
import { formatExpression, parseExpression, referencesIn } from './syntax.ts';

const rewritten = (text: string) => formatExpression(parseExpression(text));

it.each([
  ['engine.torque*engine.speed/9.549', 'engine.torque * engine.speed / 9.549'],
  ['plant/engine.torque/engine.speed', 'plant/engine.torque / engine.speed'],
  ['"plant-7"/"oven 1"."top.left" - 2', '"plant-7"/"oven 1".top.left - 2'],
  ['a.b - (c.d - e.f)', 'a.b - (c.d - e.f)'],
  ['(a.b + c.d) * 2', '(a.b + c.d) * 2'],
  ['-a.b ^ 2', '-a.b ^ 2'],
  ['(-a.b)^2', '(-a.b) ^ 2'],
  ['2^3^a.b', '2 ^ 3 ^ a.b'],
  ['(2^3)^a.b', '(2 ^ 3) ^ a.b'],
  ['pi*a.r^2', 'pi * a.r ^ 2'],
  ['min( a.b ,1e-3 , .5)', 'min(a.b, 1e-3, .5)'],
  ['(a.b in [kW]) + 2 [W]', '(a.b in [kW]) + 2 [W]'],
  ['a.b as [[in_i]/s]', 'a.b as [[in_i]/s]'],
  ['arm.axes[2].position - arm.pose.x', 'arm.axes[2].position - arm.pose.x'],
  ['öl.druck', 'öl.druck'],
  ['"pi".x * "say \\"hi\\"".y', '"pi".x * "say \\"hi\\"".y'],
])('reads %s', (text, canonical) => {
  expect(rewritten(text)).toBe(canonical);
  expect(rewritten(canonical)).toBe(canonical);
});

it.each([
  ['', 'not complete'],
  ['a.b +', 'not complete'],
  ['a.b)', ') is not expected here'],
  ['(a.b', ') is missing'],
  ['plant-7/oven.temperature', 'plant is not a metric'],
  ['speed', 'speed is not a metric'],
  ['a.', 'metric is missing'],
  ['a.b in kW', 'unit in brackets'],
  ['a.b in [kW', 'not closed'],
  ['"a.b', 'not closed'],
  ['tan(a.b)', 'no function tan'],
  ['constructor(a.b)', 'no function constructor'],
  ['sqrt(a.b, 2)', 'sqrt takes 1 value'],
  ['min(a.b)', 'min takes 2 to 8 values'],
  ['a.b = 1', '= is not expected'],
  [`${'('.repeat(100)}a.b${')'.repeat(100)}`, 'too many parts'],
  [`${'-'.repeat(300)}a.b`, 'too many parts'],
  ['1+'.repeat(240), 'too many parts'],
  ['x'.repeat(501), 'at most 500'],
  [Array.from({ length: 17 }, () => 'a.b').join('+'), 'at most 16 metrics'],
])('says what is wrong with %s', (text, problem) => {
  expect(() => parseExpression(text)).toThrow(problem);
});

it('adds the node where one alone has the instance', () => {
  const instances = [
    { node: 'plant-7', instance: 'oven' },
    { node: 'plant-8', instance: 'oven' },
    { node: 'plant-8', instance: 'valve' },
  ];
  const resolved = (text: string) => formatExpression(resolve(parseExpression(text), instances));
  expect(resolved('valve.x * 2')).toBe('"plant-8"/valve.x * 2');
  expect(resolved('"plant-7"/oven.x')).toBe('"plant-7"/oven.x');
  expect(() => resolved('oven.x')).toThrow(
    'Several nodes have an instance oven: write "plant-7"/oven or "plant-8"/oven',
  );
  expect(() => resolved('pump.x')).toThrow('There is no instance pump');
  expect(() => resolved('mill/oven.x')).toThrow('There is no instance mill/oven');
});

it('knows the instances of an expression of a layout, and takes nothing without a node', () => {
  expect(targetsIn('n/a.b + n/a.c - m/a.b')).toEqual([
    { node: 'n', instance: 'a' },
    { node: 'm', instance: 'a' },
  ]);
  expect(parseKnown('a.b')).toBeUndefined();
  expect(targetsIn('n/a.b +')).toEqual([]);
  expect(referencesIn(parseExpression('a.b * a.b'))).toHaveLength(2);
});
