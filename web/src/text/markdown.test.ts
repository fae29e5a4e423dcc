import { expect, it } from 'vitest';
import { mapValues, parseMarkdown, valuesIn } from './markdown.ts';

const text = (value: string) => ({ kind: 'text', text: value });

it('reads headings, paragraphs, lists, quotes, code and rules', () => {
  const source = [
    '# Engine **1**',
    'first line',
    'second line',
    '',
    '- one',
    '- two',
    '1. three',
    '> quoted',
    '---',
    '```',
    '# no heading',
    '```',
  ].join('\n');
  expect(parseMarkdown(source)).toEqual([
    { kind: 'heading', level: 1, of: [text('Engine '), { kind: 'strong', of: [text('1')] }] },
    { kind: 'paragraph', of: [text('first line\nsecond line')] },
    { kind: 'list', isOrdered: false, items: [[text('one')], [text('two')], [text('three')]] },
    { kind: 'quote', of: [text('quoted')] },
    { kind: 'rule' },
    { kind: 'code', text: '# no heading' },
  ]);
});

it('finds values, also within emphasis, but not in code', () => {
  const source = 'Power **{{ e.torque * e.speed }}**, `{{ no }}` and {{e.x}}, {{e.x}}';
  expect(valuesIn(source)).toEqual(['e.torque * e.speed', 'e.x']);
  expect(mapValues('a {{e.x}} b', (expression) => `n/${expression}`)).toBe('a {{ n/e.x }} b');
});

it.each([
  '[x](javascript:alert(1))',
  '[x](data:text/html,x)',
  '[x](//host)',
  '<img src=x onerror=alert(1)>',
  '**not closed',
  '{{}}',
  '2 * 3 * ',
])('leaves %s as text', (source) => {
  expect(parseMarkdown(source)).toEqual([
    { kind: 'paragraph', of: [text(source.trimEnd() === source ? source : source)] },
  ]);
});

it('links pages only', () => {
  expect(parseMarkdown('[docs](https://example.org/a)')).toEqual([
    { kind: 'paragraph', of: [{ kind: 'link', address: 'https://example.org/a', of: [text('docs')] }] },
  ]);
});

it('ends in time on hostile texts', () => {
  for (const hostile of [
    '*'.repeat(10_000),
    '['.repeat(10_000),
    '{{'.repeat(5000),
    '`'.repeat(9999),
    '\n>'.repeat(5000),
  ])
    expect(parseMarkdown(hostile).length).toBeGreaterThan(0);
  expect(valuesIn(Array.from({ length: 100 }, (_, index) => `{{e.x${index}}}`).join(''))).toHaveLength(30);
});
