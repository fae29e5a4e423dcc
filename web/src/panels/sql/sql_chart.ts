import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { drawEdgeMarks } from '../../charts/draw_lines.ts';
import { canvasFont, type Palette } from '../../charts/palette.ts';
import { type ChartEvents, plotOptions } from '../../charts/plot_options.ts';
import { ScaleRange } from '../../charts/scale_range.ts';
import { recordSvg } from '../../charts/svg_recorder.ts';
import { axisWidth, SHARES, valueAxis } from '../../charts/value_axis.ts';
import { infinitiesOf } from '../../series/columns.ts';
import { ValueScale } from '../../series/value_scale.ts';
import type { Drawable } from '../../sql/result.ts';

type Lines = Extract<Drawable, { kind: 'lines' }>;

/** Numbers of a table over time. It has no gaps of samples: between rows nothing is known, so each row has a point. */
export class SqlChart {
  private readonly plot: uPlot;

  constructor(
    element: HTMLElement,
    private readonly shown: Lines,
    private readonly palette: Palette,
    events: ChartEvents,
  ) {
    const { times, lines } = shown;
    const base = plotOptions(element, palette, events, () => this.paint());
    const scale = scaleOf(lines);
    const space = 3.2 * palette.size;
    const look = { unit: undefined, isCounter: false };
    this.plot = new uPlot(
      {
        ...base,
        padding: [8, 14, 0, 0],
        scales: { x: { time: true, auto: true }, y: SHARES },
        series: [
          {},
          ...lines.map((_, index) => ({
            scale: 'y',
            stroke: palette.series[index % palette.series.length],
            width: 1.5,
            points: { show: times.length < 400, size: 5 },
          })),
        ],
        axes: [
          ...(base.axes ?? []),
          {
            ...valueAxis({ key: 'y', space, look, scale: () => scale }, palette),
            gap: 6,
            size: (_, labels) => axisWidth(labels, palette, 3),
          },
        ],
      },
      [
        times as number[],
        ...lines.map(({ values }) => values.map((value) => (isKnown(value) ? scale.share(value) : null))),
      ],
      element,
    );
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
  }

  vector(): SVGSVGElement {
    return recordSvg(this.plot.ctx.canvas, this.palette.panel, () => this.plot.redraw(false));
  }

  destroy(): void {
    this.plot.destroy();
  }

  /** Marks infinite values at the edges. */
  private paint(): void {
    const { ctx, bbox } = this.plot;
    const { times, lines } = this.shown;
    const width = Math.max(1, Math.round(devicePixelRatio));
    ctx.save();
    ctx.font = canvasFont(this.palette);
    lines.forEach(({ values }, index) => {
      ctx.fillStyle = this.palette.series[index % this.palette.series.length];
      const marks = values.map((value) => infinitiesOf(value ?? Number.NaN, value ?? Number.NaN));
      const place = (row: number) => this.plot.valToPos(times[row], 'x', true);
      drawEdgeMarks(ctx, { count: times.length, marks: (row) => marks[row], x: place }, bbox, width);
    });
    ctx.restore();
  }
}

function isKnown(value: number | null): value is number {
  return value !== null && Number.isFinite(value);
}

function scaleOf(lines: Lines['lines']): ValueScale {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { values } of lines)
    for (const value of values) {
      if (!isKnown(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  return new ValueScale(...new ScaleRange().fit(low, high));
}
