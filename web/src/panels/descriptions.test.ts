import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { titleOf } from '../state/panel_titles.ts';
import { descriptions, panelChoices, parsePanel } from './descriptions.ts';
import { buildPanels, type Pick, suits } from './shared/choices.ts';
import type { SchemaOf } from './shared/description.ts';

const choice = (wanted: string) => panelChoices.find(({ name }) => name === wanted)!;
const build = (name: string, picks: readonly Pick[], schemaOf: SchemaOf) =>
  buildPanels(choice(name), { picks }, schemaOf);

const target = { node: 'mast', instance: 'anemometer' };
const wind = parseSchema({
  name: 'Anemometer',
  uuid: 'u',
  version: '1.0',
  metrics: [
    { name: 'wind_speed', type: 'real64', unit: 'm/s' },
    { name: 'wind_direction', type: 'real64', unit: 'deg' },
  ],
});
const oven = parseSchema({
  name: 'Oven',
  uuid: 'v',
  version: '1.0',
  metrics: [{ name: 'temperature', type: 'real64', unit: 'Cel' }],
});

it('offers a wind rose for a direction and a speed only', () => {
  expect(suits(choice('wind'), wind)).toBe(true);
  expect(suits(choice('wind'), oven)).toBe(false);
  const picks = [{ target, metric: undefined }];
  expect(build('wind', picks, () => wind)).toEqual([
    { kind: 'rose', target, direction: 'wind_direction', speed: 'wind_speed' },
  ]);
  expect(build('wind', picks, () => oven)).toEqual([]);
});

it('offers a kind of panel only for types with a metric that it can show', () => {
  expect(suits(choice('chart'), oven)).toBe(true);
  expect(suits(choice('shares'), oven)).toBe(false);
  expect(suits(choice('values'), undefined)).toBe(true);
  expect(suits(choice('chart'), undefined)).toBe(false);
});

it('needs no metrics for a query, and takes traces of instances with spans', () => {
  expect(build('sql', [], () => undefined)).toEqual([{ kind: 'sql', query: '' }]);
  expect(suits(choice('traces'), oven)).toBe(false);
  const names = ['name', 'duration', 'id', 'parent'];
  const spans = parseSchema({
    name: 'Spans',
    uuid: 'x',
    version: '1.0',
    metrics: names.map((name) => ({ name, type: 'uint64' })),
  });
  expect(suits(choice('traces'), spans)).toBe(true);
  expect(build('traces', [{ target, metric: undefined }], () => spans)).toEqual([
    { kind: 'traces', targets: [target] },
  ]);
});

it('has one description for each kind, and one choice for each name', () => {
  const kinds = descriptions.map(({ kind }) => kind);
  const names = panelChoices.map(({ name }) => name);
  expect(new Set(kinds).size).toBe(kinds.length);
  expect(new Set(names).size).toBe(names.length);
  expect(panelChoices.filter(({ label, about }) => label === '' || about === '')).toEqual([]);
});

/** A type with something for each panel. */
const everything = parseSchema({
  name: 'Wind',
  uuid: 'y',
  version: '1.0',
  metrics: [
    { name: 'wind_speed', type: 'real64', unit: 'm/s' },
    { name: 'wind_direction', type: 'real64', unit: 'deg' },
    { name: 'latitude', type: 'real64', unit: 'deg' },
    { name: 'longitude', type: 'real64', unit: 'deg' },
    { name: 'revolutions', type: 'uint64', kind: 'counter' },
    { name: 'cells', type: { vector: 'real64' } },
    { name: 'image', type: { blob: { media_type: 'image/jpeg', max_bytes: 100_000 } } },
    ...['x', 'y', 'z'].map((name) => ({ name, type: 'real64', unit: 'm' })),
    ...['name', 'duration', 'id', 'parent'].map((name) => ({ name, type: 'uint64' })),
  ],
});

it.each(panelChoices)('opens panels of the choice $name again that were saved', (choice) => {
  const given = {
    picks:
      choice.from === 'metrics'
        ? everything.metrics.filter(choice.fits).map(({ name }) => ({ target, metric: name }))
        : [{ target, metric: undefined }],
    expressions: ['"mast"/anemometer.wind_speed', '2 * "mast"/anemometer.wind_speed'].slice(
      0,
      choice.from === 'expressions' ? choice.count : 0,
    ),
  };
  expect(choice.from === 'nothing' || choice.from === 'expressions' || suits(choice, everything)).toBe(true);
  const panels = buildPanels(choice, given, () => everything).map((content) => ({ id: 'p1', ...content }));
  expect(panels.length).toBeGreaterThan(0);
  for (const panel of panels) {
    expect(parsePanel(JSON.parse(JSON.stringify(panel)))).toEqual(panel);
    expect(titleOf(panel)).toMatch(/\S/);
  }
});

it.each(descriptions)('refuses hostile content of the kind $kind or leaves out what is wrong', ({ kind }) => {
  const hostile = [
    'targets',
    'target',
    'sources',
    'expressions',
    'tracks',
    'runs',
    'query',
    'text',
    'metric',
  ];
  for (const value of [null, 7, 'x', [null], {}, [{ target: { node: 7 } }]]) {
    const json = { id: 'p1', kind, ...Object.fromEntries(hostile.map((name) => [name, value])) };
    const panel = parsePanel(json);
    if (panel) expect(parsePanel(JSON.parse(JSON.stringify(panel)))).toEqual(panel);
  }
});
