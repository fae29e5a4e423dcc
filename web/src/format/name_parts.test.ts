import { expect, it } from 'vitest';
import { partsOf, tellingWords } from './name_parts.ts';

const cell = (number: string) => `assembly-line-17-hall-north-cell-${number}-controller-primary`;
const shown = (name: string, telling: ReadonlySet<string>) =>
  partsOf(name, telling)
    .map(({ from, to, stays }) => (stays ? name.slice(from, to) : '~'))
    .join('');

it('keeps the words that tell names apart, and cuts around them', () => {
  const telling = tellingWords([cell('0042'), cell('0043'), 'plant-7', 'plant-8']);
  expect([...telling]).toEqual(['0042', '0043']);
  expect(shown(cell('0042'), telling)).toBe('~0042~');
  expect(shown(`spindle_motor_drive_A (${cell('0043')})`, telling)).toBe('~0043~');
});

it('tells all names of a line apart, also those that differ in two places', () => {
  const names = ['0042', '0043'].flatMap((number) =>
    ['left', 'right'].map((side) => `${cell(number)}-${side}`),
  );
  const telling = tellingWords(names);
  expect(new Set(names.map((name) => shown(name, telling))).size).toBe(names.length);
});

it('keeps neighboring words as one part', () => {
  const rules = ['Boiler', 'Pump'].flatMap((type) =>
    ['above', 'below'].map((side) => `Demo::${type}.temperature ${side} range`),
  );
  const telling = tellingWords(rules);
  expect(shown(rules[0], telling)).toBe('~Boiler~above range');
  expect(partsOf('assembly-line-hall-17-42-left-robot', new Set(['17', '42', 'left']))).toEqual([
    { from: 0, to: 19, stays: false },
    { from: 19, to: 35, stays: true },
  ]);
});

it('keeps the end of a name that has no such word', () => {
  expect(shown('spindle_motor_drive_monitor_A', new Set())).toBe('~_monitor_A');
  expect(shown('spindle_motor_drive_monitor_A', new Set(['A']))).toBe('~_monitor_A');
  expect(shown('engine', new Set(['engine']))).toBe('engine');
});

it('leaves letters of two units whole, and nothing out', () => {
  const name = `${'\u{1f600}'.repeat(12)}abcdefghi`;
  expect(partsOf(name, new Set()).map(({ to }) => to)).toEqual([24, name.length]);
  const parts = partsOf(cell('0042'), new Set(['0042', 'north', 'primary']));
  expect(parts.map(({ from, to }) => cell('0042').slice(from, to)).join('')).toBe(cell('0042'));
});
