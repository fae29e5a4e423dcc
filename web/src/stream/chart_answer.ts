import { blockRoom, greatestIn, leastIn, reduceColumns } from '../series/columns.ts';
import type { Target } from '../wire/target.ts';
import { computedRows } from './expression_answer.ts';
import type { Answer, Extents, Query, SourceColumns } from './query.ts';
import type { Scene } from './scene.ts';
import { gapsOf, groupsOf, pastOf } from './series_groups.ts';

/** Steps that are enough for the minimum and maximum of a time span. */
const EXTENT_COLUMNS = 200;

/** Returns numbers over time; `buffer` returns a buffer with room for the given count of numbers. */
export function columnsAnswer(
  scene: Scene,
  query: Query & { kind: 'columns' },
  buffer: (room: number) => Float64Array<ArrayBuffer>,
): Answer {
  const { columns, expressions = [] } = query;
  const { from, to } = scene;
  const variant = String(query.ago ?? 0);
  const groups = query.sources.flatMap((source) => groupsOf(scene, source));
  const room =
    groups.reduce((sum, { picked }) => sum + blockRoom(columns, picked.length), 0) +
    expressions.length * blockRoom(columns, 1);
  const into = buffer(room);
  const blocks: SourceColumns[] = [];
  let offset = 0;
  for (const group of groups) {
    const { key, store, picked, lag, gaps, part } = group;
    const span = { from: from - lag, to: to - lag, columns };
    const past = pastOf(scene, group, variant, span);
    const series = past.rows ? picked.map((_, index) => index) : picked;
    const rows = past.rows ?? store;
    const block = rows
      ? reduceColumns(rows, series, { from, to, columns }, lag, into, offset)
      : { offset, count: 0, series: picked.length };
    const all = past.gaps ? [...past.gaps, ...gaps] : gaps;
    blocks.push({
      ...block,
      key,
      gaps: gapsOf(all, lag, from, to),
      ...(part && { part }),
      ...(past.part && { past: past.part }),
    });
    offset += blockRoom(columns, picked.length);
  }
  for (const plan of expressions) {
    const { rows, gaps, past } = computedRows(scene, plan, variant, columns);
    const block = reduceColumns(rows, [0], { from, to, columns }, 0, into, offset);
    blocks.push({ ...block, key: '', gaps, ...(past && { past }) });
    offset += blockRoom(columns, 1);
  }
  return { kind: 'columns', buffer: into, blocks };
}

/** Returns the minimum and maximum of each numeric metric; NaN without values. */
export function extentsOf(scene: Scene, target: Target): Extents {
  const memory = scene.watch(target)?.memory;
  if (!memory) return {};
  const { store, series: names } = memory;
  const lag = scene.lag(target.node);
  const span = { from: scene.from - lag, to: scene.to - lag, columns: EXTENT_COLUMNS };
  const picked = names.map((_, index) => index);
  const past = pastOf(scene, { target, names, store, picked }, '0', span);
  const extents = names.map((): [number, number] => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  (past.rows ?? store).visit(span.from, span.to, 512, (table, row) => {
    if (table.end[row] < span.from || table.start[row] > span.to) return;
    for (let series = 0; series < extents.length; series++) {
      const extent = extents[series];
      extent[0] = leastOf(extent[0], leastIn(table, series, row));
      extent[1] = -leastOf(-extent[1], -greatestIn(table, series, row));
    }
  });
  // Without a value there is no minimum; an infinite one is a value.
  const known = extents.map(([least, greatest]): [number, number] =>
    least <= greatest ? [least, greatest] : [Number.NaN, Number.NaN],
  );
  return Object.fromEntries(names.map((name, index) => [name, known[index]]));
}

/** The lesser of two numbers, without those that are NaN. */
function leastOf(known: number, other: number): number {
  return other < known ? other : known;
}
