import { expect, it } from 'vitest';
import { NO_LABELS } from '../wire/settings.ts';
import { captured, groupOf, prefixOf } from './group.ts';

const labels = { site: 'graz' };
const row = { node: 'line-3-press-07', instance: 'motor', type: 'Plant::Motor', labels };

it('groups by node, type, or a part of the name', () => {
  expect(groupOf({ by: 'none', text: '' }, row)).toBe('');
  expect(groupOf({ by: 'node', text: '' }, row)).toBe('line-3-press-07');
  expect(groupOf({ by: 'type', text: '' }, row)).toBe('Plant::Motor');
  expect(groupOf({ by: 'prefix', text: '-press' }, row)).toBe('line-3');
  expect(groupOf({ by: 'pattern', text: 'line-*-press-*' }, row)).toBe('3');
  expect(groupOf({ by: 'pattern', text: 'mo*' }, row)).toBe('tor');
  expect(groupOf({ by: 'pattern', text: 'hall-*' }, row)).toBe('');
});

it('groups by the value of a label', () => {
  expect(groupOf({ by: 'label', text: 'site' }, row)).toBe('graz');
  expect(groupOf({ by: 'label', text: 'rack' }, row)).toBe('');
  expect(groupOf({ by: 'label', text: 'constructor' }, { ...row, labels: NO_LABELS })).toBe('');
});

it('takes the number at the end of a name away without a delimiter', () => {
  for (const [name, prefix] of [
    ['plant-7', 'plant'],
    ['plant7', 'plant'],
    ['rack/12', 'rack'],
    ['plant', 'plant'],
    ['42', '42'],
  ])
    expect(prefixOf(name, '')).toBe(prefix);
  expect(prefixOf('a.b.c', '.')).toBe('a.b');
  expect(prefixOf('abc', '.')).toBe('abc');
});

it('captures what the first star stands for, and nothing if the pattern does not match', () => {
  expect(captured('*', 'abc')).toBe('abc');
  expect(captured('a*c', 'abbc')).toBe('bb');
  expect(captured('a*b*', 'axxbb')).toBe('xx');
  expect(captured('abc', 'abc')).toBe('abc');
  expect(captured('abc', 'abd')).toBeUndefined();
  expect(captured('a*a', 'a')).toBeUndefined();
  expect(captured('a*.b', 'a.c')).toBeUndefined();
});
