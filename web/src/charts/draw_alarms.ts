import { SEVERITIES, type Severity } from '../alarms/alarm.ts';
import type { AlarmSpan, RuleLimit } from '../alarms/spans.ts';
import { visible } from '../text/visible.ts';
import type { Plot } from './draw_lines.ts';
import { unionOf } from './draw_notes.ts';
import { canvasFont, type Palette } from './palette.ts';

/** What a shade needs: it has no axis of values. */
type Area = Omit<Plot, 'y'>;

/** Active; active before and now unknown; not active before and now unknown; active, but put aside by an operator. */
const LOOKS = ['active', 'unknown', 'unsure', 'aside'] as const;
type Look = (typeof LOOKS)[number];

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

interface Group {
  readonly severity: Severity;
  readonly look: Look;
  readonly spans: PixelSpan[];
}

type PixelSpan = [left: number, right: number];

/**
 * Shades the times when an alarm was active, and hatches unknown ones. Each moment has the color of its worst
 * severity: several layers would hide the chart.
 */
export function drawAlarms(
  ctx: CanvasRenderingContext2D,
  area: Area,
  spans: readonly AlarmSpan[],
  palette: Palette,
): void {
  let filled: readonly PixelSpan[] = [];
  let hatched: readonly PixelSpan[] = [];
  for (const { severity, look, spans: found } of groupsOf(area, spans)) {
    const color = colorOf(severity, palette);
    const own = unionOf(found);
    if (look !== 'unsure') {
      for (const span of minus(own, filled)) fill(ctx, area, span, color, look);
      filled = unionOf([...filled, ...own]);
    }
    if (look === 'unknown' || look === 'unsure') {
      for (const span of minus(own, hatched)) hatch(ctx, area, span, color, look);
      hatched = unionOf([...hatched, ...own]);
    }
  }
  ctx.globalAlpha = 1;
}

/** What an operator has put aside comes last, and before that the worst severity first. */
function groupsOf(area: Area, spans: readonly AlarmSpan[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { from, to, severity, isKnown, isActive, isAside } of spans) {
    const look = lookOf(isActive, isKnown, isAside === true);
    const group = groups.get(`${severity} ${look}`) ?? { severity, look, spans: [] };
    groups.set(`${severity} ${look}`, group);
    const left = Math.max(area.left, area.x(from));
    const right = Math.min(
      area.left + area.width,
      Math.max(area.x(to), area.x(from) + MIN_WIDTH * devicePixelRatio),
    );
    if (right > left) group.spans.push([left, right]);
  }
  return [...groups.values()].sort(
    (one, other) =>
      Number(one.look === 'aside') - Number(other.look === 'aside') ||
      SEVERITIES.indexOf(other.severity) - SEVERITIES.indexOf(one.severity) ||
      LOOKS.indexOf(one.look) - LOOKS.indexOf(other.look),
  );
}

/** Returns the parts of spans that others, sorted and apart, do not cover. */
export function minus(spans: readonly PixelSpan[], others: readonly PixelSpan[]): PixelSpan[] {
  return spans.flatMap(([from, to]) => {
    const rest: PixelSpan[] = [];
    let left = from;
    for (const [start, end] of others) {
      if (end <= left || start >= to) continue;
      if (start > left) rest.push([left, start]);
      left = Math.max(left, end);
    }
    if (left < to) rest.push([left, to]);
    return rest;
  });
}

function fill(
  ctx: CanvasRenderingContext2D,
  area: Area,
  [left, right]: PixelSpan,
  color: string,
  look: Look,
): void {
  const bar = BAR * devicePixelRatio;
  ctx.fillStyle = color;
  if (look === 'aside') {
    ctx.globalAlpha = 0.5;
    ctx.fillRect(left, area.top, right - left, bar / 2);
    return;
  }
  ctx.globalAlpha = look === 'active' ? 0.05 : 0.025;
  ctx.fillRect(left, area.top, right - left, area.height);
  ctx.globalAlpha = look === 'active' ? 0.9 : 0.4;
  ctx.fillRect(left, area.top, right - left, bar);
}

function hatch(
  ctx: CanvasRenderingContext2D,
  area: Area,
  [left, right]: PixelSpan,
  color: string,
  look: Look,
): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, area.top, right - left, area.height);
  ctx.clip();
  ctx.globalAlpha = look === 'unknown' ? 0.22 : 0.14;
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  // Falls from left to right: the hatching of gaps rises.
  const step = HATCH_STEP * devicePixelRatio;
  for (let x = Math.floor((left - area.height) / step) * step; x < right; x += step) {
    ctx.moveTo(x, area.top);
    ctx.lineTo(x + area.height, area.top + area.height);
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
  ctx.font = canvasFont(palette);
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
    ctx.fillText(visible(name), plot.left + plot.width - 4 * devicePixelRatio, y);
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
