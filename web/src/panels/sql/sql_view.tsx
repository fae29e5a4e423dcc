import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { SERIES_COLORS } from '../../charts/palette.ts';
import { usePalette } from '../../components/use_palette.ts';
import { useSize } from '../../components/use_size.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatInteger } from '../../format/number.ts';
import { type Cell, type Drawable, drawableOf, isNumeric, type SqlResult } from '../../sql/result.ts';
import type { SqlAnswer } from '../../state/sql.ts';
import { cursorTime, show } from '../../state/time.ts';
import { registerPicture } from '../shared/exports.ts';
import { SqlChart } from './sql_chart.ts';
import { sqlStrings } from './strings.ts';

const words = sqlStrings;
/** Most rows that are shown. */
const MAX_ROWS = 500;
/** Characters of a cell that are shown. */
const MAX_CELL_LENGTH = 300;

/** An answer as a table, as lines over time or as bars. */
export function SqlView(props: { answer: SqlAnswer | undefined; isDrawn: boolean; id: string }) {
  const { answer, isDrawn, id } = props;
  const result = answer?.result;
  const drawable = useMemo(() => (result && isDrawn ? drawableOf(result) : undefined), [result, isDrawn]);
  if (!result) return <div class="sql-body" />;
  if (result.rows.length === 0) return <p class="panel-empty">{words.noRows}</p>;
  if (!isDrawn) return <Table result={result} />;
  if (!drawable) return <p class="panel-empty">{words.noChart}</p>;
  return drawable.kind === 'lines' ? (
    <Lines drawable={drawable} id={id} />
  ) : (
    <Bars drawable={drawable} all={result.rows.length} />
  );
}

function Table({ result }: { result: SqlResult }) {
  const numeric = useMemo(() => result.columns.map((_, column) => isNumeric(result, column)), [result]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section class="table-scroll sql-body" tabIndex={0} aria-label={words.views.table}>
      <table class="sql-table" data-testid="sql-table">
        <thead>
          <tr>
            {result.columns.map((name, column) => (
              <th key={column} scope="col" class={numeric[column] ? 'is-number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {result.rows.slice(0, MAX_ROWS).map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td
                  key={column}
                  class={cell === null ? 'is-null' : numeric[column] ? 'is-number' : ''}
                  title={cell === null ? undefined : String(cell).slice(0, 2000)}
                >
                  {textOf(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {result.rows.length > MAX_ROWS && <p class="hint">{words.shown(formatInteger(MAX_ROWS))}</p>}
    </section>
  );
}

function textOf(cell: Cell): string {
  if (cell === null) return 'NULL';
  const text = String(cell);
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}\u2026` : text;
}

function Lines({ drawable, id }: { drawable: Extract<Drawable, { kind: 'lines' }>; id: string }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<SqlChart>();
  const palette = usePalette();
  useSize(
    place,
    useCallback((width: number, height: number) => chart.current?.resize(width, height), []),
  );
  useEffect(() => {
    if (!place.current) return;
    const made = new SqlChart(place.current, drawable, palette, {
      pointed: (time) => {
        cursorTime.value = time;
      },
      selected: show,
    });
    chart.current = made;
    const { times, lines } = drawable;
    const forget = registerPicture(id, {
      vector: () => made.vector(),
      legend: () =>
        lines.map(({ name }, index) => ({ name, color: palette.series[index % palette.series.length] })),
      table: () => [
        ['time', ...lines.map(({ name }) => name)],
        ...times.map((time, row) => [
          new Date(time).toISOString(),
          ...lines.map(({ values }) => String(values[row] ?? '')),
        ]),
      ],
    });
    return () => {
      forget();
      made.destroy();
      chart.current = undefined;
    };
  }, [id, drawable, palette]);
  return (
    <>
      <div
        class="chart"
        role="img"
        aria-label={words.chart(drawable.lines.map(({ name }) => name).join(', '))}
        ref={place}
        data-testid="sql-chart"
        data-points={drawable.times.length}
      />
      <ul class="legend">
        {drawable.lines.map(({ name }, index) => (
          <li key={name} class="legend-line">
            <span class={`legend-mark series-${index % SERIES_COLORS}`} aria-hidden="true" />
            <span class="legend-name">{name}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Bars({ drawable, all }: { drawable: Extract<Drawable, { kind: 'bars' }>; all: number }) {
  const { bars, name } = drawable;
  const sizes = bars.map(({ value }) => Math.abs(value ?? 0));
  const most = sizes.filter(Number.isFinite).reduce((size, value) => Math.max(size, value), 0);
  // An infinite bar fills its line; its value says so.
  const share = (size: number) => Math.min(1, most > 0 || size > 0 ? size / most : 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section class="table-scroll sql-body" tabIndex={0} aria-label={words.bars(name)} data-testid="sql-bars">
      <p class="panel-note">{name}</p>
      <ul class="sql-bars">
        {bars.map(({ label, value }, index) => (
          <li key={index} data-testid="sql-bar">
            <span class="sql-bar-label" title={label}>
              {label}
            </span>
            <span class="sql-bar-line" aria-hidden="true">
              <span
                class={(value ?? 0) < 0 ? 'sql-bar is-negative' : 'sql-bar'}
                style={{ width: `${100 * share(sizes[index])}%` }}
              />
            </span>
            <span class="sql-bar-value">
              {value === null ? 'NULL' : formatQuantity(value, undefined, false)}
            </span>
          </li>
        ))}
      </ul>
      {all > bars.length && <p class="hint">{words.fewer(formatInteger(bars.length), formatInteger(all))}</p>}
    </section>
  );
}
