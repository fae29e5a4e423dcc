import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useSize } from '../components/use_size.ts';
import { keyOfRow, type TreeRow, treeRows } from '../state/tree.ts';
import { TreeGone, TreeRules } from './tree_fold.tsx';
import { TreeInstance, TreeNodeHead } from './tree_node.tsx';

/** Heights of rows in rem, equal to those of the style sheet. */
const HEIGHTS = { node: 3.6, instance: 3.05, rules: 3.05, gone: 3.05 } as const;
/** Rows drawn beyond each edge, so that scrolling and arrow keys always find rows. */
const BEYOND = 6;

/** Draws only the visible rows of a list that may have thousands. */
export function TreeList() {
  const list = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(800);
  useSize(list, (_, seen) => {
    height.value = seen;
  });
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const rows = treeRows.value;
  const tops = placesOf(rows, rem);
  const total = tops[rows.length];
  const first = Math.max(0, rowAt(tops, top.value) - BEYOND);
  const last = Math.min(rows.length, rowAt(tops, top.value + height.value) + 1 + BEYOND);
  return (
    <div
      class="tree-list"
      ref={list}
      data-testid="nodes"
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
      }}
    >
      <ul class="tree-rows" style={{ height: `${total}px` }} onKeyDown={move}>
        {rows.slice(first, last).map((row, index) => (
          <li key={keyOfRow(row)} class="tree-row" style={{ top: `${tops[first + index]}px` }}>
            <Row row={row} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Row({ row }: { row: TreeRow }) {
  switch (row.kind) {
    case 'node':
      return <TreeNodeHead node={row.node} count={row.count} />;
    case 'instance':
      return <TreeInstance entry={row.entry} metric={row.metric} />;
    case 'rules':
      return <TreeRules count={row.count} isOpen={row.isOpen} />;
    case 'gone':
      return <TreeGone nodes={row.nodes} isOpen={row.isOpen} />;
  }
}

/** Pixels from the top of each row, and of the end. */
function placesOf(rows: readonly TreeRow[], rem: number): number[] {
  const tops = [0];
  for (const [index, row] of rows.entries()) tops.push(tops[index] + HEIGHTS[row.kind] * rem);
  return tops;
}

function rowAt(tops: readonly number[], y: number): number {
  let low = 0;
  let high = tops.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle + 1] <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Arrow keys move from instance to instance, and to the row that expands more of them. */
function move(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('.tree-instance, .tree-gone')];
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  const next = buttons[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
