import { parseKnown } from '../../expressions/resolve.ts';
import { formatExpression, mapReferences } from '../../expressions/syntax.ts';
import { logicOf, type PanelContent, type PanelKind, targetsOf } from '../../state/panel_kinds.ts';
import { entryOf } from '../../state/registry.ts';
import { isFields } from '../../wire/fields.ts';
import { keyOf, type Target } from '../../wire/target.ts';

/** Which instances, by patterns with `*`, and the panel that each of them has. */
export interface RepeatSettings {
  readonly nodes: string;
  readonly instances: string;
  readonly types: string;
  /** Pairs that all must match, such as `site=graz, rack=*`; empty for any. */
  readonly labels: string;
  /** The panel of its first instance; the others have the same with their own names. */
  readonly panel: PanelContent;
  /** Nodes whose panels are folded. */
  readonly folded?: readonly string[];
}

/** Kinds that are no drawing of an instance. */
const UNREPEATED: ReadonlySet<PanelKind> = new Set<PanelKind>(['auto', 'repeat', 'text']);

/** Members of panels whose texts are expressions. */
const EXPRESSION_MEMBERS: ReadonlySet<string> = new Set(['expressions', 'color', 'position', 'attitude']);

/** Whether a panel can be repeated: it shows instances of one node. */
export function isRepeatable(panel: PanelContent): boolean {
  const nodes = new Set(targetsOf(panel).map(({ node }) => node));
  return nodes.size === 1 && !UNREPEATED.has(panel.kind) && !logicOf(panel.kind).isSingle;
}

/** Returns a panel for each instance of the name and type that this panel shows first. */
export function repeated(panel: PanelContent): RepeatSettings {
  const [first] = targetsOf(panel);
  return {
    nodes: '*',
    instances: first?.instance ?? '*',
    types: (first && entryOf(first)?.type) ?? '*',
    labels: '',
    panel: withoutId(panel),
  };
}

export function withoutId(panel: PanelContent): PanelContent {
  const { id: _, ...content } = { id: '', ...panel };
  return content as PanelContent;
}

/** Returns the panel of one instance for another one, and for the node of that. */
export function panelFor(panel: PanelContent, from: Target, to: Target): PanelContent {
  const renamed = <T extends { readonly node?: unknown; readonly instance?: unknown }>(of: T): T =>
    of.node === from.node
      ? { ...of, node: to.node, ...(of.instance === from.instance && { instance: to.instance }) }
      : of;
  const expressionFor = (text: string) => {
    const syntax = parseKnown(text);
    return syntax ? formatExpression(mapReferences(syntax, renamed)) : text;
  };
  /** Colors are those of lines, which have the key of their instance or are expressions. */
  const lineFor = (id: string) => {
    const key = keyOf(from);
    return id.startsWith(`${key} `) ? keyOf(to) + id.slice(key.length) : expressionFor(id);
  };
  const change = (json: unknown, name: string): unknown => {
    if (typeof json === 'string') return EXPRESSION_MEMBERS.has(name) ? expressionFor(json) : json;
    if (Array.isArray(json)) return json.map((entry) => change(entry, name));
    if (!isFields(json)) return json;
    const entries = Object.entries(renamed(json));
    return Object.fromEntries(
      entries.map(([key, value]) => [name === 'colors' ? lineFor(key) : key, change(value, key)]),
    );
  };
  return change(panel, '') as PanelContent;
}
