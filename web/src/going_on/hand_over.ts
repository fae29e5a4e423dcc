import { type Position, positionIn } from '../stream/position.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { REMEMBERED_MS, recent, type Stop } from './rules.ts';

/**
 * State that a page hands over to the page of another DAC, in the fragment of the address beside the layout. Any site can
 * write such an address: it is checked like all input, and has nothing that is secret.
 */
export interface HandOver {
  /** Name of the DAC that was left, for people. */
  readonly from: string;
  /** When it was left; milliseconds since 1970. */
  readonly at: number;
  /** The DACs that were left lately, oldest first. */
  readonly trail: readonly Stop[];
  /** Where the samples of each watched instance continue. */
  readonly positions: readonly Position[];
}

/** Positions that are handed over; other instances begin as they do on a new page. */
const MOST_POSITIONS = 200;
const LONGEST_NAME = 100;
const LONGEST_ADDRESS = 300;

/** Returns a hand-over with at most so many positions as an address has room for. */
export function bounded(handOver: HandOver): HandOver {
  return { ...handOver, positions: handOver.positions.slice(0, MOST_POSITIONS) };
}

/** Reads a hand-over; undefined if it is none, or an old one: a link may be kept for years. */
export function parseHandOver(json: unknown, now: number): HandOver | undefined {
  if (!isFields(json) || typeof json.from !== 'string' || typeof json.at !== 'number') return undefined;
  if (!(json.at <= now && now - json.at < REMEMBERED_MS)) return undefined;
  return {
    from: json.from.slice(0, LONGEST_NAME),
    at: json.at,
    trail: parseTrail(json.trail, now),
    positions: listOf(json.positions)
      .slice(0, MOST_POSITIONS)
      .flatMap((entry) => positionIn(entry) ?? []),
  };
}

/** Reads the DACs that were left lately. */
export function parseTrail(json: unknown, now: number): Stop[] {
  const stops = listOf(json).flatMap(({ address, at }): Stop[] => {
    const isStop = typeof address === 'string' && address.length <= LONGEST_ADDRESS && typeof at === 'number';
    return isStop ? [{ address, at }] : [];
  });
  return recent(stops, now);
}
