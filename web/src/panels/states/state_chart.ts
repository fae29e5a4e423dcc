import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { AlarmSpan } from '../../alarms/spans.ts';
import { drawAlarms } from '../../charts/draw_alarms.ts';
import { drawGaps } from '../../charts/draw_marks.ts';
import { canvasFont, type Palette } from '../../charts/palette.ts';
import { type ChartEvents, plotOptions } from '../../charts/plot_options.ts';
import { recordSvg } from '../../charts/svg_recorder.ts';
import type { StateRun } from '../../series/states.ts';
import { gapAt } from '../../stream/gap_at.ts';
import type { ViewResult } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { visible } from '../../text/visible.ts';

/** Text and color of a run. */
export interface StateLook {
  readonly text: string;
  readonly color: string;
}

const GUTTER = 14;
/** Maximum height of a track with its name, in pixels. */
const MAX_TRACK_HEIGHT = 64;

/** A state timeline: a bar for each metric, a color for each state. */
export class StateChart {
  private readonly plot: uPlot;
  private result: ViewResult | undefined;
  private alarms: readonly AlarmSpan[] = [];

  constructor(
    element: HTMLElement,
    private readonly labels: readonly string[],
    private readonly look: (track: number, value: string | number | boolean) => StateLook,
    private readonly palette: Palette,
    events: ChartEvents,
  ) {
    const options = plotOptions(element, palette, events, () => this.paint());
    this.plot = new uPlot({ ...options, padding: [4, 14, 0, GUTTER] }, [[0, 1]], element);
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
  }

  draw(result: ViewResult): void {
    this.result = result;
    this.plot.batch(() => {
      this.plot.setData([[result.from, result.to]], false);
      this.plot.setScale('x', { min: result.from, max: result.to });
    });
  }

  /** Shades times when alarms were active. */
  showAlarms(spans: readonly AlarmSpan[]): void {
    // A chart without alarms is not drawn again for them.
    if (this.alarms.length + spans.length === 0) return;
    this.alarms = spans;
    if (this.result) this.draw(this.result);
  }

  /** Returns the state of a track at a time, or at the end of the shown time; undefined in a gap that is over. */
  stateAt(track: number, time: number | undefined): StateLook | undefined {
    if (this.result?.answer.kind !== 'states') return undefined;
    const { runs = [], gaps = [] } = this.result.answer.tracks[track] ?? {};
    const at = time ?? this.result.to;
    const gap = gapAt(gaps, at);
    // While a gap lasts, the end of the shown time keeps the last state, as charts of numbers do.
    if (gap && !(gap.isLasting && time === undefined)) return undefined;
    const run = runs.findLast((candidate) => candidate.from <= at);
    return run && this.lookOf(track, run);
  }

  /** Returns the look of a run. A run of several states has a color of its own. */
  private lookOf(track: number, run: StateRun): StateLook {
    const look = this.look(track, run.value);
    return run.isMixed ? { text: strings.states.mixed(look.text), color: this.palette.muted } : look;
  }

  get canvas(): HTMLCanvasElement {
    return this.plot.ctx.canvas;
  }

  /** Returns the drawing as SVG, for print at any size. */
  vector(): SVGSVGElement {
    return recordSvg(this.canvas, this.palette.panel, () => this.result && this.draw(this.result));
  }

  destroy(): void {
    this.plot.destroy();
  }

  private paint(): void {
    if (this.result?.answer.kind !== 'states') return;
    const { ctx, bbox } = this.plot;
    const { from, to, answer } = this.result;
    const height = Math.min(
      MAX_TRACK_HEIGHT * devicePixelRatio,
      bbox.height / Math.max(1, this.labels.length),
    );
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = canvasFont(this.palette);
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    const x = (time: number) => bbox.left + ((time - from) / (to - from)) * bbox.width;
    drawAlarms(
      ctx,
      { left: bbox.left, top: bbox.top, width: bbox.width, height: bbox.height, x },
      this.alarms,
      this.palette,
    );
    answer.tracks.forEach((track, row) => {
      const top = bbox.top + row * height;
      const bar = { left: bbox.left, top: top + height * 0.38, width: bbox.width, height: height * 0.54 };
      drawGaps(ctx, { ...bar, x, y: () => bar.top }, track.gaps, this.palette);
      ctx.fillStyle = this.palette.muted;
      ctx.fillText(visible(this.labels[row]), bbox.left + 2, top + height * 0.2, bbox.width);
      for (const run of track.runs) {
        const left = Math.max(bbox.left, x(run.from));
        const right = Math.min(bbox.left + bbox.width, Math.max(x(run.to), x(run.from) + 2));
        this.paintRun(this.lookOf(row, run), left, right - left, top + height * 0.38, height * 0.54);
      }
    });
    ctx.restore();
  }

  private paintRun(look: StateLook, left: number, width: number, top: number, height: number): void {
    const { ctx } = this.plot;
    ctx.fillStyle = look.color;
    ctx.globalAlpha = 0.28;
    ctx.fillRect(left, top, width, height);
    ctx.globalAlpha = 1;
    ctx.fillRect(left, top, Math.min(width, 3 * devicePixelRatio), height);
    if (ctx.measureText(look.text).width + 12 < width) {
      ctx.fillStyle = this.palette.text;
      ctx.fillText(visible(look.text), left + 6 * devicePixelRatio, top + height / 2);
    }
  }
}
