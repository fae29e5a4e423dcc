import { expect, it } from 'vitest';
import { Disables } from './disables.ts';

const PUMP = { node: 'plant-7', instance: 'pump' };
const command = (name: string, time: number, outcome = 'done') => ({
  ...PUMP,
  command: name,
  outcome,
  time: time * 1e6,
});

it('knows from the commands of the DAC which silences were those of a disabled probe', () => {
  const disables = new Disables();
  const gap = (from: number, to: number, cause = 'silent') => ({ from, to, cause, count: 0 });
  const causes = (target: typeof PUMP, ...gaps: ReturnType<typeof gap>[]) =>
    disables.explain(target, gaps, ({ from, to }) => [from, to]).map(({ cause }) => cause);
  expect(causes(PUMP, gap(10_000, 12_000))).toEqual(['silent']);
  disables.read({
    commands: [command('disable', 10_010), command('disable', 30_000, 'timeout'), command('enable', 50_000)],
  });
  expect(causes(PUMP, gap(10_000, 12_000), gap(29_000, 31_000), gap(49_000, 51_000))).toEqual([
    'disabled',
    'silent',
    'silent',
  ]);
  expect(causes(PUMP, gap(10_000, 12_000, 'node_restart'))).toEqual(['node_restart']);
  expect(causes({ ...PUMP, instance: 'fan' }, gap(10_000, 12_000))).toEqual(['silent']);
  disables.read(undefined);
  expect(causes(PUMP, gap(10_000, 12_000))).toEqual(['silent']);
});
