import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { CHARACTER } from '../../charts/axes.ts';
import { drawGaps } from '../../charts/draw_marks.ts';
import { path } from '../../charts/mix.ts';
import type { Palette } from '../../charts/palette.ts';
import { axisLook, type ChartEvents, plotOptions } from '../../charts/plot_options.ts';
import { recordSvg } from '../../charts/svg_recorder.ts';
import type { GapMark } from '../../series/causes.ts';
import type { HeatGrid } from '../../series/heat_grid.ts';
import { ValueScale } from '../../series/value_scale.ts';
import { visible } from '../../text/visible.ts';

export interface HeatEvents extends Omit<ChartEvents, 'pointed'> {
  /** Reports the time and the row under the pointer; both undefined if it left. */
  pointed(time: number | undefined, row: number | undefined): void;
}

/** What a heat map draws. */
export interface DrawnHeat {
  readonly grid: HeatGrid;
  /** Which of the grid's values are the colors. */
  readonly figure: 'min' | 'max' | 'last';
  /** Values of the first and the last color. */
  readonly limits: readonly [number, number];
  readonly gaps: readonly GapMark[];
}

/** Longest name of an element on the axis. */
const MAX_LABEL_LENGTH = 16;

/** Elements over time, the first one above: the color is the value. Gaps are hatched. */
export class HeatChart {
  private readonly plot: uPlot;
  private readonly image = document.createElement('canvas');
  private drawn: DrawnHeat | undefined;

  constructor(
    element: HTMLElement,
    private readonly palette: Palette,
    /** Colors of values, least first: `[red, green, blue]`. */
    private readonly colors: readonly (readonly number[])[],
    events: HeatEvents,
  ) {
    const pointed = (time: number | undefined) =>
      events.pointed(time, time === undefined ? undefined : this.rowAt(this.plot.cursor.top ?? -1));
    const base = plotOptions(element, palette, { ...events, pointed }, () => this.paint());
    const scale: uPlot.Scale = { auto: false, range: (_, min, max) => [min ?? 0, max ?? 1] };
    this.plot = new uPlot(
      {
        ...base,
        padding: [8, 14, 0, 0],
        scales: { ...base.scales, y: { ...scale, dir: -1 } },
        series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
        axes: [...(base.axes ?? []), this.axis()],
      },
      [
        [0, 1],
        [null, null],
      ],
      element,
    );
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
    this.refresh();
  }

  /** Columns of pixels. */
  get columns(): number {
    return Math.max(50, Math.round(this.plot.bbox.width / devicePixelRatio));
  }

  draw(drawn: DrawnHeat): void {
    this.drawn = drawn;
    this.render(drawn);
    this.refresh();
  }

  /** Returns the drawing as SVG, for print at any size. */
  vector(): SVGSVGElement {
    return recordSvg(this.plot.ctx.canvas, this.palette.panel, () => this.refresh());
  }

  destroy(): void {
    this.plot.destroy();
  }

  private rowAt(top: number): number | undefined {
    const rows = this.drawn?.grid.labels.length ?? 0;
    const row = Math.floor(this.plot.posToVal(top, 'y'));
    return top >= 0 && row >= 0 && row < rows ? row : undefined;
  }

  private refresh(): void {
    const { from = 0, to = 1, labels = [] } = this.drawn?.grid ?? {};
    this.plot.batch(() => {
      this.plot.setData(
        [
          [from, to],
          [null, null],
        ],
        false,
      );
      this.plot.setScale('x', { min: from, max: to });
      this.plot.setScale('y', { min: 0, max: Math.max(1, labels.length) });
    });
  }

  /** A name in the middle of each row, as far as they have room. */
  private axis(): uPlot.Axis {
    const { size } = this.palette;
    return {
      ...axisLook(this.palette),
      scale: 'y',
      gap: 6,
      grid: { show: false },
      splits: (plot) => {
        const rows = this.drawn?.grid.labels.length ?? 0;
        const room = plot.bbox.height / devicePixelRatio / Math.max(1, rows);
        const step = Math.max(1, Math.ceil((1.6 * size) / Math.max(0.1, room)));
        return Array.from({ length: Math.ceil(rows / step) }, (_, index) => index * step + 0.5);
      },
      size: (_, values) => 14 + CHARACTER * size * Math.max(2, ...(values ?? []).map((text) => text.length)),
      values: (_, splits) => splits.map((split) => this.labelOf(Math.floor(split))),
    };
  }

  private labelOf(row: number): string {
    const label = visible(this.drawn?.grid.labels[row] ?? '');
    return label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}\u2026` : label;
  }

  /** Makes an image of a pixel for each cell. */
  private render({ grid, figure, limits: [low, high] }: DrawnHeat): void {
    const { columns, labels } = grid;
    const rows = Math.max(1, labels.length);
    if (this.image.width !== columns || this.image.height !== rows) {
      this.image.width = columns;
      this.image.height = rows;
    }
    const ctx = this.image.getContext('2d');
    if (!ctx) return;
    const pixels = ctx.createImageData(columns, rows);
    const values = grid[figure];
    const last = this.colors.length - 1;
    const infinite = path([this.palette.text, this.palette.text], 2)[0];
    const scale = new ValueScale(low, high);
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      // Without a value the panel shows through, and the hatching.
      if (Number.isNaN(value)) continue;
      // Infinite values have a color that no other value has.
      const color = Number.isFinite(value)
        ? this.colors[Math.min(last, Math.max(0, Math.round(scale.share(value) * last)))]
        : infinite;
      pixels.data[4 * at] = color[0];
      pixels.data[4 * at + 1] = color[1];
      pixels.data[4 * at + 2] = color[2];
      pixels.data[4 * at + 3] = 255;
    }
    ctx.putImageData(pixels, 0, 0);
  }

  private paint(): void {
    if (!this.drawn) return;
    const { grid, gaps } = this.drawn;
    const { ctx, bbox } = this.plot;
    const { left, top, width, height } = bbox;
    const x = (time: number) => left + ((time - grid.from) / (grid.to - grid.from || 1)) * width;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    drawGaps(ctx, { left, top, width, height, x, y: () => top }, gaps, this.palette);
    ctx.imageSmoothingEnabled = false;
    if (grid.labels.length > 0) ctx.drawImage(this.image, left, top, width, height);
    ctx.restore();
  }
}
