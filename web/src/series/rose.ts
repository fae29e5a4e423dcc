import type { Samples } from './raw_samples.ts';

export const SECTORS = 16;

export interface Rose {
  /** Upper bounds of the speed classes; the last class has none. */
  readonly bounds: readonly number[];
  /** Number of samples of each speed class, for each sector clockwise from north. */
  readonly sectors: readonly (readonly number[])[];
  readonly samples: number;
  readonly direction: number;
  readonly speed: number;
}

/** Counts wind directions and speeds, from a column of directions and one of speeds. */
export function rose(
  { columns: [directions, speeds], weights }: Samples,
  bounds: readonly number[],
): Rose | undefined {
  const sectors = Array.from({ length: SECTORS }, () => new Array<number>(bounds.length + 1).fill(0));
  let samples = 0;
  let newest = { direction: Number.NaN, speed: Number.NaN };
  for (let index = 0; index < directions.length; index++) {
    const [degrees, fast] = [directions[index], speeds[index]];
    if (!Number.isFinite(degrees) || !Number.isFinite(fast)) continue;
    newest = { direction: degrees, speed: fast };
    // Calm air has no direction.
    if (fast > 0) {
      const turn = (((degrees % 360) + 360) % 360) / 360;
      const sector = sectors[Math.round(turn * SECTORS) % SECTORS];
      const above = bounds.findIndex((bound) => fast < bound);
      const kind = above < 0 ? bounds.length : above;
      sector[kind] = sector[kind] + (weights?.[index] ?? 1);
    }
    samples++;
  }
  return samples === 0 ? undefined : { bounds, sectors, samples, ...newest };
}
