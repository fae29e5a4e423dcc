import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { drawGaps } from '../../charts/draw_marks.ts';
import type { Palette } from '../../charts/palette.ts';
import { type ChartEvents, plotOptions } from '../../charts/plot_options.ts';
import { recordSvg } from '../../charts/svg_recorder.ts';
import { axisWidth, SHARES, valueAxis } from '../../charts/value_axis.ts';
import type { GapMark } from '../../series/causes.ts';
import type { Spectrogram } from '../../series/spectrogram.ts';
import { ValueScale } from '../../series/value_scale.ts';

/** Decibels below the largest amplitude in which the colors end. */
export const DEPTH_DB = 80;

/** Frequencies over time: the color is the amplitude, in decibels below the largest one. */
export class SpectrogramChart {
  private readonly plot: uPlot;
  private readonly image = document.createElement('canvas');
  private found: Spectrogram | undefined;
  private gaps: readonly GapMark[] = [];
  private range: readonly [number, number] = [0, 1];
  private frequencies = new ValueScale(0, 1);

  constructor(
    element: HTMLElement,
    private readonly palette: Palette,
    /** Colors of amplitudes, smallest first: `[red, green, blue]`. */
    private readonly colors: readonly (readonly number[])[],
    events: ChartEvents,
  ) {
    const base = plotOptions(element, palette, events, () => this.paint());
    this.plot = new uPlot(
      {
        ...base,
        padding: [8, 14, 0, 0],
        scales: { ...base.scales, y: SHARES },
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

  draw(found: Spectrogram | undefined, gaps: readonly GapMark[], range: readonly [number, number]): void {
    if (found !== this.found) this.render(found);
    [this.found, this.gaps, this.range] = [found, gaps, range];
    this.refresh();
  }

  /** Returns the drawing as SVG, for print at any size. */
  vector(): SVGSVGElement {
    return recordSvg(this.plot.ctx.canvas, this.palette.panel, () => this.refresh());
  }

  destroy(): void {
    this.plot.destroy();
  }

  private refresh(): void {
    const { rows = 1, step = 1 } = this.found ?? {};
    const [min, max] = this.range;
    const isNew = this.frequencies.high !== rows * step;
    if (isNew) this.frequencies = new ValueScale(0, rows * step);
    this.plot.batch(() => {
      this.plot.setData(
        [
          [min, max],
          [null, null],
        ],
        false,
      );
      if (isNew) this.plot.redraw(false, true);
      this.plot.setScale('x', { min, max });
    });
  }

  private axis(): uPlot.Axis {
    const { palette } = this;
    const look = { unit: 'Hz', isCounter: false };
    return {
      ...valueAxis({ key: 'y', space: 3.2 * palette.size, look, scale: () => this.frequencies }, palette),
      gap: 6,
      grid: { show: false },
      size: (_, labels) => axisWidth(labels, palette, 4),
    };
  }

  /** Makes an image of a pixel for each amplitude. */
  private render(found: Spectrogram | undefined): void {
    if (!found) return;
    const { amplitudes, rows, times } = found;
    this.image.width = times.length;
    this.image.height = rows;
    const ctx = this.image.getContext('2d');
    if (!ctx) return;
    const pixels = ctx.createImageData(times.length, rows);
    const largest = amplitudes.reduce((most, value) => (value > most ? value : most), 0);
    const last = this.colors.length - 1;
    for (let column = 0; column < times.length; column++) {
      for (let row = 0; row < rows; row++) {
        const amplitude = amplitudes[column * rows + row];
        // Without a segment the panel shows through, and the hatching.
        if (Number.isNaN(amplitude)) continue;
        const decibels = largest > 0 ? 20 * Math.log10(amplitude / largest) : -DEPTH_DB;
        const color = this.colors[Math.max(0, Math.round((1 + decibels / DEPTH_DB) * last))];
        const at = 4 * ((rows - 1 - row) * times.length + column);
        pixels.data.set([color[0], color[1], color[2], 255], at);
      }
    }
    ctx.putImageData(pixels, 0, 0);
  }

  private paint(): void {
    const { ctx, bbox } = this.plot;
    const { left, top, width, height } = bbox;
    const [from, to] = this.range;
    const x = (time: number) => left + ((time - from) / (to - from || 1)) * width;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    drawGaps(ctx, { left, top, width, height, x, y: () => top }, this.gaps, this.palette);
    if (this.found) {
      const { times } = this.found;
      // Columns have their times in their middle.
      const wide = times.length > 1 ? times[1] - times[0] : to - from;
      const [start, end] = [x(times[0] - wide / 2), x(times[times.length - 1] + wide / 2)];
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(this.image, start, top, end - start, height);
    }
    ctx.restore();
  }
}
