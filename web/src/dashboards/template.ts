import { formatExpression, mapReferences, parseExpression } from '../expressions/syntax.ts';
import { ExpressionError, quoteName } from '../expressions/tokens.ts';
import { parseLayout } from '../layout/document.ts';
import { targetsOf } from '../state/panel_kinds.ts';
import { mapValues } from '../text/markdown.ts';
import { type Fields, isFields } from '../wire/fields.ts';
import { isSame } from '../wire/same.ts';

/** Stands for a node that is chosen on the page. */
const VARIABLE = '$node';

/** In an expression, with quotes or without. */
const IN_EXPRESSION = /"\$node"|\$node\b/g;
const IN_TEXT = /\$node\b/g;
/** In a query of SQL: a text of its own, or bare. */
const IN_QUERY = /'\$node'|\$node\b/g;

/** Whether a layout leaves a node open. */
export function isTemplate(layout: Fields): boolean {
  return !isSame(withNode(layout, '').panels, panelsOf(layout));
}

/** The layout for a node: `$node` in targets, expressions, texts, titles and queries of its panels. */
export function withNode(layout: Fields, node: string): Fields {
  return mapPanels(layout, (name, text) => {
    if (!text.includes(VARIABLE)) return text;
    switch (name) {
      case 'node':
        return text === VARIABLE ? node : text;
      case 'expression':
        return text.replace(IN_EXPRESSION, () => quoteName(node));
      case 'query':
        return text.replace(IN_QUERY, () => `'${node.replaceAll("'", "''")}'`);
      case 'markdown':
        return mapValues(text, (value) => value.replace(IN_EXPRESSION, () => quoteName(node))).replace(
          IN_TEXT,
          () => node,
        );
      case 'title':
        return text.replace(IN_TEXT, () => node);
    }
  });
}

/**
 * The layout with `$node` in the place of a node. A panel that is still what `before` made of it becomes what it was
 * there; in others, texts and titles stay as they are.
 */
export function withVariable(layout: Fields, node: string, before: Fields = {}): Fields {
  const wasBefore = panelsOf(before).map((panel) => [panelFor(panel, node), panel] as const);
  const panels = panelsOf(layout).map((panel) => {
    const found = wasBefore.findLast(([made]) => isSame(made, panel));
    return found ? found[1] : panelsOf(opened({ panels: [panel] }, node))[0];
  });
  return { ...layout, panels };
}

/** The names of the instances that `$node` must have. */
export function instancesWanted(layout: Fields): string[] {
  const panels = parseLayout(withNode(layout, VARIABLE))?.panels ?? [];
  const targets = panels.flatMap((panel) => targetsOf(panel));
  return [...new Set(targets.filter(({ node }) => node === VARIABLE).map(({ instance }) => instance))];
}

/** Nodes with all of these instances, or else with some of them, by name. */
export function matchingNodes(
  instances: readonly { readonly node: string; readonly instance: string }[],
  wanted: readonly string[],
): string[] {
  const names = new Set(wanted);
  const found = new Map<string, Set<string>>();
  for (const { node, instance } of instances) {
    if (names.size > 0 && !names.has(instance)) continue;
    found.set(node, (found.get(node) ?? new Set()).add(instance));
  }
  const nodes = [...found.keys()].sort((one, other) =>
    one.localeCompare(other, undefined, { numeric: true }),
  );
  const whole = nodes.filter((node) => found.get(node)?.size === names.size);
  return whole.length > 0 ? whole : nodes;
}

function panelFor(panel: unknown, node: string): unknown {
  const [made] =
    parseLayout({ oasis: 'layout', version: 1, ...withNode({ panels: [panel] }, node) })?.panels ?? [];
  return made;
}

function opened(layout: Fields, node: string): Fields {
  return mapPanels(layout, (name, text) => {
    switch (name) {
      case 'node':
        return text === node ? VARIABLE : text;
      case 'expression':
        return openedExpression(text, node);
      case 'query':
        return text.replaceAll(`'${node.replaceAll("'", "''")}'`, VARIABLE);
      case 'markdown':
        return mapValues(text, (value) => openedExpression(value, node));
      case 'title':
        return text;
    }
  });
}

function openedExpression(text: string, node: string): string {
  try {
    const syntax = mapReferences(parseExpression(text), (reference) =>
      reference.node === node ? { ...reference, node: VARIABLE } : reference,
    );
    return formatExpression(syntax);
  } catch (error) {
    // Values of a text may be no expressions: they are shown as they are.
    if (error instanceof ExpressionError) return text;
    throw error;
  }
}

type Kind = 'node' | 'expression' | 'query' | 'markdown' | 'title';
type Change = (kind: Kind, text: string) => string;

function panelsOf({ panels }: Fields): unknown[] {
  return Array.isArray(panels) ? panels : [];
}

function mapPanels(layout: Fields, change: Change): Fields {
  const panels = panelsOf(layout).map((panel) => {
    const isText = isFields(panel) && panel.kind === 'text';
    return mapTexts(panel, (name, text) => {
      const kind = kindOf(name, isText);
      return kind === undefined ? text : change(kind, text);
    });
  });
  return { ...layout, panels };
}

function kindOf(name: string, isText: boolean): Kind | undefined {
  switch (name) {
    case 'node':
    case 'query':
    case 'title':
      return name;
    // A pattern of nodes may be one node.
    case 'nodes':
      return 'node';
    case 'expressions':
    case 'color':
    case 'position':
    case 'attitude':
      return 'expression';
    case 'text':
      return isText ? 'markdown' : undefined;
    default:
      return undefined;
  }
}

/** Changes the texts in JSON, each with the name of the member that it is in. */
function mapTexts(json: unknown, change: (name: string, text: string) => string, name = ''): unknown {
  if (typeof json === 'string') return change(name, json);
  if (Array.isArray(json)) return json.map((entry) => mapTexts(entry, change, name));
  if (!isFields(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, mapTexts(value, change, key)]));
}
