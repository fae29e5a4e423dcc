import { expect, it } from 'vitest';
import { defaultChoice } from './choice.ts';

const entry = (node: string, instance: string, type: string, state = 'online') => ({
  ...{ node, instance, type, state },
});
const GONE = entry('rules', 'Old on plant-7/pump', 'OASIS::Rules::Old');
const PUMP = entry('plant-7', 'pump', 'Plant::Pump');
const AWAY = entry('plant-6', 'pump', 'Plant::Pump', 'offline');

const namesOf = (...entries: (typeof PUMP)[]) =>
  defaultChoice(entries).targets.map(({ node, instance }) => `${node}/${instance}`);

it('chooses probes before results of rules, and those that are online before others', () => {
  expect(namesOf(GONE, AWAY, PUMP)).toEqual(['plant-7/pump']);
  expect(namesOf(GONE, AWAY)).toEqual(['plant-6/pump']);
  expect(namesOf({ ...GONE, state: 'offline', instance: 'a' }, GONE)).toEqual(['rules/Old on plant-7/pump']);
  expect(namesOf()).toEqual([]);
  expect(defaultChoice([GONE, AWAY]).isLive).toBe(false);
  expect(defaultChoice([GONE, PUMP]).isLive).toBe(true);
});

it('is complete with a processor and a memory that are online', () => {
  const [processor, memory] = ['Processor', 'Memory'].map((type) => entry('n', type, `OASIS::Host::${type}`));
  expect(namesOf(PUMP, memory, processor)).toEqual(['n/Processor', 'n/Memory']);
  expect(defaultChoice([memory, processor]).isComplete).toBe(true);
  expect(defaultChoice([memory, { ...processor, state: 'offline' }]).isComplete).toBe(false);
});
