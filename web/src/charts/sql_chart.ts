import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatQuantity } from '../format/axis.ts';
import type { Drawable } from '../sql/result.ts';
import { CHARACTER } from './axes.ts';
import type { Palette } from './palette.ts';
import { axisLook, type ChartEvents, plotOptions } from './plot_options.ts';
import { recordSvg } from './svg_recorder.ts';

type Lines = Extract<Drawable, { kind: 'lines' }>;

/** Numbers of a table over time. It has no gaps of samples: between rows nothing is known, so each row has a point. */
export class SqlChart {
  private readonly plot: uPlot;

  constructor(
    element: HTMLElement,
    { times, lines }: Lines,
    private readonly palette: Palette,
    events: ChartEvents,
  ) {
    const base = plotOptions(element, palette, events, () => {});
    const { size } = palette;
    this.plot = new uPlot(
      {
        ...base,
        padding: [8, 14, 0, 0],
        scales: { x: { time: true, auto: true }, y: { auto: true } },
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
            ...axisLook(palette),
            scale: 'y',
            gap: 6,
            space: 3.2 * size,
            size: (_, values) =>
              14 + CHARACTER * size * Math.max(3, ...(values ?? []).map((text) => (text ?? '').length)),
            values: (_, splits) => {
              const step = splits.length > 1 ? splits[1] - splits[0] : undefined;
              return splits.map((value) => formatQuantity(value, undefined, false, step));
            },
          },
        ],
      },
      [times as number[], ...lines.map(({ values }) => values as (number | null)[])],
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
}
