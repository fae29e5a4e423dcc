import type { RefObject, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { FleetAnswer, FleetLine, FleetRow } from '../../fleet/query.ts';
import { isSame } from '../../wire/same.ts';
import type { ShownMetric } from './fleet_metrics.ts';
import { type Grid, placeOf } from './fleet_places.ts';
import { Group, Row, Tile } from './fleet_rows.tsx';

/** A line as it was drawn last. */
interface Drawn {
  readonly shown: unknown;
  readonly metrics: readonly ShownMetric[];
  readonly grid: Grid;
  readonly node: VNode;
}

/** The lines around the visible ones, each at its place. */
export function FleetLines(props: {
  id: string;
  answer: FleetAnswer | undefined;
  metrics: readonly ShownMetric[];
  grid: Grid;
  cursor: number;
  isChosen: (row: FleetRow) => boolean;
  canvas: RefObject<HTMLCanvasElement>;
}) {
  const { answer, grid, metrics, cursor } = props;
  const drawn = useRef<(Drawn | undefined)[]>([]);
  const height = Math.ceil((answer?.length ?? 0) / grid.perRow) * grid.height;
  const lines = answer?.lines ?? [];
  // Each line keeps its element while others scroll in and out, and an equal line is not drawn again.
  const slots = lines.map((_, slot) => {
    const first = answer?.first ?? 0;
    const index = first + ((slot - (first % lines.length) + lines.length) % lines.length);
    const line = lines[index - first];
    const isChosen = line.kind === 'row' && props.isChosen(line);
    const shown = { index, isCurrent: index === cursor, isChosen, line };
    const known = drawn.current[slot];
    if (known && isSame(known.shown, shown) && known.metrics === metrics && known.grid === grid) return known;
    const at = {
      ...placeOf(grid, index),
      index,
      id: `fleet-${props.id}-${index}`,
      isCurrent: shown.isCurrent,
    };
    return {
      shown,
      metrics,
      grid,
      node: <Line key={slot} line={line} isChosen={isChosen} metrics={metrics} grid={grid} at={at} />,
    };
  });
  drawn.current = slots;
  return (
    <div class="fleet-rows" role="presentation" style={{ height: `${height}px` }}>
      {slots.map(({ node }) => node)}
      <canvas ref={props.canvas} class="fleet-sparks" data-testid="fleet-sparks" />
    </div>
  );
}

function Line(props: {
  line: FleetLine;
  isChosen: boolean;
  metrics: readonly ShownMetric[];
  grid: Grid;
  at: { left: number; top: number; index: number; id: string; isCurrent: boolean };
}) {
  const { line, grid, at } = props;
  const isTile = grid.layout === 'tiles';
  if (line.kind === 'group') return <Group group={line} isTile={isTile} width={grid.width} {...at} />;
  const Shape = isTile ? Tile : Row;
  return <Shape row={line} metrics={props.metrics} width={grid.width} isChosen={props.isChosen} {...at} />;
}
