import { type LineStyle, linesOf } from '../../charts/line.ts';
import type { ViewResult } from '../../stream/query.ts';

/** A line this many times higher than the median hides the others. */
const DWARFS = 30;

/**
 * Lines of a chart that are drawn. Until the user chooses, those are left out that would hide the rest: much larger than the
 * others, or nothing but zero among many.
 */
export class LineChoice {
  private hidden = new Set<number>();
  private isSettled = false;

  isShown(line: number): boolean {
    return !this.hidden.has(line);
  }

  toggle(line: number): void {
    this.isSettled = true;
    if (!this.hidden.delete(line)) this.hidden.add(line);
  }

  /** Shows one line alone; shows all if it was alone. */
  only(line: number, count: number): void {
    this.isSettled = true;
    const others = Array.from({ length: count }, (_, index) => index).filter((index) => index !== line);
    const isAlone = !this.hidden.has(line) && others.every((other) => this.hidden.has(other));
    this.hidden = new Set(isAlone ? [] : others);
  }

  /** Updates the choice from the first samples. Returns whether it changed. */
  settle(result: ViewResult, styles: readonly LineStyle[]): boolean {
    if (this.isSettled) return false;
    const heights = linesOf(result, styles).map((line) => {
      let height = Number.NaN;
      for (let column = 0; column < line.columns.count; column++) {
        const size = Math.max(Math.abs(line.low(column)), Math.abs(line.high(column)));
        if (!(height >= size) && Number.isFinite(size)) height = size;
      }
      return height;
    });
    if (heights.length === 0 || heights.some(Number.isNaN)) return false;
    this.isSettled = true;
    const moving = heights.filter((height) => height > 0).sort((a, b) => a - b);
    const middle = moving[Math.floor(moving.length / 2)] ?? 0;
    heights.forEach((height, index) => {
      const isGiant = moving.length > 2 && height > DWARFS * middle;
      // A counter at 0 may still start to count.
      const isIdle = height === 0 && heights.length > 3 && moving.length > 0 && !styles[index].isCounter;
      if (isGiant || isIdle) this.hidden.add(index);
    });
    return this.hidden.size > 0;
  }
}
