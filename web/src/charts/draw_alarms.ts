import { SEVERITIES, type Severity } from '../alarms/alarm.ts';
import type { AlarmSpan } from '../alarms/spans.ts';
import type { Plot } from './draw_lines.ts';
import { unionOf } from './draw_notes.ts';
import type { Palette } from './palette.ts';

/** What a shade needs: it has no axis of values. */
type Area = Omit<Plot, 'y'>;

/** The constant limit of a rule, on the axis of its unit. */
export interface RuleLimit {
  readonly value: number;
  readonly unit: string | undefined;
  readonly severity: Severity;
  readonly rule: string;
  /** The metric that it limits; undefined if that is not known. */
  readonly metric?: string | undefined;
}

/** Active; active before and now unknown; not active before and now unknown; active, but put aside by an operator. */
type Look = 'active' | 'unknown' | 'unsure' | 'aside';

function lookOf(isActive: boolean, isKnown: boolean, isAside: boolean): Look {
  if (!isActive) return 'unsure';
  if (isAside) return 'aside';
  return isKnown ? 'active' : 'unknown';
}

/** Height of the bar at the top of a span in pixels. */
const BAR = 4;
const MIN_WIDTH = 2;
const HATCH_STEP = 6;
const MAX_NAME = 32;

/** Shades the times when an alarm was active, one color for each severity, and hatches those when nobody knew. */
export function drawAlarms(
  ctx: CanvasRenderingContext2D,
  plot: Area,
  spans: readonly AlarmSpan[],
  palette: Palette,
): void {
  const groups = new Map<string, { color: string; look: Look; spans: [number, number][] }>();
  for (const { from, to, severity, isKnown, isActive, isAside } of spans) {
    const color = colorOf(severity, palette);
    const look = lookOf(isActive, isKnown, isAside === true);
    const group = groups.get(`${color} ${look}`) ?? { color, look, spans: [] };
    groups.set(`${color} ${look}`, group);
    const left = Math.max(plot.left, plot.x(from));
    const right = Math.min(
      plot.left + plot.width,
      Math.max(plot.x(to), plot.x(from) + MIN_WIDTH * devicePixelRatio),
    );
    if (right > left) group.spans.push([left, right]);
  }
  // Overlapping spans of one color are one: drawn over each other they would hide the chart.
  for (const { color, look, spans: found } of groups.values()) {
    for (const [left, right] of unionOf(found)) drawSpan(ctx, plot, left, right, color, look);
  }
  ctx.globalAlpha = 1;
}

function drawSpan(
  ctx: CanvasRenderingContext2D,
  plot: Area,
  left: number,
  right: number,
  color: string,
  look: Look,
): void {
  const bar = BAR * devicePixelRatio;
  ctx.fillStyle = color;
  if (look === 'aside') {
    ctx.globalAlpha = 0.5;
    ctx.fillRect(left, plot.top, right - left, bar / 2);
    return;
  }
  if (look !== 'unsure') {
    ctx.globalAlpha = look === 'active' ? 0.05 : 0.025;
    ctx.fillRect(left, plot.top, right - left, plot.height);
    ctx.globalAlpha = look === 'active' ? 0.9 : 0.4;
    ctx.fillRect(left, plot.top, right - left, bar);
  }
  if (look === 'active') return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, plot.top, right - left, plot.height);
  ctx.clip();
  ctx.globalAlpha = look === 'unknown' ? 0.22 : 0.14;
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  // Falls from left to right: the hatching of gaps rises.
  const step = HATCH_STEP * devicePixelRatio;
  for (let x = Math.floor((left - plot.height) / step) * step; x < right; x += step) {
    ctx.moveTo(x, plot.top);
    ctx.lineTo(x + plot.height, plot.top + plot.height);
  }
  ctx.stroke();
  ctx.restore();
}

/** Draws the limits of rules, the worst first, with those names that do not lie on another one. */
export function drawRuleLimits(
  ctx: CanvasRenderingContext2D,
  plot: Plot,
  limits: readonly RuleLimit[],
  palette: Palette,
): void {
  const named: number[] = [];
  ctx.lineWidth = devicePixelRatio;
  ctx.font = palette.font.replace(/^\d+/, (size) => String(Number(size) * devicePixelRatio));
  ctx.textAlign = 'right';
  for (const { y, severity, rule } of inPlot(plot, limits)) {
    if (named.includes(y)) continue;
    ctx.strokeStyle = colorOf(severity, palette);
    ctx.fillStyle = ctx.strokeStyle;
    ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(plot.left, y);
    ctx.lineTo(plot.left + plot.width, y);
    ctx.stroke();
    ctx.setLineDash([]);
    if (named.some((other) => Math.abs(other - y) < palette.size * devicePixelRatio)) continue;
    named.push(y);
    ctx.textBaseline = y < plot.top + 20 * devicePixelRatio ? 'top' : 'bottom';
    const name = rule.length > MAX_NAME ? `${rule.slice(0, MAX_NAME)}\u2026` : rule;
    ctx.fillText(name, plot.left + plot.width - 4 * devicePixelRatio, y);
  }
}

function inPlot(plot: Plot, limits: readonly RuleLimit[]): (RuleLimit & { readonly y: number })[] {
  return limits
    .map((limit) => ({ ...limit, y: plot.y(limit.value) }))
    .filter(({ y }) => y >= plot.top && y <= plot.top + plot.height)
    .sort((one, other) => SEVERITIES.indexOf(other.severity) - SEVERITIES.indexOf(one.severity));
}

export function colorOf(severity: Severity, palette: Palette): string {
  if (severity === 'low') return palette.info;
  return severity === 'medium' ? palette.warn : palette.bad;
}
