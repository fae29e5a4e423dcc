import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { AlarmSpan, RuleLimit } from '../alarms/spans.ts';
import { convert } from '../expressions/convert.ts';
import type { GapMark } from '../series/causes.ts';
import { ValueScale } from '../series/value_scale.ts';
import type { Annotation } from '../state/annotations.ts';
import type { Marker } from '../state/markers.ts';
import { gapAt } from '../stream/gap_at.ts';
import type { ViewResult } from '../stream/query.ts';
import { drawAlarms, drawRuleLimits } from './draw_alarms.ts';
import { drawInfinities, drawLine, fillArea, type Plot } from './draw_lines.ts';
import { drawMarkers } from './draw_markers.ts';
import { drawGaps, drawLimits, type Limit } from './draw_marks.ts';
import { drawAnnotations } from './draw_notes.ts';
import { Fineness } from './fineness.ts';
import { extremesIn, type Line, type LineStyle, linesOf, stacked } from './line.ts';
import { canvasFont, type Palette } from './palette.ts';
import { type ChartEvents, plotOptions } from './plot_options.ts';
import { decades, ScaleRange, withEnds } from './scale_range.ts';
import { recordSvg } from './svg_recorder.ts';
import { axisWidth, SHARES, valueAxis } from './value_axis.ts';

export interface ChartContent {
  readonly styles: readonly LineStyle[];
  readonly isStacked: boolean;
  readonly limits: readonly Limit[];
  readonly axis?: AxisChoice;
  isShown(line: number): boolean;
}

/** What a line shows at a time. */
export interface Reading {
  /** The last value of a column of pixels, which may be infinite; NaN where there is none. */
  readonly value: number;
  /** The gap in which the time lies. */
  readonly gap?: GapMark;
  /** The time of the value, and the extremes of its column. */
  readonly column?: { readonly to: number; readonly low: number; readonly high: number };
}

/** What somebody has chosen for the first axis; it grows with the values where nothing is chosen. */
export interface AxisChoice {
  readonly min?: number;
  readonly max?: number;
  /** Of all axes. */
  readonly isLogarithmic?: boolean;
}

const PERCENT = '%';

/**
 * A chart over time. uPlot draws axes, grid, cursor and selection. The lines are drawn here from the worker's columns,
 * because these contain extremes of pixels instead of points.
 */
export class TimeChart {
  private readonly plot: uPlot;
  private readonly ranges = new Map<string, ScaleRange>();
  private readonly scales = new Map<string, ValueScale>();
  private readonly units: readonly string[];
  private readonly fineness = new Fineness();
  private lines: Line[] = [];
  private ghosts: Line[] = [];
  private ghostShift = 0;
  private annotations: readonly Annotation[] = [];
  private alarms: readonly AlarmSpan[] = [];
  private ruleLimits: readonly RuleLimit[] = [];
  private markers: readonly Marker[] = [];
  private from = 0;
  private to = 1;

  constructor(
    element: HTMLElement,
    private readonly content: ChartContent,
    private readonly palette: Palette,
    private readonly events: ChartEvents,
  ) {
    this.units = content.isStacked ? [PERCENT] : [...new Set(content.styles.map(scaleOf))];
    for (const unit of this.units) {
      this.ranges.set(unit, new ScaleRange());
      this.scales.set(unit, new ValueScale(0, 1));
    }
    this.plot = new uPlot(this.options(element), [[0, 1], ...this.units.map(() => [null, null])], element);
  }

  /** Columns of pixels that a line can use; fewer after drawings that took long. */
  get columns(): number {
    return Math.max(50, Math.round(this.plot.bbox.width / this.fineness.width));
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
  }

  draw(result: ViewResult): void {
    this.from = result.from;
    this.to = result.to;
    const lines = linesOf(result, this.content.styles);
    this.lines = this.content.isStacked ? stacked(lines, this.content.isShown) : lines;
    this.refresh();
  }

  /** Draws a second range over the first. */
  drawGhost(result: ViewResult | undefined, shift: number): void {
    this.ghosts = result && !this.content.isStacked ? linesOf(result, this.content.styles) : [];
    this.ghostShift = shift;
    this.refresh();
  }

  annotate(annotations: readonly Annotation[]): void {
    this.annotations = annotations;
    this.refresh();
  }

  /** Shades times when alarms were active, and draws the limits of their rules. */
  showAlarms(spans: readonly AlarmSpan[], limits: readonly RuleLimit[] = []): void {
    // A chart without alarms is not drawn again for them.
    if (this.alarms.length + spans.length + this.ruleLimits.length + limits.length === 0) return;
    this.alarms = spans;
    this.ruleLimits = limits;
    this.refresh();
  }

  /** Marks log records. */
  mark(markers: readonly Marker[]): void {
    if (this.markers.length + markers.length === 0) return;
    this.markers = markers;
    this.refresh();
  }

  /** Returns the log records close to a time, and the alarms that were active then. */
  eventsAt(time: number): { readonly markers: readonly Marker[]; readonly alarms: readonly AlarmSpan[] } {
    const slack = (this.to - this.from) / 150;
    return {
      markers: this.markers.filter((marker) => Math.abs(marker.time - time) <= slack),
      alarms: this.alarms.filter(
        ({ from, to, isActive, isAside }) => isActive && !isAside && time >= from - slack && time <= to,
      ),
    };
  }

  /** Returns what a line shows at a time, or at the end of the shown time; a later column only helps to draw the line. */
  readingAt(index: number, time: number | undefined, isPointed: boolean): Reading {
    const line = this.lines[index];
    const at = time ?? this.to;
    const gap = line && gapAt(line.gaps, at);
    // While a gap lasts, the end of the shown time keeps the last value, as the table of values does.
    if (gap && !(gap.isLasting && !isPointed)) return { value: Number.NaN, gap };
    const column = line?.columns.at(at) ?? -1;
    if (!line || column < 0) return { value: Number.NaN };
    const [low, high] = extremesIn(line, column);
    return { value: line.last(column), column: { to: line.columns.time(column), low, high } };
  }

  /** The end of the shown time. */
  get end(): number {
    return this.to;
  }

  /** Returns the gap at a time, if there is one. */
  gapAt(time: number): GapMark | undefined {
    const slack = (this.to - this.from) / 200;
    return this.gaps().find((gap) => time >= gap.from - slack && time <= gap.to + slack);
  }

  /** Returns the gap at a time, once for each of its causes. */
  gapsAt(time: number): readonly GapMark[] {
    const first = this.gapAt(time);
    if (!first) return [];
    const same = this.gaps().filter(({ from, to }) => from === first.from && to === first.to);
    // Several values of one instance have the same gaps.
    return [...new Map(same.map((gap) => [`${gap.cause} ${gap.count}`, gap])).values()];
  }

  get canvas(): HTMLCanvasElement {
    return this.plot.ctx.canvas;
  }

  /** Returns the drawing as SVG, for print at any size. */
  vector(): SVGSVGElement {
    return recordSvg(this.canvas, this.palette.panel, () => this.refresh());
  }

  /** Returns the shown values: a row for each column of pixels; of each line the minimum, the maximum and the last value. */
  table(): { readonly time: number; readonly values: readonly (readonly number[])[] }[] {
    const times = new Set<number>();
    for (const { columns } of this.lines)
      for (let column = 0; column < columns.count; column++) times.add(columns.time(column));
    return [...times]
      .filter((time) => time >= this.from && time <= this.to)
      .sort((a, b) => a - b)
      .map((time) => ({ time, values: this.lines.map((_, line) => this.exactly(line, time)) }));
  }

  destroy(): void {
    this.plot.destroy();
  }

  /** Returns the gaps of each source once, however many lines it has. */
  private gaps(): GapMark[] {
    return [...new Set(this.lines.map(({ gaps }) => gaps))].flat();
  }

  private exactly(index: number, time: number): readonly number[] {
    const line = this.lines[index];
    const column = line.columns.at(time);
    if (column < 0 || line.columns.time(column) !== time) return [Number.NaN, Number.NaN, Number.NaN];
    const last = line.last(column);
    // Shares are drawn on top of each other: their edges are no values.
    return this.content.isStacked ? [last, last, last] : [...extremesIn(line, column), last];
  }

  private refresh(): void {
    const hasNewScale = this.units.map((unit) => this.rescale(unit)).includes(true);
    this.plot.batch(() => {
      this.plot.setData([[this.from, this.to], ...this.units.map(() => [null, null])], false);
      // uPlot sees shares of the axis, which stay.
      if (hasNewScale) this.plot.redraw(false, true);
      this.plot.setScale('x', { min: this.from, max: this.to });
    });
  }

  /** Fits a scale to the lines; returns whether it is another one. */
  private rescale(unit: string): boolean {
    const [low, high] = this.rangeOf(unit);
    const before = this.scaleOn(unit);
    const { isLogarithmic } = this;
    if (before.low === low && before.high === high && before.isLogarithmic === isLogarithmic) return false;
    this.scales.set(unit, new ValueScale(low, high, isLogarithmic));
    return true;
  }

  private scaleOn(unit: string): ValueScale {
    return this.scales.get(unit) ?? new ValueScale(0, 1);
  }

  private get isLogarithmic(): boolean {
    return this.content.axis?.isLogarithmic === true && !this.content.isStacked;
  }

  /** Returns the range of an axis: as chosen, and otherwise by the values. */
  private rangeOf(unit: string): [number, number] {
    const { isLogarithmic } = this;
    const values = this.extremes(unit);
    const found = isLogarithmic ? decades(...values) : (this.ranges.get(unit)?.fit(...values) ?? [0, 1]);
    if (this.content.isStacked) return [0, 100];
    return unit === this.units[0] ? withEnds(found, this.content.axis, isLogarithmic) : found;
  }

  private extremes(unit: string): [number, number] {
    const { isLogarithmic } = this;
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (const lines of [this.lines, this.ghosts]) {
      lines.forEach((line, index) => {
        if (scaleOf(this.content.styles[index]) !== unit || !this.content.isShown(index)) return;
        for (let column = 0; column < line.columns.count; column++) {
          const high = line.high(column);
          const low = line.low(column);
          if (high > max) max = high;
          if (low < min && (low > 0 || !isLogarithmic)) min = low;
          else if (isLogarithmic && high > 0 && high < min) min = high;
        }
      });
    }
    return [min, max];
  }

  private options(element: HTMLElement): uPlot.Options {
    const base = plotOptions(element, this.palette, this.events, () => this.paint());
    return {
      ...base,
      padding: [8, this.units.length > 1 ? 0 : 14, 0, 0],
      scales: { ...base.scales, ...Object.fromEntries(this.units.map((unit) => [unit, SHARES])) },
      series: [
        {},
        ...this.units.map((unit) => ({ scale: unit, paths: () => null, points: { show: false } })),
      ],
      axes: [
        ...(base.axes ?? []),
        ...this.units.slice(0, 2).map((unit, index) => this.axis(unit, index === 0)),
      ],
    };
  }

  /** The first unit has its axis on the left, the second on the right; further ones have none. */
  private axis(unit: string, isFirst: boolean): uPlot.Axis {
    const { palette } = this;
    const own = this.content.isStacked ? { unit: PERCENT, isCounter: false } : this.styleOf(unit);
    const look = own ?? { unit: undefined, isCounter: false };
    const axis = valueAxis(
      { key: unit, space: 3.2 * palette.size, look, scale: () => this.scaleOn(unit) },
      palette,
    );
    return {
      ...axis,
      side: isFirst ? 3 : 1,
      size: (_, labels) => Math.max(44, axisWidth(labels, palette, 0)),
      gap: 6,
      ...(!isFirst && { grid: { show: false } }),
    };
  }

  private styleOf(scale: string): LineStyle | undefined {
    return this.content.styles.find((candidate) => scaleOf(candidate) === scale);
  }

  private paint(): void {
    const start = performance.now();
    this.paintAll();
    this.fineness.drew(performance.now() - start);
  }

  private paintAll(): void {
    const { ctx, bbox } = this.plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineJoin = 'bevel';
    const base = this.plotFor(this.units[0] ?? 'x');
    if (this.alarms.length > 0) drawAlarms(ctx, base, this.alarms, this.palette);
    drawGaps(ctx, base, this.gaps(), this.palette);
    this.paintLines(this.ghosts, this.ghostShift, true);
    this.paintLines(this.lines, 0, false);
    drawLimits(ctx, base, this.content.limits, this.palette);
    for (const unit of this.units) {
      const limits = this.limitsOn(unit);
      if (limits.length > 0) drawRuleLimits(ctx, this.plotFor(unit), limits, this.palette);
    }
    drawAnnotations(ctx, base, this.annotations, this.palette);
    drawMarkers(ctx, base, this.markers, this.alarms, this.palette);
    ctx.restore();
  }

  /** The limits of rules on an axis, in its unit. */
  private limitsOn(scale: string): RuleLimit[] {
    const { unit, nativeUnit = unit, conversion } = this.styleOf(scale) ?? { unit: undefined };
    const found = this.ruleLimits.filter((limit) => limit.unit === nativeUnit);
    return conversion ? found.map((limit) => ({ ...limit, value: convert(limit.value, conversion) })) : found;
  }

  private paintLines(lines: readonly Line[], shift: number, isGhost: boolean): void {
    const { ctx } = this.plot;
    const width = Math.max(1, Math.round(devicePixelRatio));
    ctx.lineWidth = width * 1.25;
    for (let index = lines.length - 1; index >= 0; index--) {
      if (!this.content.isShown(index)) continue;
      const style = this.content.styles[index];
      const color = this.palette.series[style.color % this.palette.series.length];
      const plot = this.plotFor(this.content.isStacked ? PERCENT : scaleOf(style), shift);
      if (this.content.isStacked) {
        ctx.fillStyle = color;
        ctx.globalAlpha = 0.75;
        fillArea(ctx, lines[index], plot);
        ctx.globalAlpha = 1;
        continue;
      }
      ctx.strokeStyle = color;
      ctx.globalAlpha = isGhost ? 0.4 : 1;
      ctx.setLineDash(isGhost ? [4, 3] : []);
      ctx.fillStyle = color;
      drawLine(ctx, lines[index], plot, width, style.isStep && !style.isCounter);
      ctx.font = canvasFont(this.palette);
      drawInfinities(ctx, lines[index], plot, width);
      ctx.globalAlpha = 1;
      ctx.setLineDash([]);
    }
  }

  /** Returns the linear mapping from values to pixels; `shift` is added to times. */
  private plotFor(scale: string, shift = 0): Plot {
    const { left, top, width, height } = this.plot.bbox;
    const { from, to } = this;
    const values = this.scaleOn(scale);
    const perMs = width / (to - from || 1);
    return {
      left,
      top,
      width,
      height,
      x: (time) => left + (time + shift - from) * perMs,
      y: (value) => top + height - values.share(value) * height,
    };
  }
}

/** Returns the axis of a line: lines of one unit share one, and rates of counters have another unit than the counters. */
function scaleOf(style: LineStyle): string {
  return `${style.unit ?? ''}${style.isCounter ? '/s' : ''}|`;
}
