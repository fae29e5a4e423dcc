import { expect, it } from 'vitest';
import { parseExpression } from '../expressions/syntax.ts';
import { insert, parseProposals } from './completion.ts';
import { deriveRule } from './derive.ts';
import { fileNameOf, isFileName } from './draft.ts';
import { parseRuleList } from './files.ts';
import { highlight, offsetOf, placeAt, rangeOf } from './highlight.ts';
import { chartTime, countsOf, metricsIn, parsePreview, previewSpans, sourcesOf } from './preview.ts';

const type = () => 'Plant::Pump';
const derived = (text: string) => deriveRule(parseExpression(text), text, type);
const body = (text: string) => {
  const found = derived(text);
  return found.state === 'ready' ? /value = (.*);/.exec(found.text)?.[1] : found.problem;
};

it('makes a rule of an expression', () => {
  expect(derived('"plant-7"/"pump 1".temperature * 2')).toEqual({
    state: 'ready',
    name: 'Pump_1_temperature',
    text: `// "plant-7"/"pump 1".temperature * 2
input pump_1 = "plant-7/pump 1" : Plant::Pump;

derive Pump_1_temperature every 1s {
  value = pump_1.temperature * 2;
}
`,
  });
});

it('writes only what the language of rules has', () => {
  expect(body('n/i.a - (n/i.b - 5 [Cel])')).toBe('i.a - (i.b - 5 [Cel])');
  expect(body('-(n/i.a + 1.) / .5')).toBe('-(i.a + 1) / 0.5');
  expect(body('n/i.a ^ 2 / n/i.b ^ 2')).toBe('i.a * i.a / (i.b * i.b)');
  expect(body('mean(n/i.a, 0.5) + rate(n/i.b)')).toBe('mean(i.a, 500ms at most 10000 samples) + rate(i.b)');
  expect(body('n/i.pose.x')).toBe('i.pose.x');
  expect(body('n/i.a + n/j.a')).toMatch(/reads one instance/);
  expect(body('sin(n/i.a)')).toMatch(/no function sin/);
  expect(body('n/i.a ^ 0.5')).toMatch(/powers/);
  expect(body('n/i.a in [K]')).toMatch(/no in \[unit\]/);
  expect(body('n/i.axes[0].a')).toMatch(/cannot read/);
  expect(body('n/"a*b".c')).toMatch(/cannot name/);
});

it('colors a text and marks errors, line by line', () => {
  const text = 'alarm Hot { // now\n  raise p.te > 9.5 Cel;\n}';
  const wrong = {
    code: 'R0008',
    isWarning: false,
    message: '',
    help: '',
    place: { line: 2, column: 11, endLine: 2, endColumn: 13 },
  };
  const lines = highlight(text, [wrong]);
  expect(lines.map((parts) => parts.map(({ text }) => text).join(''))).toEqual(text.split('\n'));
  expect(
    lines
      .flat()
      .filter(({ isWrong }) => isWrong)
      .map(({ text }) => text),
  ).toEqual(['te']);
  expect(lines[0].map(({ kind }) => kind)).toEqual(['keyword', 'plain', 'name', 'plain', 'comment']);
});

it('finds places by characters, also beside characters of two units', () => {
  const text = 'a\n\u{1f525}b\nc';
  expect(offsetOf(text, 2, 2)).toBe(4);
  expect(offsetOf(text, 9, 1)).toBe(text.length);
  expect(rangeOf(text, { line: 3, column: 9, endLine: 3, endColumn: 9 })).toEqual([[7, 8]]);
  expect(placeAt('ab\ncd', 4)).toEqual({ line: 1, column: 1 });
});

it('replaces what is written by a completion, counted in bytes by the DAC', () => {
  const before = '/* \u00e4 */ pump.te';
  const { from, items } = parseProposals(
    {
      from: 14,
      items: [{ label: 'temperature', kind: 'metric', detail: 'Cel' }, { label: 'te' }, { label: 7 }],
    },
    before,
  );
  expect(items).toEqual([{ label: 'temperature', kind: 'metric', detail: 'Cel' }]);
  expect(insert(`${before} > 5`, from, before.length, 'temperature').text).toBe(
    '/* \u00e4 */ pump.temperature > 5',
  );
});

it('says what a preview has found', () => {
  const of = { rule: 'Hot', source: 'plant/pump/1', quality: 'good', severity: 'high' };
  const { events, missing, isTruncated, notes } = parsePreview(
    {
      events: [
        { ...of, event: 'raised', state: 'active', time: 10e6 },
        { ...of, event: 'cleared', state: 'normal', time: 20e6 },
        { rule: 'Opened', node: 'plant', instance: 'valve', event: 'violated', time: 15e6 },
        { rule: 'Hot' },
      ],
      missing: 12,
      truncated: true,
      notes: ['n', 7],
    },
    [0, 100],
  );
  expect([events.length, missing, isTruncated, notes]).toEqual([3, 12, true, ['n']]);
  expect(sourcesOf(events)).toEqual([
    { node: 'plant', instance: 'pump/1' },
    { node: 'plant', instance: 'valve' },
  ]);
  expect(countsOf(events).map(({ rule, kinds }) => [rule, ...kinds])).toEqual([
    ['Hot', ['raised', 1], ['cleared', 1]],
    ['Opened', ['violated', 1]],
  ]);
  expect(previewSpans(events, 100).map(({ rule, from, to }) => [rule, from, to])).toEqual([
    ['Hot', 10, 20],
    ['Opened', 15, 15],
  ]);
});

it('shows the time of the events on a chart if they are near each other', () => {
  const events = parsePreview(
    { events: [10, 12].map((time) => ({ rule: 'a', event: 'raised', time: time * 6e10 })) },
    [0, 0],
  ).events;
  expect(chartTime(events, 0, 3_600_000)).toEqual([570_000, 750_000]);
  expect(chartTime(events, 500_000, 800_000)).toEqual([500_000, 800_000]);
  expect(chartTime([], 0, 100)).toEqual([0, 100]);
});

it('draws the metrics that a text names', () => {
  expect(metricsIn('raise pump.temperature > 5 and arm.pose.x < 3; clear pump.temperature < 2;')).toEqual([
    'temperature',
    'pose.x',
  ]);
});

it('takes names of files that the DAC takes', () => {
  expect(fileNameOf(' pumps ')).toBe('pumps.rules');
  expect(['pumps', 'Line-3_night.v2.rules'].map(isFileName)).toEqual([true, true]);
  expect(['', '.rules', '../x', 'a b', '\u00e4', 'a'.repeat(60)].map(isFileName)).toEqual(
    Array(6).fill(false),
  );
});

it('reads a list of files and rules, or what is left of it', () => {
  const list = parseRuleList({
    editable: true,
    files: [
      {
        name: 'a.rules',
        editable: true,
        state: 'refused',
        diagnostics: [{ code: 'R1', message: 'm', line: 2, column: 3 }],
      },
    ],
    rules: [
      { name: 'Hot', kind: 'alarm', inputs: ['n/i', 7], severity: 'high', memory_bytes: 10, instances: 2 },
    ],
  });
  expect(list.files[0].diagnostics[0].place).toEqual({ line: 2, column: 3, endLine: 2, endColumn: 4 });
  expect(list.rules[0]).toMatchObject({
    name: 'Hot',
    file: undefined,
    inputs: ['n/i'],
    severity: 'high',
    instances: 2,
  });
  expect(parseRuleList(null)).toEqual({ isEditable: false, files: [], rules: [] });
});
