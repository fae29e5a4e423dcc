import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatQuantity } from '../format/axis.ts';
import { CHARACTER } from './axes.ts';
import type { Plot } from './draw_lines.ts';
import type { Palette } from './palette.ts';
import { axisLook } from './plot_options.ts';
import { recordSvg } from './svg_recorder.ts';

export interface PlaneOptions {
  readonly units: readonly [x: string | undefined, y: string | undefined];
  /** Whether the first axis is logarithmic. */
  readonly isLogarithmic?: boolean;
  /** Whether a unit is as long on both axes. */
  readonly isEqual?: boolean;
}

export interface PlaneEvents {
  /** Draws in the pixels of the canvas, clipped to the axes. */
  paint(ctx: CanvasRenderingContext2D, plane: Plane): void;
  /** Reports the place under the pointer in values; undefined if it left. */
  pointed(place: readonly [x: number, y: number] | undefined): void;
}

/** Distances of two ticks, in which a decimal is enough. */
const STEPS = Array.from({ length: 30 }, (_, index) =>
  [1, 2, 5].map((digit) => digit * 10 ** (index - 14)),
).flat();

type Limits = readonly [min: number, max: number];

/** Two axes of numbers, neither of them time. What lies between them is drawn by the caller. */
export class Plane {
  private readonly plot: uPlot;
  private x: Limits = [0, 1];
  private y: Limits = [0, 1];

  constructor(
    element: HTMLElement,
    private readonly options: PlaneOptions,
    private readonly palette: Palette,
    private readonly events: PlaneEvents,
  ) {
    this.plot = new uPlot(
      this.plotOptions(element),
      [
        [0, 1],
        [null, null],
      ],
      element,
    );
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
    this.draw(this.x, this.y);
  }

  /** Draws with these limits of the axes. */
  draw(x: Limits, y: Limits): void {
    [this.x, this.y] = [x, y];
    const [wide, high] = this.options.isEqual ? this.equal(x, y) : [x, y];
    // Data of the same places make it draw once, also if the limits stay.
    this.plot.batch(() => {
      this.plot.setData(
        [
          [wide[0], wide[1]],
          [null, null],
        ],
        false,
      );
      this.plot.setScale('x', { min: wide[0], max: wide[1] });
      this.plot.setScale('y', { min: high[0], max: high[1] });
    });
  }

  /** Returns the place of a value on the canvas. */
  placeX(value: number): number {
    const { left, width } = this.plot.bbox;
    if (this.options.isLogarithmic) return this.plot.valToPos(value, 'x', true);
    // Thousands of points are placed for a drawing.
    const { min = 0, max = 1 } = this.plot.scales.x;
    return left + ((value - (min ?? 0)) / ((max ?? 1) - (min ?? 0))) * width;
  }

  placeY(value: number): number {
    const { top, height } = this.plot.bbox;
    const { min = 0, max = 1 } = this.plot.scales.y;
    return top + height - ((value - (min ?? 0)) / ((max ?? 1) - (min ?? 0))) * height;
  }

  /** Returns the pixels of the canvas between the axes, and where values are in them. */
  area(): Plot {
    const { left, top, width, height } = this.plot.bbox;
    return { left, top, width, height, x: (value) => this.placeX(value), y: (value) => this.placeY(value) };
  }

  get columns(): number {
    return Math.max(50, Math.round(this.plot.bbox.width / devicePixelRatio));
  }

  /** Returns the drawing as SVG, for print at any size. */
  vector(): SVGSVGElement {
    return recordSvg(this.plot.ctx.canvas, this.palette.panel, () => this.draw(this.x, this.y));
  }

  destroy(): void {
    this.plot.destroy();
  }

  /** Widens the limits of one axis until a unit is as long on both. */
  private equal(x: Limits, y: Limits): [Limits, Limits] {
    const { width, height } = this.plot.bbox;
    const perPixel = Math.max((x[1] - x[0]) / (width || 1), (y[1] - y[0]) / (height || 1));
    const around = ([min, max]: Limits, pixels: number): Limits => {
      const [middle, half] = [(min + max) / 2, (perPixel * pixels) / 2];
      return [middle - half, middle + half];
    };
    return [around(x, width), around(y, height)];
  }

  private plotOptions(element: HTMLElement): uPlot.Options {
    const { palette } = this;
    const scale: uPlot.Scale = { time: false, auto: false, range: (_, min, max) => [min ?? 0, max ?? 1] };
    return {
      width: Math.max(50, element.clientWidth),
      height: Math.max(50, element.clientHeight),
      legend: { show: false },
      padding: [8, 28, 0, 0],
      cursor: { points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { ...scale, distr: this.options.isLogarithmic ? 3 : 1 }, y: scale },
      series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
      axes: [
        {
          ...axisLook(palette),
          size: 15 + palette.size,
          gap: 4,
          space: 6 * palette.size,
          incrs: STEPS,
          values: this.ticks(0),
        },
        {
          ...axisLook(palette),
          scale: 'y',
          gap: 6,
          space: 3.2 * palette.size,
          incrs: STEPS,
          size: (_, values) =>
            14 + CHARACTER * palette.size * Math.max(3, ...(values ?? []).map((text) => (text ?? '').length)),
          values: this.ticks(1),
        },
      ],
      hooks: { drawAxes: [() => this.paint()], setCursor: [(plot) => this.pointed(plot)] },
    };
  }

  private ticks(axis: 0 | 1): uPlot.Axis.DynamicValues {
    const unit = this.options.units[axis];
    const isLogarithmic = axis === 0 && this.options.isLogarithmic;
    return (_, splits) => {
      const step = splits.length > 1 ? splits[1] - splits[0] : undefined;
      return splits.map((value) =>
        value === null ? '' : formatQuantity(value, unit, false, isLogarithmic ? undefined : step),
      );
    };
  }

  private paint(): void {
    const { ctx, bbox } = this.plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineJoin = 'bevel';
    this.events.paint(ctx, this);
    ctx.restore();
  }

  private pointed(plot: uPlot): void {
    const { left = -1, top = -1, event } = plot.cursor;
    if (event === undefined || event === null) return;
    this.events.pointed(left < 0 ? undefined : [plot.posToVal(left, 'x'), plot.posToVal(top, 'y')]);
  }
}
