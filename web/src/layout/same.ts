import { isFields, listOf } from '../wire/fields.ts';
import { isSame } from '../wire/same.ts';
import type { LayoutDocument } from './document.ts';

/** Part of a row or column by which a panel may differ: restoring rounds to pixels. */
const SLACK = 0.02;

/** Whether two layouts have the same panels in the same places with the same notes. The time shown is no part of it. */
export function isSameLayout(one: LayoutDocument, other: LayoutDocument): boolean {
  return (
    hasSamePanels(one, other) &&
    isSame(one.annotations ?? [], other.annotations ?? []) &&
    isSamePlace(one, other, true)
  );
}

/** The same, wherever and however large panels are within the same rows and columns. */
export function isSameButForSizes(one: LayoutDocument, other: LayoutDocument): boolean {
  return (
    hasSamePanels(one, other) &&
    isSame(one.annotations ?? [], other.annotations ?? []) &&
    isSamePlace(one, other, false)
  );
}

/** Width and height of the place of all panels, in pixels. */
export function extentOf({ geometry }: LayoutDocument): string {
  const { width, height } = geometry?.grid ?? {};
  return `${width}x${height}`;
}

function hasSamePanels(one: LayoutDocument, other: LayoutDocument): boolean {
  const before = new Map(one.panels.map((panel) => [panel.id, panel]));
  if (before.size !== other.panels.length) return false;
  return other.panels.every((panel) => {
    const found = before.get(panel.id);
    // The page itself chooses what becomes of an automatic panel.
    return found && (found.kind === 'auto' || isSame(found, panel));
  });
}

function isSamePlace(one: LayoutDocument, other: LayoutDocument, isExact: boolean): boolean {
  const [before, now] = [one.geometry, other.geometry];
  // Without places, the page has chosen them.
  if (!before || !now) return true;
  return isSamePart(before.grid?.root, now.grid?.root, isExact);
}

function isSamePart(one: unknown, other: unknown, isExact: boolean): boolean {
  if (!isFields(one) || !isFields(other) || one.type !== other.type) return false;
  if (one.type === 'leaf') return isSame(viewsOf(one.data), viewsOf(other.data));
  const [before, now] = [listOf(one.data), listOf(other.data)];
  if (before.length !== now.length) return false;
  const [sharesBefore, shares] = [sharesOf(before), sharesOf(now)];
  return before.every((part, index) => {
    const isNear = Math.abs(sharesBefore[index] - shares[index]) <= SLACK;
    return (isNear || !isExact) && isSamePart(part, now[index], isExact);
  });
}

function viewsOf(leaf: unknown): unknown {
  return isFields(leaf) ? leaf.views : undefined;
}

function sharesOf(parts: readonly { readonly size?: unknown }[]): number[] {
  const sizes = parts.map(({ size }) => (typeof size === 'number' ? size : 0));
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sizes.map((size) => (sum > 0 ? size / sum : 0));
}
