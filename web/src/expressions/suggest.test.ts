import { expect, it } from 'vitest';
import { suggest } from './suggest.ts';

const INSTANCES = [
  { node: 'plant-7', instance: 'engine' },
  { node: 'plant-7', instance: 'oven 1' },
  { node: 'plant-8', instance: 'oven 1' },
];
const METRICS = [
  { name: 'torque', detail: 'N·m' },
  { name: '"top speed"', detail: 'm/s' },
];

/** The texts that the suggestions make of what was typed. */
function completed(before: string): string[] {
  return suggest(before, INSTANCES, () => METRICS).map(({ insert, from }) => before.slice(0, from) + insert);
}

it.each([
  ['eng', ['engine.']],
  ['2 * ENG', ['2 * engine.']],
  ['m', ['min(', 'max(', 'mean(']],
  ['ov', ['"plant-7"/"oven 1".', '"plant-8"/"oven 1".']],
  ['"oven', ['"plant-7"/"oven 1".', '"plant-8"/"oven 1".']],
  ['plant-8/ov', ['"plant-8"/"oven 1".']],
  ['2+plant-8/ov', ['2+"plant-8"/"oven 1".']],
  ['"plant-8"/', ['"plant-8"/"oven 1".']],
  ['engine.', ['engine.torque', 'engine."top speed"']],
  ['engine.sp', ['engine."top speed"']],
  ['engine."top', ['engine."top speed"']],
  ['engine.torque/engine.to', ['engine.torque/engine.torque', 'engine.torque/engine."top speed"']],
  ['engine.torque/eng', ['engine.torque/engine.']],
  ['plant-7/engine.tor', ['"plant-7"/engine.torque']],
  ['"plant-7"/engine.tor', ['"plant-7"/engine.torque']],
  ['', []],
  ['2 * ', []],
  ['pump.', []],
])('completes %s', (typed, texts) => {
  expect(completed(typed)).toEqual(texts);
});

it('suggests a dozen of many instances, those first that begin with what was typed', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => ({
    node: `n${index}`,
    instance: `big engine ${index}`,
  }));
  const found = suggest('engine', [...many, { node: 'n', instance: 'engine' }], () => []);
  expect(found).toHaveLength(12);
  expect(found[0].insert).toBe('engine.');
});
