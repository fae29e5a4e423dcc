import { describe, expect, it } from 'vitest';
import { parseLayout } from '../layout/document.ts';
import { instancesWanted, isTemplate, matchingNodes, withNode, withVariable } from './template.ts';

const head = { oasis: 'layout', version: 1 };
const TEMPLATE = {
  ...head,
  panels: [
    { id: 'p1', kind: 'instance', target: { node: '$node', instance: 'engine' } },
    {
      id: 'p2',
      kind: 'series',
      mode: 'lines',
      title: 'Power of $node',
      sources: [{ target: { node: 'mill', instance: 'pump' }, metrics: ['flow'] }],
      expressions: ['$node/engine.torque * "$node"/engine.speed', 'mill/pump.flow'],
    },
    { id: 'p3', kind: 'text', text: '# $node\n{{ $node/engine.speed }}' },
    { id: 'p4', kind: 'sql', query: "SELECT * FROM samples WHERE node = $node OR node = '$node'" },
  ],
};

describe('a template', () => {
  it('is recognized by its variable', () => {
    expect(isTemplate(TEMPLATE)).toBe(true);
    expect(isTemplate(withNode(TEMPLATE, 'x'))).toBe(false);
    expect(isTemplate({ panels: 7 })).toBe(false);
  });

  it('becomes the layout of a node, whatever its name is', () => {
    for (const node of ['plant_7', 'plant-7', `o'x "y" $node $& \\`]) {
      const layout = parseLayout(withNode(TEMPLATE, node));
      expect(layout?.panels).toHaveLength(4);
      const [table, chart, text, sql] = layout?.panels ?? [];
      expect(table).toMatchObject({ target: { node, instance: 'engine' } });
      expect(chart).toMatchObject({ title: `Power of ${node}` });
      expect(chart.kind === 'series' && chart.expressions).toHaveLength(2);
      expect(text.kind === 'text' && text.text.startsWith(`# ${node}\n`)).toBe(true);
      const quoted = `'${node.replaceAll("'", "''")}'`;
      expect(sql.kind === 'sql' && sql.query.endsWith(`${quoted} OR node = ${quoted}`)).toBe(true);
    }
  });

  it('is saved as it was, with what was changed for the same node', () => {
    const layout = parseLayout(withNode(TEMPLATE, 'plant-7'));
    expect(withVariable({ ...layout }, 'plant-7', TEMPLATE).panels).toEqual(TEMPLATE.panels);
    const added = { id: 'p9', kind: 'statistics', expressions: ['"plant-7"/engine.speed + mill/pump.flow'] };
    const changed = { ...head, panels: [...(layout?.panels ?? []), added] };
    expect(withVariable(changed, 'plant-7', TEMPLATE).panels).toEqual([
      ...TEMPLATE.panels,
      { ...added, expressions: ['"$node"/engine.speed + mill/pump.flow'] },
    ]);
  });

  it('can be made of any layout', () => {
    const panels = [{ id: 'p1', kind: 'instance', target: { node: 'plant-7', instance: 'engine' } }];
    expect(withVariable({ ...head, panels }, 'plant-7').panels).toEqual([TEMPLATE.panels[0]]);
  });

  it('finds the nodes that have its instances', () => {
    expect(instancesWanted(TEMPLATE)).toEqual(['engine']);
    const instances = [
      { node: 'plant-10', instance: 'engine' },
      { node: 'plant-9', instance: 'engine' },
      { node: 'plant-9', instance: 'pump' },
      { node: 'mill', instance: 'pump' },
    ];
    expect(matchingNodes(instances, ['engine'])).toEqual(['plant-9', 'plant-10']);
    expect(matchingNodes(instances, ['engine', 'pump'])).toEqual(['plant-9']);
    expect(matchingNodes(instances, ['engine', 'wind'])).toEqual(['plant-9', 'plant-10']);
    expect(matchingNodes(instances, [])).toEqual(['mill', 'plant-9', 'plant-10']);
  });
});
