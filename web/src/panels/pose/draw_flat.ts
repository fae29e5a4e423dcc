import type { Vector } from './frame.ts';
import type { PoseProjection } from './pose_camera.ts';
import type { PoseModel } from './pose_renderer.ts';
import type { Segments } from './segments.ts';

const AXIS_LENGTH = 0.12;

/** Draws the lines of a model on a canvas, as the graphics processor does: for pictures of the panel. */
export function drawFlat(ctx: CanvasRenderingContext2D, projection: PoseProjection, model: PoseModel): void {
  drawSegments(ctx, projection, model.ground, 1);
  for (const trail of model.trails) drawSegments(ctx, projection, trail, 2);
  const length = projection.distance * AXIS_LENGTH;
  for (const { place, axes } of model.bodies)
    drawSegments(ctx, projection, axes, 4, (end) => end.map((value, axis) => place[axis] + length * value));
}

function drawSegments(
  ctx: CanvasRenderingContext2D,
  projection: PoseProjection,
  { lines, lineColors, dots, dotColors }: Segments,
  width: number,
  move: (end: readonly number[]) => readonly number[] = (end) => end,
): void {
  const pixelAt = (places: Float32Array, at: number) =>
    projection.pixel(move([...places.subarray(at, at + 3)]) as Vector);
  ctx.lineWidth = width;
  let color = '';
  for (let at = 0; at < lines.length; at += 6) {
    const next = colorAt(lineColors, at + 3);
    if (next !== color) {
      if (color !== '') ctx.stroke();
      color = next;
      ctx.strokeStyle = color;
      ctx.beginPath();
    }
    const [start, end] = [pixelAt(lines, at), pixelAt(lines, at + 3)];
    if (!start || !end) continue;
    ctx.moveTo(...start);
    ctx.lineTo(...end);
  }
  if (color !== '') ctx.stroke();
  for (let at = 0; at < dots.length; at += 3) {
    const place = pixelAt(dots, at);
    ctx.fillStyle = colorAt(dotColors, at);
    if (place) ctx.fillRect(place[0] - 2, place[1] - 2, 4, 4);
  }
}

function colorAt(colors: Float32Array, at: number): string {
  return `rgb(${[0, 1, 2].map((part) => Math.round(colors[at + part] * 255)).join(' ')})`;
}
