import { effect, signal } from '@preact/signals';
import type { LayoutDocument } from '../layout/document.ts';
import { extentOf, isSameButForSizes, isSameLayout } from '../layout/same.ts';
import { applyLayout, atTimeShown, currentLayout, geometry } from '../layout/saved.ts';
import { annotations } from '../state/annotations.ts';
import { dashboard, isChanged } from '../state/dashboard.ts';
import { panels } from '../state/panels.ts';

/** What was changed in the layout since it was opened, and the way back. */

/** Most steps back. A layout has some kilobytes. */
const MOST_STEPS = 50;
/** A change that takes longer is several. */
const PAUSE_MS = 300;

/** Whether there is a step back. */
export const canUndo = signal(false);

/** Layouts before changes, oldest first. */
let steps: LayoutDocument[] = [];
/** The layout after the last change. */
let last: LayoutDocument | undefined;
/** The layout of the open dashboard. */
let saved: LayoutDocument | undefined;
/** Whether the dock has not yet reported where it has put the panels. */
let isPlacing = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let isFollowing = false;

/** Follows changes of the layout that was there `before`. */
export function followChanges(before: LayoutDocument): void {
  if (isFollowing) return;
  isFollowing = true;
  last ??= before;
  effect(() => {
    void [panels.value, geometry.value, annotations.value];
    clearTimeout(timer);
    timer = setTimeout(pollChanges, PAUSE_MS);
  });
}

/** Begins with a layout that is saved. Steps back lead no further, unless they are kept. */
export function beginAt(layout: LayoutDocument, areStepsKept = false): void {
  saved = layout;
  isPlacing = true;
  if (!areStepsKept) {
    steps = [];
    canUndo.value = false;
    last = layout;
  }
  followChanges(layout);
  isChanged.value = !isSameLayout(layout, currentLayout());
}

/** Takes the last change back. */
export function undo(): void {
  pollChanges();
  const before = steps.pop();
  canUndo.value = steps.length > 0;
  if (!before) return;
  last = before;
  applyLayout(atTimeShown(before));
}

function pollChanges(): void {
  clearTimeout(timer);
  const now = currentLayout();
  settle(now);
  if (last && !isSameLayout(last, now) && !isOnlyResized(last, now) && last.panels.length > 0) {
    steps = [...steps.slice(1 - MOST_STEPS), last];
    canUndo.value = true;
  }
  last = now;
  isChanged.value = dashboard.peek() !== undefined && saved !== undefined && !isSameLayout(saved, now);
}

/** The dock rounds, and a small window squeezes: that is no change of the layout. */
function settle(now: LayoutDocument): void {
  if (!saved) return;
  const isByWindow = last !== undefined && isSameLayout(saved, last) && isOnlyResized(last, now);
  if ((isPlacing || isByWindow) && isSameButForSizes(saved, now)) saved = now;
  isPlacing = false;
}

function isOnlyResized(before: LayoutDocument, now: LayoutDocument): boolean {
  return extentOf(before) !== extentOf(now) && isSameButForSizes(before, now);
}
