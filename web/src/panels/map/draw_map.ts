import type { Palette } from '../../charts/palette.ts';
import { pointAt } from '../../series/point_at.ts';
import type { Track } from '../../series/track.ts';
import { ValueScale } from '../../series/value_scale.ts';
import { graticule, scaleBar } from './graticule.ts';
import { type MapView, project, turnsOf } from './projection.ts';
import type { Shape } from './shapes.ts';

/** A track as it is drawn. */
export interface DrawnTrack {
  readonly track: Track;
  readonly name: string;
  /** Color of its mark, and colors of time or of its values, least first. */
  readonly color: string;
  readonly colors: readonly string[];
}

export interface Drawing {
  readonly tracks: readonly DrawnTrack[];
  readonly shapes: readonly Shape[];
  /** Times that are drawn. */
  readonly times: readonly [from: number, to: number];
  /** Values that the colors stand for; undefined if they stand for time. */
  readonly values: readonly [low: number, high: number] | undefined;
  /** The time under the pointer of any chart. */
  readonly cursor: number | undefined;
  /** Whether pictures of the ground lie below. */
  readonly hasTiles: boolean;
}

type Point = readonly [x: number, y: number];

const LABEL_MARGIN = 4;
const BAR_PIXELS = 110;
const CORNERS = 16;

/** Draws a map in CSS pixels; the context is scaled to them. */
export function drawMap(
  ctx: CanvasRenderingContext2D,
  view: MapView,
  [width, height]: readonly [number, number],
  drawing: Drawing,
  palette: Palette,
): void {
  const pen = new Pen(ctx, view, width, height, palette);
  if (!drawing.hasTiles) pen.ground();
  const labels = pen.grid();
  for (const shape of drawing.shapes) pen.shape(shape);
  for (const drawn of drawing.tracks) pen.track(drawn, drawing);
  for (const drawn of drawing.tracks) pen.marks(drawn, drawing);
  pen.labels(labels);
  pen.bar();
}

/** Returns the place of a map's place on the drawing, in pixels. */
export function pixelOf(view: MapView, width: number, height: number, [x, y]: Point): Point {
  return [width / 2 + (x - view.x) * view.scale, height / 2 - (y - view.y) * view.scale];
}

/** The last place at or before a time; -1 without one. */
export function placeAt({ times }: Track, time: number | undefined): number {
  if (time === undefined) return times.length - 1;
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

class Pen {
  constructor(
    private readonly ctx: CanvasRenderingContext2D,
    private readonly view: MapView,
    private readonly width: number,
    private readonly height: number,
    private readonly palette: Palette,
  ) {
    ctx.lineJoin = 'round';
    ctx.lineCap = 'butt';
  }

  ground(): void {
    this.ctx.fillStyle = this.palette.panel;
    this.ctx.fillRect(0, 0, this.width, this.height);
  }

  /** Draws the lines of the graticule and returns them, so that their names can stand above everything. */
  grid(): ReturnType<typeof graticule> {
    const lines = graticule(this.view, this.width, this.height);
    const { ctx } = this;
    ctx.strokeStyle = this.palette.grid;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const { points } of lines)
      points.forEach(([x, y], index) => {
        if (index === 0) ctx.moveTo(x, y);
        else ctx.lineTo(x, y);
      });
    ctx.stroke();
    return lines;
  }

  labels(lines: ReturnType<typeof graticule>): void {
    const { ctx, width, height, palette } = this;
    const isPolar = this.view.kind !== 'mercator';
    for (const { label, at, isMeridian } of lines) {
      const [x, y] = at;
      if (!(x >= -1 && x <= width + 1 && y >= -1 && y <= height + 1)) continue;
      const half = ctx.measureText(label).width / 2;
      // In the lower right corner is the bar.
      if (isMeridian && !isPolar && x > width - BAR_PIXELS - 40) continue;
      // In the lower left corner meridians have theirs.
      if (!isMeridian && !isPolar && y > height - 2 * palette.size) continue;
      const across = isMeridian || isPolar ? Math.min(width - half - 4, Math.max(half + 4, x)) : half + 6;
      const down = isMeridian && !isPolar ? height - palette.size : Math.min(height - 8, Math.max(8, y));
      this.text(label, across, down, palette.muted);
    }
  }

  /** A round length. */
  bar(): void {
    const { ctx, width, height, palette } = this;
    const { pixels, label } = scaleBar(this.view, BAR_PIXELS);
    const [right, bottom] = [width - 12, height - 10];
    ctx.strokeStyle = palette.text;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(right - pixels, bottom - 5);
    ctx.lineTo(right - pixels, bottom);
    ctx.lineTo(right, bottom);
    ctx.lineTo(right, bottom - 5);
    ctx.stroke();
    this.text(label, right - pixels / 2, bottom - 6 - palette.size / 2, palette.text);
  }

  shape({ kind, lines, name }: Shape): void {
    const { ctx, palette } = this;
    const projected = lines.map((line) =>
      Array.from({ length: line.length / 2 }, (_, index) =>
        project(this.view, [line[2 * index], line[2 * index + 1]]),
      ),
    );
    ctx.strokeStyle = ctx.fillStyle = palette.info;
    ctx.lineWidth = 1.25;
    for (const turn of this.turnsFor(projected.flat())) {
      const placed = projected.map((line) => line.map((point) => this.place(point, turn)));
      if (kind === 'point') this.disk(placed[0][0], 3, true);
      else {
        ctx.beginPath();
        for (const line of placed) this.path(line);
        ctx.stroke();
        if (kind === 'area') this.filled();
      }
      const [x, y] = kind === 'line' ? placed[0][placed[0].length >> 1] : middleOf(placed[0]);
      if (name !== undefined && this.isInside([x, y]))
        this.text(name, x, kind === 'point' ? y - 10 : y, palette.info);
    }
  }

  track({ track, colors }: DrawnTrack, { times: [from, to], values }: Drawing): void {
    const { ctx } = this;
    const points = this.projected(track);
    const { times, breaks } = track;
    const [low, high] = values ?? [from, to];
    const scale = new ValueScale(low, high);
    const colorAt = (index: number) => {
      const value = values ? track.colors[index] : times[index];
      if (Number.isNaN(value)) return this.palette.muted;
      const share = high > low ? scale.share(value) : 1;
      return colors[Math.min(colors.length - 1, Math.max(0, Math.floor(share * colors.length)))];
    };
    const first = Math.max(0, placeAt(track, from));
    ctx.lineWidth = 2;
    for (const turn of this.turnsFor(points)) {
      let color = '';
      for (let index = first; index < points.length; index++) {
        const at = this.place(points[index], turn);
        if (colorAt(index) !== color) {
          if (color !== '') ctx.stroke();
          color = colorAt(index);
          ctx.strokeStyle = ctx.fillStyle = color;
          ctx.beginPath();
          // The line continues in the next color.
          if (index > first) ctx.moveTo(...this.place(points[index - 1], turn));
        }
        if (breaks[index] === 1 || index === first) {
          // A place without a line to it is a dot.
          ctx.fillRect(at[0] - 1, at[1] - 1, 2, 2);
          ctx.moveTo(...at);
        } else ctx.lineTo(...at);
      }
      if (color !== '') ctx.stroke();
    }
  }

  /** The newest place, as an arrow if the heading is known, and the place under the pointer. */
  marks({ track, color, name }: DrawnTrack, { cursor, times: [from] }: Drawing): void {
    const newest = track.times.length - 1;
    if (newest < 0 || track.times[newest] < from) return;
    const { ctx, palette } = this;
    const points = this.projected(track);
    const wanted = cursor === undefined ? -1 : pointAt(track, cursor, track.isOver === true);
    for (const turn of this.turnsFor(points)) {
      ctx.strokeStyle = palette.panel;
      ctx.fillStyle = color;
      const at = this.place(points[newest], turn);
      const angle = this.angleOf(track, newest);
      if (angle === undefined) this.disk(at, 5, true);
      else this.arrow(at, angle);
      if (this.isInside(at)) this.text(name, at[0], at[1] - 16, palette.text);
      if (wanted < 0) continue;
      ctx.strokeStyle = palette.text;
      ctx.lineWidth = 1.5;
      this.disk(this.place(points[wanted], turn), 7, false);
    }
  }

  /** Angle of a heading on the drawing, clockwise from above: north is not above everywhere. */
  private angleOf(track: Track, index: number): number | undefined {
    const heading = track.headings[index];
    if (Number.isNaN(heading)) return undefined;
    const [longitude, latitude] = [track.longitudes[index], track.latitudes[index]];
    const step = latitude > 89 ? -1e-4 : 1e-4;
    const [fromX, fromY] = project(this.view, [longitude, latitude]);
    const [toX, toY] = project(this.view, [longitude, latitude + step]);
    const north = Math.atan2((toX - fromX) * Math.sign(step), (toY - fromY) * Math.sign(step));
    return north + (heading * Math.PI) / 180;
  }

  private projected({ longitudes, latitudes }: Track): Point[] {
    return Array.from(longitudes, (longitude, index) => project(this.view, [longitude, latitudes[index]]));
  }

  private turnsFor(points: readonly Point[]): number[] {
    let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const [x] of points) {
      if (x < left) left = x;
      if (x > right) right = x;
    }
    return points.length === 0 ? [] : turnsOf(this.view, this.width + 40, [left, right]);
  }

  private place([x, y]: Point, turn: number): [number, number] {
    const [across, down] = pixelOf(this.view, this.width, this.height, [x + turn * 2 * Math.PI, y]);
    // Canvases and SVG do not draw places that are very far away.
    return [bounded(across), bounded(down)];
  }

  private path(line: readonly Point[]): void {
    line.forEach((point, index) => {
      if (index === 0) this.ctx.moveTo(...point);
      else this.ctx.lineTo(...point);
    });
  }

  private filled(): void {
    const { ctx } = this;
    ctx.globalAlpha = 0.12;
    ctx.fill('evenodd');
    ctx.globalAlpha = 1;
  }

  private disk([x, y]: Point, radius: number, isFull: boolean): void {
    const { ctx } = this;
    ctx.beginPath();
    // Corners instead of an arc: pictures record lines.
    for (let corner = 0; corner <= CORNERS; corner++) {
      const angle = (2 * Math.PI * corner) / CORNERS;
      const at = [x + radius * Math.cos(angle), y + radius * Math.sin(angle)] as const;
      if (corner === 0) ctx.moveTo(...at);
      else ctx.lineTo(...at);
    }
    if (isFull) ctx.fill();
    else ctx.stroke();
  }

  private arrow([x, y]: Point, angle: number): void {
    const { ctx } = this;
    const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
    ctx.beginPath();
    for (const [index, [right, up]] of ARROW.entries()) {
      const at = [x + right * cos + up * sin, y + right * sin - up * cos] as const;
      if (index === 0) ctx.moveTo(...at);
      else ctx.lineTo(...at);
    }
    ctx.closePath();
    ctx.fill();
    ctx.lineWidth = 1;
    ctx.stroke();
  }

  private isInside([x, y]: Point): boolean {
    return x > 0 && y > 0 && x < this.width && y < this.height;
  }

  /** A text that can be read over lines. */
  private text(text: string, x: number, y: number, color: string): void {
    const { ctx, palette } = this;
    ctx.font = palette.font;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    const half = ctx.measureText(text).width / 2 + LABEL_MARGIN;
    ctx.fillStyle = palette.panel;
    ctx.globalAlpha = 0.7;
    ctx.fillRect(x - half, y - palette.size * 0.65, 2 * half, palette.size * 1.3);
    ctx.globalAlpha = 1;
    ctx.fillStyle = color;
    ctx.fillText(text, x, y);
  }
}

/** An arrow upward, around its middle. */
const ARROW: readonly Point[] = [
  [0, 11],
  [7, -7],
  [0, -3],
  [-7, -7],
];

const FAR = 1e5;

function bounded(pixel: number): number {
  return Math.min(FAR, Math.max(-FAR, pixel));
}

function middleOf(points: readonly Point[]): Point {
  const sum = points.reduce<Point>(([x, y], [right, down]) => [x + right, y + down], [0, 0]);
  return [sum[0] / points.length, sum[1] / points.length];
}
