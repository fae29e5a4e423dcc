import { drawInfinities, drawLine, type Plot } from '../../charts/draw_lines.ts';
import { drawGaps } from '../../charts/draw_marks.ts';
import { type Line, linesOf } from '../../charts/line.ts';
import { canvasFont, type Palette } from '../../charts/palette.ts';
import { Plane } from '../../charts/plane.ts';
import { ScaleRange } from '../../charts/scale_range.ts';
import type { Curve, Difference } from '../../series/difference.ts';
import { differenceOf, valueBetween } from '../../series/difference.ts';
import type { ViewResult } from '../../stream/query.ts';

export interface OverlayLook {
  /** Unit of the axis. */
  readonly unit: string | undefined;
  readonly isCounter: boolean;
  readonly isStep: boolean;
  /** Whether the curves are drawn over shares of their length. */
  readonly isScaled: boolean;
  /** Milliseconds by the browser's clock. */
  readonly runs: readonly { readonly from: number; readonly to: number }[];
}

/** Two curves that begin at the same place, and their difference below. */
export class OverlayChart {
  private readonly curves: Plane;
  private readonly difference: Plane;
  private readonly ranges = [new ScaleRange(), new ScaleRange()] as const;
  private lines: readonly (Line | undefined)[] = [];
  private found: Difference | undefined;

  constructor(
    private readonly elements: readonly [HTMLElement, HTMLElement],
    private readonly look: OverlayLook,
    private readonly palette: Palette,
    pointed: (place: number | undefined) => void,
  ) {
    const units = [look.isScaled ? '%' : 's', look.unit] as const;
    const report = (at: readonly [number, number] | undefined) => pointed(at?.[0]);
    this.curves = new Plane(elements[0], { units }, palette, {
      paint: (ctx, plane) => this.paintCurves(ctx, plane),
      pointed: report,
    });
    try {
      this.difference = new Plane(elements[1], { units }, palette, {
        paint: (ctx, plane) => this.paintDifference(ctx, plane),
        pointed: report,
      });
    } catch (error) {
      // The caller has no chart to end.
      this.curves.destroy();
      throw error;
    }
  }

  resize(): void {
    for (const [index, plane] of [this.curves, this.difference].entries()) {
      const { clientWidth, clientHeight } = this.elements[index];
      plane.resize(Math.max(50, clientWidth), Math.max(50, clientHeight));
    }
  }

  show(results: readonly (ViewResult | undefined)[]): void {
    const { isCounter, isStep } = this.look;
    const style = { label: '', unit: this.look.unit, isCounter, isStep, color: 0 };
    this.lines = results.map((result) => result && linesOf(result, [style])[0]);
    const [first, second] = this.lines.map((line, index) => line && this.curveOf(line, index));
    this.found = first && second && differenceOf(first, second, isStep);
    this.draw();
  }

  /** Returns the values at a place, or at the last one that both curves have. */
  valuesAt(
    place: number | undefined,
  ): { readonly place: number; readonly first: number; readonly second: number } | undefined {
    const [first, second] = this.lines.map((line, index) => line && this.curveOf(line, index));
    if (!first || !second || first.count === 0 || second.count === 0) return undefined;
    const last = Math.min(first.place(first.count - 1), second.place(second.count - 1));
    const at = place ?? last;
    const [one, two] = [first, second].map((curve) =>
      valueBetween(curve, columnAt(curve, at), at, this.look.isStep),
    );
    return { place: at, first: one, second: two };
  }

  vector(): SVGSVGElement {
    return this.curves.vector();
  }

  /** Rows of the first curve: place, both values, difference. */
  table(head: readonly string[]): string[][] {
    const [first] = this.lines.map((line, index) => line && this.curveOf(line, index));
    const text = (value: number) => (Number.isNaN(value) ? '' : String(value));
    const rows = Array.from(this.found?.places ?? [], (place, column) => {
      const value = first?.value(column) ?? Number.NaN;
      const difference = this.found?.values[column] ?? Number.NaN;
      return [text(place), text(value), text(value + difference), text(difference)];
    });
    return [[...head], ...rows];
  }

  destroy(): void {
    this.curves.destroy();
    this.difference.destroy();
  }

  private draw(): void {
    const lengths = this.look.runs.map(({ from, to }) => (to - from) / 1000);
    const x: [number, number] = [0, this.look.isScaled ? 100 : Math.max(...lengths)];
    const [values, differences] = this.ranges;
    this.curves.draw(x, values.fit(...extremesOf(this.lines)));
    const found = (this.found?.values ?? new Float64Array()).filter(Number.isFinite);
    // The line of no difference is part of the drawing.
    const low = found.reduce((least, value) => Math.min(least, value), 0);
    const high = found.reduce((most, value) => Math.max(most, value), 0);
    this.difference.draw(x, differences.fit(low, high));
  }

  /** Maps times to places: seconds since the beginning, or percent. */
  private placeOf(index: number): (time: number) => number {
    const { from, to } = this.look.runs[index];
    return this.look.isScaled
      ? (time) => (100 * (time - from)) / (to - from)
      : (time) => (time - from) / 1000;
  }

  private curveOf({ columns, last }: Line, index: number): Curve {
    const place = this.placeOf(index);
    return {
      count: columns.count,
      place: (column) => place(columns.time(column)),
      value: last,
      isBroken: (column) => columns.isBroken(column),
    };
  }

  private paintCurves(ctx: CanvasRenderingContext2D, plane: Plane): void {
    const width = Math.max(1, Math.round(devicePixelRatio));
    this.lines.forEach((line, index) => {
      if (!line) return;
      const place = this.placeOf(index);
      const { x, y, ...size } = plane.area();
      const plot: Plot = { ...size, x: (time) => x(place(time)), y };
      drawGaps(ctx, plot, line.gaps, this.palette);
      ctx.lineWidth = width * 1.25;
      ctx.strokeStyle = ctx.fillStyle = this.palette.series[index];
      drawLine(ctx, line, plot, width, this.look.isStep && !this.look.isCounter);
      ctx.font = canvasFont(this.palette);
      drawInfinities(ctx, line, plot, width);
    });
  }

  private paintDifference(ctx: CanvasRenderingContext2D, plane: Plane): void {
    const { places = new Float64Array(), values = new Float64Array() } = this.found ?? {};
    ctx.lineWidth = Math.max(1, devicePixelRatio);
    ctx.strokeStyle = this.palette.line;
    const { x, y, left, width } = plane.area();
    ctx.beginPath();
    ctx.moveTo(left, y(0));
    ctx.lineTo(left + width, y(0));
    ctx.stroke();
    ctx.strokeStyle = this.palette.text;
    ctx.beginPath();
    places.forEach((place, column) => {
      if (!Number.isFinite(values[column])) return;
      const [at, height] = [x(place), y(values[column])];
      // A single value must be visible, too.
      if (column === 0 || !Number.isFinite(values[column - 1])) ctx.moveTo(at - 1, height);
      ctx.lineTo(at, height);
    });
    ctx.stroke();
  }
}

/** The last column that is not after a place; -1 before the first. */
function columnAt(curve: Curve, place: number): number {
  let [low, high] = [0, curve.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.place(middle) <= place) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function extremesOf(lines: readonly (Line | undefined)[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const line of lines) {
    for (let column = 0; column < (line?.columns.count ?? 0); column++) {
      low = Math.min(low, line?.low(column) ?? low);
      high = Math.max(high, line?.high(column) ?? high);
    }
  }
  return [low, high];
}
