import type { GapMark } from '../series/causes.ts';
import { severityOf } from '../series/causes.ts';
import type { Plot } from './draw_lines.ts';
import type { Palette } from './palette.ts';

/** A limit of a metric: values beyond it cause a warning or an alarm. */
export interface Limit {
  readonly value: number;
  readonly severity: 'warn' | 'alarm';
  /** The side that is colored. */
  readonly zone?: 'above' | 'below';
}

const MIN_GAP_WIDTH = 3;
const HATCH_STEP = 7;

/** Hatches spans without samples in the color of their severity. */
export function drawGaps(
  ctx: CanvasRenderingContext2D,
  plot: Plot,
  gaps: readonly GapMark[],
  palette: Palette,
): void {
  for (const gap of gaps) {
    const from = Math.max(plot.left, plot.x(gap.from));
    const least = plot.x(gap.from) + MIN_GAP_WIDTH * devicePixelRatio;
    const to = Math.min(plot.left + plot.width, Math.max(plot.x(gap.to), least));
    if (to <= from) continue;
    const color = colorOf(gap, palette);
    ctx.save();
    ctx.beginPath();
    ctx.rect(from, plot.top, to - from, plot.height);
    ctx.clip();
    ctx.fillStyle = color;
    ctx.globalAlpha = 0.1;
    ctx.fillRect(from, plot.top, to - from, plot.height);
    ctx.globalAlpha = 0.35;
    ctx.strokeStyle = color;
    ctx.lineWidth = 1;
    ctx.beginPath();
    const bottom = plot.top + plot.height;
    const step = HATCH_STEP * devicePixelRatio;
    for (let x = Math.floor((from - plot.height) / step) * step; x < to; x += step) {
      ctx.moveTo(x, bottom);
      ctx.lineTo(x + plot.height, plot.top);
    }
    ctx.stroke();
    ctx.restore();
  }
}

function colorOf(gap: GapMark, palette: Palette): string {
  const severity = severityOf(gap.cause, gap.count);
  if (severity === 'unexplained') return palette.bad;
  return severity === 'loss' ? palette.warn : palette.muted;
}

export function drawLimits(
  ctx: CanvasRenderingContext2D,
  plot: Plot,
  limits: readonly Limit[],
  palette: Palette,
): void {
  const bottom = plot.top + plot.height;
  for (const { value, severity, zone } of limits) {
    const y = plot.y(value);
    ctx.strokeStyle = ctx.fillStyle = severity === 'alarm' ? palette.bad : palette.warn;
    if (zone) {
      const edge = Math.min(bottom, Math.max(plot.top, y));
      ctx.globalAlpha = 0.08;
      if (zone === 'above') ctx.fillRect(plot.left, plot.top, plot.width, edge - plot.top);
      else ctx.fillRect(plot.left, edge, plot.width, bottom - edge);
      ctx.globalAlpha = 1;
    }
    if (y < plot.top || y > bottom) continue;
    ctx.setLineDash([6, 4]);
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(plot.left, y);
    ctx.lineTo(plot.left + plot.width, y);
    ctx.stroke();
    ctx.setLineDash([]);
  }
}
