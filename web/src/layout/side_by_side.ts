import type { DockviewApi, IDockviewPanel } from 'dockview-core';

/** What a panel has besides its drawing, in pixels: tab, legend and axes. */
const FRAME_WIDTH = 70;
const FRAME_HEIGHT = 110;
/** Width of a drawing of time by its height. */
const ASPECT = 1.6;

/** A panel that is to be opened. */
interface Opened {
  readonly id: string;
  readonly component: string;
  readonly title: string;
}

/** Divides the place of a panel into rows of equal panels: first itself, then the others. */
export function divide(api: DockviewApi, first: IDockviewPanel, others: readonly Opened[]): void {
  const { width, height } = first.group;
  const before = api.groups.map((group) => ({ group, width: group.width, height: group.height }));
  const perRow = columnsFor(others.length + 1, width, height);
  const rows: (Opened | undefined)[][] = [];
  for (const [index, other] of [undefined, ...others].entries()) {
    if (index % perRow === 0) rows.push([]);
    rows.at(-1)?.push(other);
  }
  const heads: IDockviewPanel[] = [first];
  for (const [head] of rows.slice(1)) if (head) heads.push(addAt(api, head, heads.at(-1) ?? first, 'below'));
  const grid = rows.map(([, ...rest], index) => {
    const row = [heads[index]];
    for (const other of rest) if (other) row.push(addAt(api, other, row.at(-1) ?? first, 'right'));
    return row;
  });
  // The library gives a new group the room of all beside it.
  for (const { group, ...size } of before) if (group !== first.group) group.api.setSize(size);
  for (const head of heads) head.api.setSize({ height: Math.round(height / rows.length) });
  for (const row of grid)
    for (const panel of row) panel.api.setSize({ width: Math.round(width / row.length) });
}

function addAt(
  api: DockviewApi,
  options: Opened,
  referencePanel: IDockviewPanel,
  direction: 'below' | 'right',
) {
  return api.addPanel({ ...options, inactive: true, position: { referencePanel, direction } });
}

/** Returns the number of columns in which so many drawings are largest. */
export function columnsFor(count: number, width: number, height: number): number {
  const sizeIn = (columns: number) =>
    Math.min((width / columns - FRAME_WIDTH) / ASPECT, height / Math.ceil(count / columns) - FRAME_HEIGHT);
  let best = 1;
  for (let columns = 2; columns <= count; columns++) if (sizeIn(columns) > sizeIn(best)) best = columns;
  return best;
}
