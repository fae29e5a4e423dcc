import { describe, expect, it } from 'vitest';
import { matcher, matching, pairsIn } from './matches.ts';

const ANY = { nodes: '*', instances: '*', types: '*', labels: '' };
const entries = ['line-10', 'line-9', 'mill'].flatMap((node) => [
  { node, instance: 'engine', type: 'Engine' },
  { node, instance: 'pump', type: 'Pump' },
]);
const labels = ({ node }: { node: string }): Readonly<Record<string, string>> =>
  node === 'mill' ? {} : { site: 'graz', rack: node };
const names = (selection: Partial<typeof ANY>) =>
  matching(entries, { ...ANY, ...selection }, labels).map(({ node, instance }) => `${node}/${instance}`);

describe('instances that match', () => {
  it('are sorted as people count', () => {
    expect(names({ instances: 'engine' })).toEqual(['line-9/engine', 'line-10/engine', 'mill/engine']);
  });

  it('match by node, instance, type and all labels', () => {
    expect(names({ nodes: 'line-*', types: 'Pump' })).toEqual(['line-9/pump', 'line-10/pump']);
    expect(names({ labels: 'site=graz, rack=*-9', instances: 'e*' })).toEqual(['line-9/engine']);
    expect(names({ labels: 'site' })).toHaveLength(4);
    expect(names({ labels: 'site=graz, floor=*' })).toEqual([]);
    expect(names({ labels: 'constructor=*' })).toEqual([]);
  });
});

it('matches a pattern as long as the name is, however many stars it has', () => {
  const cases: [string, string, boolean][] = [
    ['*', '', true],
    ['a*b', 'ab', true],
    ['a*b', 'a', false],
    ['ab*b', 'ab', false],
    ['*x*', 'axb', true],
    ['a.c', 'abc', false],
    ['', '', true],
    ['', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['*ab*ab', 'ab', false],
  ];
  for (const [pattern, name, isMatch] of cases)
    expect([pattern, name, matcher(pattern)(name)]).toEqual([pattern, name, isMatch]);
  expect(matcher('*a'.repeat(90))('a'.repeat(100_000))).toBe(true);
  expect(matcher(`${'*a'.repeat(90)}b`)('a'.repeat(100_000))).toBe(false);
});

it('reads pairs of labels, and none of an empty text', () => {
  expect(pairsIn(' a=b ,, c , d = e=f')).toEqual([
    ['a', 'b'],
    ['c', '*'],
    ['d', 'e=f'],
  ]);
  expect(pairsIn('')).toEqual([]);
});
