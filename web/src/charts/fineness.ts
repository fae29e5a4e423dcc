/** A drawing that takes longer than this leaves too little of a frame to the other charts, in milliseconds. */
const SLOW_MS = 12;
/** Drawings in the mean; the first ones are slow on any device. */
const WARM_UP = 20;
const WEIGHT = 0.1;

/**
 * Width of the columns of a chart: one pixel of the device, so that a slope has no steps; or one of the page, where that
 * takes too long to draw.
 */
export class Fineness {
  private drawings = 0;
  private mean = 0;
  private isCoarse = false;

  /** Pixels of the device in a column. */
  get width(): number {
    return this.isCoarse ? devicePixelRatio : 1;
  }

  /** Notes how long a drawing took, in milliseconds. */
  drew(duration: number): void {
    this.drawings++;
    if (this.drawings <= WARM_UP) return;
    this.mean += WEIGHT * (duration - this.mean);
    // The chart stays coarse: one that changed back and forth would flicker.
    if (this.mean > SLOW_MS && devicePixelRatio > 1) this.isCoarse = true;
  }
}
