import type { SeriesStore } from './store.ts';

export const SECTORS = 16;

export interface Rose {
  /** Upper bounds of the classes of speed; the last class has none. */
  readonly bounds: readonly number[];
  /** For each sector, clockwise from north, how many samples of each class of speed. */
  readonly sectors: readonly (readonly number[])[];
  readonly samples: number;
  readonly direction: number;
  readonly speed: number;
}

/** From which direction the wind came how often, and how fast: of the samples still held one by one. */
export function rose(
  store: SeriesStore,
  direction: number,
  speed: number,
  bounds: readonly number[],
  from: number,
  to: number,
): Rose | undefined {
  const raw = store.tiers[0];
  const sectors = Array.from({ length: SECTORS }, () => new Array<number>(bounds.length + 1).fill(0));
  let samples = 0;
  let newest = { direction: Number.NaN, speed: Number.NaN };
  for (let index = raw.lowerBound(from); index < raw.next; index++) {
    const slot = raw.slot(index);
    if (raw.end[slot] > to) break;
    const degrees = raw.last[direction][slot];
    const fast = raw.last[speed][slot];
    if (!Number.isFinite(degrees) || !Number.isFinite(fast)) continue;
    newest = { direction: degrees, speed: fast };
    // Calm air comes from nowhere.
    if (fast > 0) {
      const turn = (((degrees % 360) + 360) % 360) / 360;
      const sector = sectors[Math.round(turn * SECTORS) % SECTORS];
      const above = bounds.findIndex((bound) => fast < bound);
      const kind = above < 0 ? bounds.length : above;
      sector[kind] = sector[kind] + 1;
    }
    samples++;
  }
  return samples === 0 ? undefined : { bounds, sectors, samples, ...newest };
}
