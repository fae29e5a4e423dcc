import { useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { heatColors } from '../../charts/heat_colors.ts';
import { ScaleRange } from '../../charts/scale_range.ts';
import { formatInteger } from '../../format/number.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import { formatCursor } from '../../format/time.ts';
import type { GapMark } from '../../series/causes.ts';
import { extremesOf, type HeatGrid, heatGrid, infiniteIn } from '../../series/heat_grid.ts';
import { metricAt } from '../../series/parts.ts';
import { nameOf } from '../../state/names.ts';
import { changePanel } from '../../state/panels.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import { cursorTime, range, show } from '../../state/time.ts';
import type { PastPart, ViewResult } from '../../stream/query.ts';
import { HeatChart } from './heat_chart.ts';
import { heatStrings } from './strings.ts';
import '../../styles/map.css';
import { GapSummary } from '../../components/gap_summary.tsx';
import { PastNote } from '../../components/past_note.tsx';
import { Choice } from '../../components/toggle.tsx';
import { usePalette } from '../../components/use_palette.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import { useWheel } from '../../components/use_wheel.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { HEAT_FIGURES } from './figures.ts';

type Spec = SpecOf<'heat'>;

const words = heatStrings;
const COLORS = 64;
/** How often texts change: as often as people can read. */
const READ_MS = 250;

interface HeatAnswer {
  readonly grid: HeatGrid;
  readonly gaps: readonly GapMark[];
  readonly past: PastPart | undefined;
  readonly limits: readonly [number, number];
}

/** The elements of a vector over time. */
export function HeatPanel({ spec }: { spec: Spec }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<HeatChart>();
  const scale = useRef(new ScaleRange()).current;
  const newest = useRef<HeatAnswer>();
  const read = useSignal<HeatAnswer | undefined>(undefined);
  const lastRead = useRef(0);
  const row = useSignal<number | undefined>(undefined);
  const columns = useSignal(600);
  const { unit, kind } = useComputed(() => metricAt(schemaOfTarget(spec.target), spec.metric)).value ?? {};
  const isRate = kind === 'counter';
  const fixed = useComputed(() => limitsOf(spec)).value;
  const palette = usePalette();
  const figure = spec.figure ?? 'max';
  const draw = useCallback(() => {
    const found = newest.current;
    if (found) chart.current?.draw({ ...found, figure });
  }, [figure]);
  const resize = useCallback(
    (width: number, height: number) => {
      chart.current?.resize(width, height);
      if (chart.current) columns.value = chart.current.columns;
    },
    [columns],
  );
  useSize(place, resize);
  useWheel(place);
  useEffect(() => {
    if (!place.current) return;
    const made = new HeatChart(place.current, palette, heatColors(COLORS), {
      pointed: (time, at) => {
        cursorTime.value = time;
        row.value = at;
      },
      selected: show,
    });
    chart.current = made;
    columns.value = made.columns;
    draw();
    const forget = registerPicture(spec.id, {
      vector: () => made.vector(),
      table: () => tableOf(newest.current?.grid, `${unit ?? '1'}${isRate ? '/s' : ''}`),
    });
    return () => {
      forget();
      made.destroy();
      chart.current = undefined;
    };
  }, [spec.id, palette, draw, columns, row, unit, isRate]);
  useView(
    () => ({
      kind: 'columns',
      range: range.value,
      sources: [{ target: spec.target, metrics: [spec.metric] }],
      columns: columns.value,
    }),
    (result) => {
      const found = shownOf(result, columns.peek(), isRate, fixed, scale);
      if (!found) return;
      newest.current = found;
      draw();
      const now = performance.now();
      if (range.peek().live && now - lastRead.current < READ_MS) return;
      lastRead.current = now;
      read.value = found;
    },
  );
  const found = read.value;
  const infinite = found ? infiniteIn(found.grid[figure]) : 0;
  // Without a finite value the colors stand for nothing.
  const limits = found && (fixed || Number.isFinite(extremesOf(found.grid)[0])) ? found.limits : undefined;
  return (
    <section class="panel" data-testid="heat" data-panel={spec.id}>
      <div
        class="chart"
        role="img"
        aria-label={words.about(spec.metric, nameOf(spec.target))}
        ref={place}
        data-testid="heat-chart"
        data-rows={found?.grid.labels.length}
        data-from={found?.grid.from}
        data-to={found?.grid.to}
      />
      {found && found.grid.labels.length === 0 && <p class="panel-note">{words.empty}</p>}
      <Readout grid={found?.grid} row={row.value} measure={{ unit, isRate }} />
      <GapSummary gaps={found?.gaps ?? []} />
      <div class="panel-options">
        <Choice
          label={words.figure}
          value={figure}
          values={HEAT_FIGURES}
          nameOf={(name) => words.figures[name]}
          testId="heat-figure"
          onChange={(name) => changePanel(spec.id, { ...spec, figure: name })}
        />
        {found && infinite > 0 && (
          <span class="heat-infinite" data-testid="heat-infinite">
            <span class="heat-infinite-color" aria-hidden="true" />
            {words.infinite(formatInteger(infinite))}
          </span>
        )}
        {limits && (
          <span class="time-scale" title={words.scale} data-testid="heat-scale">
            <span>{formatWithin(limits[0], limits, unit, isRate)}</span>
            <span class="map-color-bar" aria-hidden="true" />
            <span>{formatWithin(limits[1], limits, unit, isRate)}</span>
          </span>
        )}
      </div>
      <PanelFooter spec={spec}>
        <PastNote past={found?.past} />
      </PanelFooter>
    </section>
  );
}

/** Copies an answer: its buffer goes back to the worker. */
function shownOf(
  { answer, from, to }: ViewResult,
  columns: number,
  isRate: boolean,
  fixed: readonly [number, number] | undefined,
  scale: ScaleRange,
): HeatAnswer | undefined {
  if (answer.kind !== 'columns') return undefined;
  const rows = answer.blocks.map((block) => ({ label: block.part?.label ?? '', block }));
  const grid = heatGrid(answer.buffer, rows, [from, to], columns, isRate);
  const gaps = answer.blocks[0]?.gaps ?? [];
  const past = answer.blocks.find((block) => block.past)?.past;
  return { grid, gaps, past, limits: fixed ?? scale.fit(...extremesOf(grid)) };
}

/** The least and greatest value that make sense, if the schema has both. Reads signals. */
function limitsOf(spec: Spec): readonly [number, number] | undefined {
  const { min, max, kind } = metricAt(schemaOfTarget(spec.target), spec.metric) ?? {};
  if (kind === 'counter') return undefined;
  return min !== undefined && max !== undefined && min < max ? [min, max] : undefined;
}

/** The value under the pointer, or where the least and the greatest are at its time; at the end without a pointer. */
/** How values are written. */
interface Measure {
  readonly unit: string | undefined;
  readonly isRate: boolean;
}

function Readout(props: { grid: HeatGrid | undefined; row: number | undefined; measure: Measure }) {
  const { grid, row, measure } = props;
  const time = cursorTime.value;
  if (!grid || grid.labels.length === 0) return null;
  const { from, to, columns } = grid;
  const at = time ?? to;
  if (at < from || at > to) return null;
  const column = Math.min(columns - 1, Math.floor(((at - from) / (to - from)) * columns));
  return (
    <p class="panel-note" data-testid="heat-readout">
      {readoutOf(
        grid,
        time === undefined ? lastKnown(grid) : column,
        time === undefined ? undefined : row,
        measure,
      )}
    </p>
  );
}

function readoutOf(grid: HeatGrid, column: number, row: number | undefined, measure: Measure): string {
  const { from, to, columns, labels, min, max, last } = grid;
  const time = formatCursor(from + ((column + 0.5) / columns) * (to - from), to - from);
  const ends = extremesOf(grid);
  const show = (value: number) => formatWithin(value, ends, measure.unit, measure.isRate);
  if (row !== undefined) {
    const at = row * columns + column;
    if (Number.isNaN(last[at])) return words.nothing(time);
    return words.cell(time, labels[row], show(last[at]), show(min[at]), show(max[at]));
  }
  let [low, high] = [-1, -1];
  for (let each = 0; each < labels.length; each++) {
    const value = last[each * columns + column];
    if (Number.isNaN(value)) continue;
    if (low < 0 || value < last[low * columns + column]) low = each;
    if (high < 0 || value > last[high * columns + column]) high = each;
  }
  if (low < 0) return words.nothing(time);
  const value = (each: number) => show(last[each * columns + column]);
  return words.column(time, value(low), labels[low], value(high), labels[high]);
}

/** The last column with a value; the last one without. */
function lastKnown({ columns, labels, last }: HeatGrid): number {
  for (let column = columns - 1; column >= 0; column--)
    for (let row = 0; row < labels.length; row++)
      if (!Number.isNaN(last[row * columns + column])) return column;
  return columns - 1;
}

function tableOf(grid: HeatGrid | undefined, unit: string): string[][] {
  const { time, element, figures } = words.table;
  const head = [time, element, ...figures.map((figure) => `${figure} [${unit}]`)];
  if (!grid) return [head];
  const { labels, columns, from, to, min, max, last } = grid;
  const rows: string[][] = [];
  for (let column = 0; column < columns; column++) {
    const moment = new Date(from + ((column + 0.5) / columns) * (to - from)).toISOString();
    labels.forEach((label, row) => {
      const at = row * columns + column;
      if (!Number.isNaN(last[at]))
        rows.push([moment, label, ...[min[at], max[at], last[at]].map((value) => String(value))]);
    });
  }
  return [head, ...rows];
}
