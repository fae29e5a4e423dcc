import { describe, expect, it } from 'vitest';
import { instancesWanted, isTemplate, withNode } from '../dashboards/template.ts';
import { type Fields, isFields, withinDepth } from '../wire/fields.ts';
import { parseLayout } from './document.ts';
import { type Geometry, parseGeometry } from './geometry.ts';

const TARGET = { node: 'plant-7', instance: 'engine' };
const A = '"plant-7"/engine.torque';
const PANELS = [
  {
    id: 'a',
    kind: 'series',
    mode: 'lines',
    sources: [{ target: TARGET, metrics: ['torque'] }],
    expressions: [A],
  },
  { id: 'b', kind: 'gauge', target: TARGET, metric: 'torque', settings: { min: 0, max: 10, thresholds: [] } },
  { id: 'c', kind: 'map', tracks: [{ target: TARGET, latitude: 'x', longitude: 'y' }], color: A },
  {
    id: 'd',
    kind: 'overlay',
    target: TARGET,
    metric: 't',
    runs: [
      { name: 'r', from: 1, to: 2 },
      { name: 's', from: 3, to: 4 },
    ],
  },
  { id: 'e', kind: 'fleet', metrics: [{ path: 'load' }] },
  { id: 'f', kind: 'text', text: `# {{ ${A} }}` },
  { id: 'g', kind: 'pose', poses: [{ position: [A, A, A], attitude: [A, A, A, A] }], up: 'y', trail: 5 },
];
const IDS = new Set(PANELS.map(({ id }) => id));

const leaf = (id: string, ...views: unknown[]) => ({
  type: 'leaf',
  size: 300,
  data: { id, views, activeView: views[0] },
});
const branch = (...data: unknown[]) => ({ type: 'branch', size: 600, data });
const geometry = (root: unknown, more: Fields = {}) => ({
  grid: { root, width: 1000, height: 600, orientation: 'HORIZONTAL' },
  panels: Object.fromEntries([...IDS].map((id) => [id, { id, contentComponent: 'series', title: id }])),
  activeGroup: '1',
  ...more,
});
const GEOMETRY = geometry(branch(leaf('1', 'a', 'b'), branch(leaf('2', 'c'), leaf('3', 'd', 'e'))));
const LAYOUT = {
  oasis: 'layout',
  version: 1,
  panels: PANELS,
  geometry: GEOMETRY,
  range: { live: true, span: 60_000 },
  annotations: [{ time: 1, text: 'x' }],
};

/** What somebody can write in the place of anything. */
const WRONG: readonly unknown[] = [
  undefined,
  null,
  true,
  7,
  -1e308,
  '',
  '__proto__',
  'constructor',
  [],
  {},
  [[]],
  { dispose: 1 },
  { length: 3 },
  nested(200),
  { toJSON: null, type: 'leaf', data: null },
];

function nested(depth: number): unknown {
  let found: unknown = {};
  for (let level = 0; level < depth; level++)
    found = level % 2 === 0 ? [found] : { type: 'branch', data: found };
  return found;
}

/** Returns copies of JSON, each with one part replaced or left out. */
function* mutations(json: unknown): Generator<unknown> {
  for (const value of WRONG) yield value;
  if (Array.isArray(json)) {
    for (const [index, entry] of json.entries())
      for (const other of mutations(entry)) yield json.with(index, other);
    yield [...json, ...json];
  } else if (isFields(json)) {
    for (const [key, value] of Object.entries(json)) {
      const { [key]: _, ...rest } = json;
      yield rest;
      for (const other of mutations(value)) yield { ...rest, [key]: other };
    }
  }
}

/** Checks what the docking library needs to build whole panels, and to remove them again. */
function checkGeometry(found: Geometry, ids: ReadonlySet<string>): void {
  const [placed, groups]: [string[], string[]] = [[], []];
  const visit = (part: Geometry['grid']['root'], depth: number): void => {
    expect(depth).toBeLessThan(40);
    expect(Number.isFinite(part.size) && Number(part.size) >= 0).toBe(true);
    if (part.type === 'branch') {
      expect(Array.isArray(part.data) && part.data.length > 0).toBe(true);
      for (const child of part.data as Geometry['grid']['root'][]) visit(child, depth + 1);
      return;
    }
    expect(part.type).toBe('leaf');
    const data = part.data as { id: string; views: string[]; activeView?: string };
    expect(typeof data.id).toBe('string');
    expect(data.views.length).toBeGreaterThan(0);
    if (data.activeView !== undefined) expect(data.views).toContain(data.activeView);
    placed.push(...data.views);
    groups.push(data.id);
  };
  expect(Object.keys(found).filter((key) => !['grid', 'panels', 'activeGroup'].includes(key))).toEqual([]);
  expect(found.grid.root.type).toBe('branch');
  visit(found.grid.root, 0);
  expect(new Set(groups).size).toBe(groups.length);
  expect(new Set(placed).size).toBe(placed.length);
  expect(placed.every((id) => ids.has(id))).toBe(true);
  expect(Object.keys(found.panels).sort()).toEqual(placed.sort());
  for (const [id, panel] of Object.entries(found.panels)) {
    expect(panel.id).toBe(id);
    for (const text of [panel.contentComponent, panel.tabComponent, panel.title])
      expect(typeof text).toBe('string');
  }
  for (const size of [found.grid.width, found.grid.height]) expect(Number.isFinite(size)).toBe(true);
}

describe('a dashboard of somebody else', () => {
  it('is read as it was saved', () => {
    const { geometry: found } = parseLayout(LAYOUT) ?? {};
    expect(found?.grid).toEqual(GEOMETRY.grid);
    expect(found?.activeGroup).toBe('1');
    expect(Object.keys(found?.panels ?? {})).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('has whole panels in whole places, whatever is missing or of another type', () => {
    let count = 0;
    for (const hostile of mutations(LAYOUT)) {
      count++;
      const json = withinDepth(hostile);
      const layout = parseLayout(json);
      if (!layout) continue;
      const ids = new Set(layout.panels.map(({ id }) => id));
      expect(ids.size).toBe(layout.panels.length);
      if (layout.geometry) checkGeometry(layout.geometry, ids);
      // Templates are filled in before they are shown.
      if (isFields(json)) {
        isTemplate(json);
        instancesWanted(json);
        expect(parseLayout(withNode(json, 'plant-8'))).toBeDefined();
      }
    }
    expect(count).toBeGreaterThan(2000);
    // Thousands of layouts take seconds on a busy machine.
  }, 60_000);

  it('cannot open windows, float over the page, or show a panel twice', () => {
    const hostile = geometry(
      branch(leaf('1', 'a', 'a', 'nobody', 7, '__proto__'), leaf('1', 'a', 'b'), leaf('4')),
      {
        popoutGroups: [{ data: { id: 'x', views: ['c'] }, url: 'https://example.com/' }],
        floatingGroups: [{ data: { id: 'y', views: ['d'] }, position: {} }],
        edgeGroups: { left: { group: { id: 'z', views: ['e'] } } },
      },
    );
    const found = parseGeometry(hostile, IDS);
    expect(found?.grid.root).toEqual(
      branch(leaf('1', 'a'), { ...leaf('group-2', 'b'), data: { id: 'group-2', views: ['b'] } }),
    );
    if (found) checkGeometry(found, IDS);
  });

  it('may be nested without an end', () => {
    let deep = '[]';
    for (let level = 0; level < 20_000; level++) deep = `{"data":[${deep}],"type":"branch"}`;
    const text = JSON.stringify({ ...LAYOUT, geometry: 'G' }).replace('"G"', `{"grid":{"root":${deep}}}`);
    const json = withinDepth(JSON.parse(text));
    expect(parseLayout(json)).toMatchObject({ panels: { length: PANELS.length } });
    expect(parseLayout(json)?.geometry).toBeUndefined();
    expect(isFields(json) && isTemplate(json)).toBe(false);
  });

  it('keeps a maximized group only where it is one', () => {
    const at = (...location: unknown[]) => {
      const { root, ...grid } = GEOMETRY.grid;
      const found = parseGeometry({ ...GEOMETRY, grid: { root, ...grid, maximizedNode: { location } } }, IDS);
      return found && (found.grid as { maximizedNode?: unknown }).maximizedNode;
    };
    expect(at(1, 0)).toEqual({ location: [1, 0] });
    for (const location of [[], [1], [5], [0, 0], ['0'], [-1], [1, 0, 0], [null]])
      expect(at(...location)).toBeUndefined();
  });
});
