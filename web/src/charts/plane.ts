import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { apart, finite, ValueScale } from '../series/value_scale.ts';
import type { Plot } from './draw_lines.ts';
import type { Palette } from './palette.ts';
import { recordSvg } from './svg_recorder.ts';
import { axisWidth, SHARES, valueAxis } from './value_axis.ts';

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

type Limits = readonly [min: number, max: number];

/** Both ends of the shares. */
const SHARE_ENDS: uPlot.AlignedData = [
  [0, 1],
  [null, null],
];

/** Two axes of numbers, neither of them time. What lies between them is drawn by the caller. */
export class Plane {
  private readonly plot: uPlot;
  private x: Limits = [0, 1];
  private y: Limits = [0, 1];
  private readonly scales = { x: new ValueScale(0, 1), y: new ValueScale(0, 1) };

  constructor(
    element: HTMLElement,
    private readonly options: PlaneOptions,
    private readonly palette: Palette,
    private readonly events: PlaneEvents,
  ) {
    this.plot = new uPlot(this.plotOptions(element), SHARE_ENDS, element);
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
    this.draw(this.x, this.y);
  }

  /** Draws with these limits of the axes. */
  draw(x: Limits, y: Limits): void {
    [this.x, this.y] = [x, y];
    const [wide, high] = this.options.isEqual ? this.equal(x, y) : [x, y];
    const changes = [
      this.rescale('x', wide, this.options.isLogarithmic === true),
      this.rescale('y', high, false),
    ];
    // uPlot sees shares of the axes, which stay. Data of the same places make it draw once.
    this.plot.batch(() => {
      this.plot.setData(SHARE_ENDS, false);
      if (changes.includes(true)) this.plot.redraw(false, true);
      this.plot.setScale('x', { min: 0, max: 1 });
    });
  }

  /** Returns the place of a value on the canvas. */
  placeX(value: number): number {
    const { left, width } = this.plot.bbox;
    return left + this.scales.x.share(value) * width;
  }

  placeY(value: number): number {
    const { top, height } = this.plot.bbox;
    return top + height - this.scales.y.share(value) * height;
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

  /** Sets the limits of an axis; returns whether they are others. */
  private rescale(axis: 'x' | 'y', [min, max]: Limits, isLogarithmic: boolean): boolean {
    const before = this.scales[axis];
    const [low, high] = apart(min, max);
    if (before.low === low && before.high === high && before.isLogarithmic === isLogarithmic) return false;
    this.scales[axis] = new ValueScale(low, high, isLogarithmic);
    return true;
  }

  /** Widens the limits of one axis until a unit is as long on both. */
  private equal(x: Limits, y: Limits): [Limits, Limits] {
    const { width, height } = this.plot.bbox;
    // Halves have finite sums, and no pixel is as wide as a denormal number.
    const factor = Math.max(...x.map(Math.abs), ...y.map(Math.abs)) < 1 ? 2 ** 60 : 0.5;
    const widthOf = ([min, max]: Limits) => max * factor - min * factor;
    const perPixel = Math.max(widthOf(x) / (width || 1), widthOf(y) / (height || 1));
    const around = ([min, max]: Limits, pixels: number): Limits => {
      const middle = (min * factor) / 2 + (max * factor) / 2;
      const half = (perPixel * pixels) / 2;
      return [finite((middle - half) / factor), finite((middle + half) / factor)];
    };
    return [around(x, width), around(y, height)];
  }

  private plotOptions(element: HTMLElement): uPlot.Options {
    const { palette } = this;
    return {
      width: Math.max(50, element.clientWidth),
      height: Math.max(50, element.clientHeight),
      legend: { show: false },
      padding: [8, 28, 0, 0],
      cursor: { points: { show: false }, drag: { x: false, y: false } },
      scales: { x: SHARES, y: SHARES },
      series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
      axes: [
        { ...this.axis('x', 6 * palette.size), size: 15 + palette.size, gap: 4 },
        {
          ...this.axis('y', 3.2 * palette.size),
          gap: 6,
          size: (_, labels) => axisWidth(labels, palette, 3),
        },
      ],
      hooks: { drawAxes: [() => this.paint()], setCursor: [(plot) => this.pointed(plot)] },
    };
  }

  private axis(key: 'x' | 'y', space: number): uPlot.Axis {
    const unit = this.options.units[key === 'x' ? 0 : 1];
    const look = { unit, isCounter: false };
    return valueAxis({ key, space, look, scale: () => this.scales[key] }, this.palette);
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
    const { x, y } = this.scales;
    this.events.pointed(
      left < 0 ? undefined : [x.value(plot.posToVal(left, 'x')), y.value(plot.posToVal(top, 'y'))],
    );
  }
}
