import type { Annotation } from '../state/annotations.ts';
import { strings } from '../strings/strings.ts';
import type { Plot } from './draw_lines.ts';
import { canvasFont, type Palette } from './palette.ts';

const MAX_NOTE_LENGTH = 40;
/** Minimum distance of two marks in pixels. */
const MIN_DISTANCE = 6;
/** Pixels needed for each mark to draw lines from top to bottom; more lines would hide the chart. */
const MARK_WIDTH = 40;
/** Height of a mark in pixels if there is no room for lines. */
const TICK = 10;

/** One mark for notes that are close together. */
export interface NoteMark {
  readonly x: number;
  readonly count: number;
  /** Text of the first note. */
  readonly text: string;
}

/** Merges notes that are too close to tell apart; they arrive in the order of time. */
export function marksOf(
  notes: readonly { readonly x: number; readonly text: string }[],
  near: number,
): NoteMark[] {
  const marks: { x: number; count: number; text: string }[] = [];
  for (const { x, text } of notes) {
    const last = marks.at(-1);
    if (last && x - last.x < near) last.count++;
    else marks.push({ x, count: 1, text });
  }
  return marks;
}

/** Merges overlapping spans: drawn over each other they would hide the chart. */
export function unionOf(spans: readonly (readonly [number, number])[]): [number, number][] {
  const union: [number, number][] = [];
  for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
    const last = union.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else union.push([from, to]);
  }
  return union;
}

/** Draws notes, and the spans of those that have one. */
export function drawAnnotations(
  ctx: CanvasRenderingContext2D,
  plot: Plot,
  annotations: readonly Annotation[],
  palette: Palette,
): void {
  ctx.fillStyle = palette.info;
  ctx.globalAlpha = 0.12;
  const spans = annotations.flatMap(({ time, until }) =>
    until === undefined ? [] : [[plot.x(time), plot.x(until)] as const],
  );
  for (const [from, to] of unionOf(spans)) ctx.fillRect(from, plot.top, to - from, plot.height);
  ctx.globalAlpha = 1;
  const right = plot.left + plot.width;
  const notes = annotations.map(({ time, text }) => ({ x: plot.x(time), text }));
  const seen = notes.filter(({ x }) => x >= plot.left && x <= right);
  const marks = marksOf(seen, MIN_DISTANCE * devicePixelRatio);
  const hasRoom = marks.length * MARK_WIDTH * devicePixelRatio <= plot.width;
  const tick = TICK * devicePixelRatio;
  drawMarks(ctx, plot, marks, hasRoom ? plot.height : tick, palette);
  drawTexts(ctx, plot, marks, plot.top + (hasRoom ? 4 : tick + 2), palette);
}

function drawMarks(
  ctx: CanvasRenderingContext2D,
  plot: Plot,
  marks: readonly NoteMark[],
  height: number,
  palette: Palette,
): void {
  ctx.strokeStyle = palette.info;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(height < plot.height ? [] : [3, 3]);
  ctx.beginPath();
  for (const { x } of marks) {
    ctx.moveTo(x, plot.top);
    ctx.lineTo(x, plot.top + height);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Draws the texts that fit beside each other. */
function drawTexts(
  ctx: CanvasRenderingContext2D,
  plot: Plot,
  marks: readonly NoteMark[],
  y: number,
  palette: Palette,
): void {
  ctx.fillStyle = palette.info;
  ctx.font = canvasFont(palette);
  ctx.textBaseline = 'top';
  let free = plot.left;
  for (const { x, count, text } of marks) {
    const short = text.length > MAX_NOTE_LENGTH ? `${text.slice(0, MAX_NOTE_LENGTH)}\u2026` : text;
    const note = count > 1 ? strings.notes.several(count) : short;
    const width = ctx.measureText(note).width;
    const isRight = x + width + 8 > plot.left + plot.width;
    const begin = isRight ? x - 4 - width : x + 4;
    if (begin < free) continue;
    ctx.textAlign = isRight ? 'right' : 'left';
    ctx.fillText(note, x + (isRight ? -4 : 4), y);
    free = begin + width + 8;
  }
}
