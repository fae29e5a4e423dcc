/** When and where a page goes on that has lost its DAC. Pure functions: time, chance and addresses go in. */

/** A DAC that the page has left. */
export interface Stop {
  /** Origin of its page. */
  readonly address: string;
  /** When the page left; milliseconds since 1970. */
  readonly at: number;
}

/** The page of a DAC or relay that serves the same nodes. */
export interface OtherPage {
  readonly name: string;
  /** Origin of its page. */
  readonly address: string;
}

/** The page waits at least so long for its own DAC, which may just restart. */
const LEAST_MS = 700;
/** Up to so much is added by chance: a thousand pages of one DAC must not arrive in the same moment. */
const SPREAD_MS = 1000;
/** Longest wait. */
const LONGEST_MS = 60_000;
/** Stops count for so long. */
export const REMEMBERED_MS = 600_000;
/** A DAC that was left is not tried again for so long. */
const AVOIDED_MS = 60_000;
/** Moves in {@link REMEMBERED_MS} after which the page stays, whatever happens. */
export const MOST_MOVES = 6;
/** Addresses that are tried at once. */
const TRIED = 3;

/** Returns the stops that still count, oldest first. */
export function recent(trail: readonly Stop[], now: number): Stop[] {
  const isRecent = ({ at }: Stop) => at <= now && now - at < REMEMBERED_MS;
  return trail.filter(isRecent).slice(-MOST_MOVES);
}

/** Milliseconds to wait before the page looks for another DAC; twice as long after each move. Undefined if it stays. */
export function waitBefore(trail: readonly Stop[], now: number, random: () => number): number | undefined {
  const moves = recent(trail, now).length;
  if (moves >= MOST_MOVES) return undefined;
  return Math.min(LONGEST_MS, (LEAST_MS + SPREAD_MS * random()) * 2 ** moves);
}

/**
 * Returns the addresses to try, in an order by chance, so that the pages of one DAC spread over all others. A page that came by TLS
 * goes to no place without, and none returns at once to a DAC that it has left.
 */
export function placesToTry(
  pages: readonly OtherPage[],
  trail: readonly Stop[],
  own: string,
  now: number,
  random: () => number,
): string[] {
  const left = trail.filter(({ at }) => now - at < AVOIDED_MS).map(({ address }) => address);
  const isUsable = (address: string) =>
    address !== own && !left.includes(address) && (address.startsWith('https:') || !own.startsWith('https:'));
  const found = pages.map(({ address }) => address).filter(isUsable);
  const ranked = found.map((address) => ({ address, rank: random() }));
  return ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, TRIED)
    .map(({ address }) => address);
}
