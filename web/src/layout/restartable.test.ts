import { expect, it, vi } from 'vitest';
import { endAll, Restartable, startAll } from './restartable.ts';

const fails = () => {
  throw new TypeError("cannot read properties of undefined (reading 'dispose')");
};

it('begins anew what cannot be emptied, even if its end fails too', () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const [sweep, clear] = [vi.fn(), vi.fn()];
  const made = [
    { clear: fails, dispose: fails },
    { clear, dispose: vi.fn() },
  ];
  const kept = new Restartable(() => made.shift() ?? { clear: fails, dispose: fails }, sweep);
  kept.clear();
  expect(sweep).toHaveBeenCalledTimes(1);
  kept.clear();
  expect(clear).toHaveBeenCalledTimes(1);
  const { dispose } = kept.current;
  kept.dispose();
  kept.dispose();
  expect(dispose).toHaveBeenCalledTimes(1);
  expect(sweep).toHaveBeenCalledTimes(2);
});

it('ends what was made only in part without an error', () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const sweep = vi.fn();
  new Restartable(() => ({ clear: fails, dispose: fails }), sweep).dispose();
  expect(sweep).toHaveBeenCalledTimes(1);
});

it('ends what has begun, last first, if the next one cannot begin', () => {
  const ended: string[] = [];
  const start = (name: string) => () => () => void ended.push(name);
  expect(() => startAll([start('one'), start('two'), fails, start('three')])).toThrow(TypeError);
  expect(ended).toEqual(['two', 'one']);
  const end = startAll([start('four'), start('five')]);
  end();
  end();
  expect(ended).toEqual(['two', 'one', 'five', 'four']);
});

it('ends all others if the end of one fails', () => {
  const ended: string[] = [];
  expect(() => endAll([() => void ended.push('one'), fails, () => void ended.push('three')])).toThrow(
    'dispose',
  );
  expect(ended).toEqual(['three', 'one']);
});
