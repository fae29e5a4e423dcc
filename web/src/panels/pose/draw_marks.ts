import type { Palette } from '../../charts/palette.ts';
import { toView, type UpAxis, type Vector } from './frame.ts';
import type { PoseProjection } from './pose_camera.ts';
import { axisColors, type BodyMark } from './pose_drawing.ts';

/** Marks above the drawing, in the local frame. */
export interface PoseMarks {
  readonly bodies: readonly BodyMark[];
  /** Places at the time under the pointer. */
  readonly pointed: readonly Vector[];
  readonly up: UpAxis;
  /** Whether bodies have their names: there are several. */
  readonly isNamed: boolean;
  /** Words for the grid. */
  readonly ground: string;
}

type Point = readonly [x: number, y: number];

const CORNERS = 16;
const BODY_RADIUS = 4;
const POINTED_RADIUS = 7;
/** The axes of the data in the lower left corner, in pixels. */
const CORNER_SIZE = 26;
const CORNER_MARGIN = 42;
const LABEL_MARGIN = 4;
const NAMES = ['x', 'y', 'z'];
const DIRECTIONS: readonly Vector[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

/** Draws bodies, their names, the places under the pointer, and which way the axes of the data point. */
export function drawMarks(
  ctx: CanvasRenderingContext2D,
  projection: PoseProjection,
  [width, height]: readonly [number, number],
  { bodies, pointed, up, isNamed, ground }: PoseMarks,
  palette: Palette,
): void {
  ctx.lineWidth = 1.5;
  for (const { place, color, name } of bodies) {
    const at = projection.pixel(place);
    if (!at) continue;
    ctx.fillStyle = color;
    disk(ctx, at, BODY_RADIUS, true);
    if (isNamed) label(ctx, name, [at[0], at[1] - 16], palette.text, palette);
  }
  ctx.strokeStyle = palette.text;
  for (const place of pointed) {
    const at = projection.pixel(place);
    if (at) disk(ctx, at, POINTED_RADIUS, false);
  }
  if (ground !== '') {
    ctx.font = palette.font;
    const half = ctx.measureText(ground).width / 2 + 2 * LABEL_MARGIN;
    label(ctx, ground, [width - half, height - palette.size], palette.muted, palette);
  }
  drawCorner(ctx, projection, [CORNER_MARGIN, height - CORNER_MARGIN], up, palette);
}

/** The axes, the farthest first. */
function drawCorner(
  ctx: CanvasRenderingContext2D,
  projection: PoseProjection,
  [left, top]: Point,
  up: UpAxis,
  palette: Palette,
): void {
  const axes = DIRECTIONS.map((axis, index) => {
    const [right, down, toward] = projection.direction(toView(up, axis));
    return { right, down, toward, index };
  }).sort((one, other) => one.toward - other.toward);
  for (const { right, down, index } of axes) {
    ctx.strokeStyle = axisColors[index];
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(left, top);
    ctx.lineTo(left + right * CORNER_SIZE, top + down * CORNER_SIZE);
    ctx.stroke();
    const room = CORNER_SIZE + palette.size * 0.7;
    label(ctx, NAMES[index], [left + right * room, top + down * room], palette.text, palette);
  }
}

/** A text in the middle of a place, on a ground of its own. */
function label(
  ctx: CanvasRenderingContext2D,
  text: string,
  [x, y]: Point,
  color: string,
  palette: Palette,
): void {
  ctx.font = palette.font;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  const width = ctx.measureText(text).width + 2 * LABEL_MARGIN;
  ctx.globalAlpha = 0.7;
  ctx.fillStyle = palette.panel;
  ctx.fillRect(x - width / 2, y - palette.size * 0.6, width, palette.size * 1.2);
  ctx.globalAlpha = 1;
  ctx.fillStyle = color;
  ctx.fillText(text, x, y);
}

function disk(ctx: CanvasRenderingContext2D, [x, y]: Point, radius: number, isFull: boolean): void {
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
