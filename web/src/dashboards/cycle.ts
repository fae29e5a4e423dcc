import { openNext } from './open.ts';

/** Seconds that each dashboard is shown: by default, at least, and at most. */
const SHOWN_S = 30;
const MIN_SHOWN_S = 5;
const MAX_SHOWN_S = 3600;
const MAX_DASHBOARDS = 20;

export interface Cycle {
  /** Dashboards in their order, the one of the address first. */
  readonly names: readonly string[];
  readonly intervalMs: number;
}

/** Reads `?cycle=NAME&cycle=NAME&every=SECONDS`; undefined without another dashboard. */
export function cycleIn(first: string, search: string): Cycle | undefined {
  const query = new URLSearchParams(search);
  const others = query.getAll('cycle').filter((name) => name !== '');
  if (others.length === 0) return undefined;
  const every = Number.parseFloat(query.get('every') ?? '') || SHOWN_S;
  const seconds = Math.min(MAX_SHOWN_S, Math.max(MIN_SHOWN_S, every));
  return { names: [first, ...others].slice(0, MAX_DASHBOARDS), intervalMs: seconds * 1000 };
}

/** Shows the dashboards of the address one after another, from the second on. */
export function startCycle(first: string): void {
  const cycle = cycleIn(first, location.search);
  if (!cycle) return;
  let at = 0;
  const step = async () => {
    at = (at + 1) % cycle.names.length;
    // One that is gone, or that the DAC does not send now, leaves the one before until the next turn.
    await openNext(cycle.names[at]).catch(() => undefined);
    setTimeout(step, cycle.intervalMs);
  };
  setTimeout(step, cycle.intervalMs);
}
