import type { FleetAnswer, FleetRow } from '../fleet/query.ts';
import { type Grid, placeOf } from './fleet_places.ts';
import { Group, Row, type ShownMetric, Tile } from './fleet_rows.tsx';

/** The lines around the visible ones, each at its place. */
export function FleetLines(props: {
  id: string;
  answer: FleetAnswer | undefined;
  metrics: readonly ShownMetric[];
  grid: Grid;
  cursor: number;
  isChosen: (row: FleetRow) => boolean;
}) {
  const { answer, grid, metrics, cursor } = props;
  if (!answer) return null;
  const height = Math.ceil(answer.length / grid.perRow) * grid.height;
  const Line = grid.layout === 'tiles' ? Tile : Row;
  return (
    <div class="fleet-rows" role="presentation" style={{ height: `${height}px` }}>
      {answer.lines.map((line, place) => {
        const index = answer.first + place;
        const at = {
          ...placeOf(grid, index),
          index,
          id: `fleet-${props.id}-${index}`,
          isCurrent: index === cursor,
        };
        // By place, so that a scrolled list changes texts and makes no elements.
        const key = index % Math.max(1, answer.lines.length);
        return line.kind === 'group' ? (
          <Group key={key} group={line} isTile={grid.layout === 'tiles'} width={grid.width} {...at} />
        ) : (
          <Line
            key={key}
            row={line}
            metrics={metrics}
            width={grid.width}
            isChosen={props.isChosen(line)}
            {...at}
          />
        );
      })}
    </div>
  );
}
