import type uPlot from 'uplot';
import { formatCursor } from '../format/time.ts';
import { isViewOnly } from '../state/mode.ts';
import { noteSpan } from '../state/noted_span.ts';
import { cursorTime } from '../state/time.ts';
import { timeSplits, timeSteps, timeTicks, wholeLabels } from './axes.ts';
import type { Palette } from './palette.ts';

export interface ChartEvents {
  /** Reports the time under the pointer; undefined if it left. */
  pointed(time: number | undefined): void;
  /** Reports a time span that was drawn with the pointer. */
  selected(from: number, to: number): void;
  /** Reports a click without a drawn time span. */
  clicked?(time: number): void;
}

const SYNC = 'oasis';

/** Options that all time plots share: the time axis, a common pointer, and the selection of a time span. */
export function plotOptions(
  element: HTMLElement,
  palette: Palette,
  events: ChartEvents,
  paint: () => void,
): uPlot.Options {
  let stopFollowing: (() => void) | undefined;
  return {
    width: Math.max(50, element.clientWidth),
    height: Math.max(50, element.clientHeight),
    ms: 1,
    legend: { show: false },
    cursor: {
      points: { show: false },
      sync: { key: SYNC, scales: ['x', null] },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => null },
    },
    scales: { x: { time: true, auto: false } },
    series: [{}],
    axes: [
      {
        ...axisLook(palette),
        size: 15 + palette.size,
        gap: 4,
        space: 7.5 * palette.size,
        incrs: timeSteps(),
        splits: (_, __, min, max, step) => timeSplits(min, max, step),
        values: (plot, splits) => timeLabels(plot, splits, palette.size),
      },
    ],
    hooks: {
      drawAxes: [paint],
      init: [
        addCursorTime,
        (plot) => reportClicks(plot, events),
        (plot) => {
          stopFollowing = cursorTime.subscribe(() => followCursor(plot));
        },
      ],
      destroy: [() => stopFollowing?.()],
      setCursor: [(plot) => pointed(plot, events), followCursor, showCursorTime],
      setSelect: [(plot) => select(plot, events)],
    },
  };
}

function timeLabels(plot: uPlot, splits: readonly number[], fontSize: number): string[] {
  const left = plot.bbox.left / devicePixelRatio;
  const places = splits.map((time) => left + plot.valToPos(time, 'x'));
  return wholeLabels(timeTicks(splits), places, plot.width, fontSize);
}

export function axisLook(palette: Palette): uPlot.Axis {
  return {
    stroke: palette.muted,
    font: palette.font,
    grid: { stroke: palette.grid, width: 1 },
    ticks: { show: false },
  };
}

function pointed(plot: uPlot, events: ChartEvents): void {
  const { left = -1, event } = plot.cursor;
  // Only the chart under the pointer reports it; the others follow.
  if (isUnderPointer(plot)) events.pointed(plot.posToVal(left, 'x'));
  else if (event?.type === 'mouseleave' && left < 0 && cursorPlot === plot) events.pointed(undefined);
  if (isUnderPointer(plot)) cursorPlot = plot;
  else if (cursorPlot === plot) cursorPlot = undefined;
}

/** The chart that the pointer is over. */
let cursorPlot: uPlot | undefined;

function isUnderPointer({ cursor: { left = -1, event } }: uPlot): boolean {
  return left >= 0 && event !== undefined && event !== null && event.type !== 'mouseleave';
}

/**
 * Puts the crosshair of a chart at the common time, whatever panel the pointer is over. Live charts move by columns of their
 * own width: the place of the pointer alone would be another time in each of them.
 */
function followCursor(plot: uPlot): void {
  if (isUnderPointer(plot)) return;
  const time = cursorTime.peek();
  const { left = -1, top = -1 } = plot.cursor;
  const { min, max } = plot.scales.x;
  const isShown = time !== undefined && time >= (min ?? 0) && time <= (max ?? 0);
  const wanted = isShown ? plot.valToPos(time, 'x') : HIDDEN;
  if (Math.abs(wanted - left) < 0.01 || (left < 0 && wanted < 0)) return;
  plot.setCursor({ left: wanted, top: isShown && top >= 0 ? top : HIDDEN });
}

/** A place outside of the plot. */
const HIDDEN = -10;

/** Movement of the pointer, in pixels, that is still a click. */
const STILL = 3;

function reportClicks(plot: uPlot, { clicked }: ChartEvents): void {
  if (!clicked) return;
  let start = Number.NaN;
  plot.over.addEventListener('pointerdown', ({ clientX }) => {
    start = clientX;
  });
  plot.over.addEventListener('click', ({ clientX }) => {
    const left = clientX - plot.over.getBoundingClientRect().left;
    if (Math.abs(clientX - start) <= STILL) clicked(plot.posToVal(left, 'x'));
  });
}

/** The time under the pointer stands at the crosshair of each chart. */
function addCursorTime(plot: uPlot): void {
  const label = document.createElement('div');
  label.className = 'cursor-time';
  plot.over.append(label);
}

function showCursorTime(plot: uPlot): void {
  const label = plot.over.querySelector<HTMLElement>('.cursor-time');
  const { left = -1 } = plot.cursor;
  if (!label) return;
  label.hidden = left < 0;
  if (left < 0) return;
  const { min = 0, max = 0 } = plot.scales.x;
  const time = cursorTime.peek() ?? plot.posToVal(left, 'x');
  label.textContent = formatCursor(time, (max ?? 0) - (min ?? 0));
  // Beside the crosshair, on the side with more room.
  const isRight = left < plot.over.clientWidth / 2;
  label.style.left = isRight ? `${left + 4}px` : 'auto';
  label.style.right = isRight ? 'auto' : `${plot.over.clientWidth - left + 4}px`;
}

function select(plot: uPlot, events: ChartEvents): void {
  const { left, width } = plot.select;
  if (width < 4) return;
  // The others show the selection, too.
  const { event } = plot.cursor;
  if (event) {
    const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
    if (event.shiftKey && !isViewOnly) noteSpan(from, to);
    else events.selected(from, to);
  }
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}
