import type { SerializedDockview } from 'dockview-core';
import { type Fields, isFields, valuesOf } from '../wire/fields.ts';

/** Where the panels of a layout are, in the docking library's own format. */
export type Geometry = SerializedDockview;

type Part = Geometry['grid']['root'];
type Leaf = Extract<Part['data'], { views: string[] }>;

/** Rows in columns in rows: more levels than a screen has room for. */
const MAX_DEPTH = 32;
/** Size of what has none, in pixels: parts of a row share its width by their sizes. */
const USUAL_SIZE = 100;
const USUAL_WIDTH = 1000;
const MAX_TEXT_LENGTH = 1024;

/**
 * Parses untrusted places of panels; undefined if there are none. Only rows, columns and tabs of known panels are left: the
 * docking library builds half of what it cannot read, and opens windows of any address.
 */
export function parseGeometry(json: unknown, ids: ReadonlySet<string>): Geometry | undefined {
  if (!isFields(json) || !isFields(json.grid)) return undefined;
  const { grid } = json;
  const reader = new GeometryReader(isFields(json.panels) ? json.panels : {}, ids);
  const root = isFields(grid.root) && grid.root.type === 'branch' ? reader.part(grid.root, 0) : undefined;
  if (!root) return undefined;
  const { maximizedNode } = grid;
  const { activeGroup } = json;
  return {
    grid: {
      root,
      width: sizeOf(grid.width, USUAL_WIDTH),
      height: sizeOf(grid.height, USUAL_WIDTH),
      orientation: (grid.orientation === 'VERTICAL'
        ? 'VERTICAL'
        : 'HORIZONTAL') as Geometry['grid']['orientation'],
      ...(isFields(maximizedNode) &&
        isLeafAt(root, maximizedNode.location) && { maximizedNode: { location: maximizedNode.location } }),
    } as Geometry['grid'],
    panels: reader.panels,
    ...(typeof activeGroup === 'string' && reader.groups.has(activeGroup) && { activeGroup }),
  };
}

class GeometryReader {
  readonly panels: Geometry['panels'] = Object.create(null);
  readonly groups = new Set<string>();

  constructor(
    private readonly states: Fields,
    private readonly ids: ReadonlySet<string>,
  ) {}

  /** Returns a part with at least one panel. */
  part(json: unknown, depth: number): Part | undefined {
    if (!isFields(json) || depth > MAX_DEPTH) return undefined;
    const data = json.type === 'branch' ? this.parts(json.data, depth) : this.leaf(json.data);
    if (!data) return undefined;
    const { visible } = json;
    return {
      type: json.type === 'branch' ? 'branch' : 'leaf',
      data,
      size: sizeOf(json.size, USUAL_SIZE),
      ...(typeof visible === 'boolean' && { visible }),
    } as Part;
  }

  private parts(json: unknown, depth: number): Part[] | undefined {
    const parts = valuesOf(json).flatMap((part) => this.part(part, depth + 1) ?? []);
    return parts.length > 0 ? parts : undefined;
  }

  /** Returns a group of tabs. A panel has one place, and a group a name of its own. */
  private leaf(json: unknown): Leaf | undefined {
    if (!isFields(json)) return undefined;
    const views = valuesOf(json.views).filter((id): id is string => typeof id === 'string' && this.place(id));
    if (views.length === 0) return undefined;
    const { activeView } = json;
    const isActiveKnown = typeof activeView === 'string' && views.includes(activeView);
    return { views, id: this.groupName(json.id), ...(isActiveKnown && { activeView }) } as Leaf;
  }

  /** Gives a panel its place; false if it is unknown or has one. */
  private place(id: string): boolean {
    if (!this.ids.has(id) || id in this.panels) return false;
    const state = Object.hasOwn(this.states, id) ? this.states[id] : undefined;
    const { contentComponent, tabComponent, title } = isFields(state) ? state : ({} as Fields);
    this.panels[id] = {
      id,
      contentComponent: textOf(contentComponent) ?? id,
      tabComponent: textOf(tabComponent) ?? 'tab',
      title: textOf(title) ?? id,
    };
    return true;
  }

  private groupName(id: unknown): string {
    let name = textOf(id) ?? '';
    for (let number = this.groups.size + 1; name === '' || this.groups.has(name); number++)
      name = `group-${number}`;
    this.groups.add(name);
    return name;
  }
}

/** Whether the steps through a layout lead to a group of tabs. */
function isLeafAt(root: Part, location: unknown): boolean {
  let part: Part | undefined = root;
  for (const step of valuesOf(location)) {
    if (typeof step !== 'number' || !Array.isArray(part?.data)) return false;
    part = part.data[step];
  }
  return part?.type === 'leaf';
}

function sizeOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : otherwise;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH ? value : undefined;
}
