import type { Plane } from '../../charts/plane.ts';

/** Amplitudes over frequencies, as the axes show them. */
export interface DrawnSpectrum {
  readonly values: Float64Array;
  /** Distance of two frequencies. */
  readonly step: number;
  readonly color: string;
}

/** Draws a line through the largest amplitude of each column of pixels, so that no peak is lost. */
export function drawSpectrum(
  ctx: CanvasRenderingContext2D,
  plane: Plane,
  spectrum: DrawnSpectrum,
  isLogarithmic: boolean,
): void {
  const { values, step, color } = spectrum;
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.25 * Math.max(1, Math.round(devicePixelRatio));
  ctx.beginPath();
  let column = Number.NaN;
  let [highest, isOpen] = [Number.NEGATIVE_INFINITY, false];
  const flush = () => {
    if (!Number.isFinite(highest)) return;
    const y = plane.placeY(highest);
    if (isOpen) ctx.lineTo(column, y);
    else ctx.moveTo(column, y);
    isOpen = true;
  };
  // Frequency 0 has no place on a logarithmic axis.
  for (let index = isLogarithmic ? 1 : 0; index < values.length; index++) {
    const x = Math.round(plane.placeX(index * step));
    if (x !== column) {
      flush();
      [column, highest] = [x, Number.NEGATIVE_INFINITY];
    }
    if (values[index] > highest) highest = values[index];
  }
  flush();
  ctx.stroke();
}
