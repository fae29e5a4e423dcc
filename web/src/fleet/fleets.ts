import type { Fields } from '../wire/fields.ts';
import { isSame } from '../wire/same.ts';
import { FleetBook } from './book.ts';
import { type Listing, listingOf } from './listing.ts';
import {
  type FleetAnswer,
  type FleetLine,
  type FleetLook,
  type FleetRequest,
  type FleetSelection,
  type FleetStatus,
  POINTS,
} from './query.ts';

/** A fleet that no panel asks for any more is read on so long: a scrolled list asks anew each time. */
const LINGER_MS = 2000;
/** Milliseconds before a refused fleet is asked for again. */
const RETRY_MS = 5000;

interface Fleet {
  readonly selection: FleetSelection;
  readonly book: FleetBook;
  status: FleetStatus;
  /** Number of the request that is under way. */
  request: number | undefined;
  /** Number at the DAC. */
  number: number | undefined;
  usedAt: number;
  retryAt: number;
  /** The last lists of panels, until the fleet changes. */
  readonly kept: FleetList[];
}

/** A list, and the settings that it was made of. */
interface FleetList {
  readonly look: Omit<FleetLook, 'first' | 'count'>;
  readonly version: number;
  readonly listing: Listing;
}

/** Lists of one fleet that are kept: panels may show it in different orders. */
const MAX_LISTS = 4;

/** The fleets that panels read: one subscription for all panels with the same selection. */
export class Fleets {
  private readonly fleets = new Set<Fleet>();
  private isOpen = false;

  constructor(private readonly send: (message: FleetRequest) => number) {}

  /** The DAC can be asked for fleets; `false`: not through this door. */
  opened(hasFleets: boolean): void {
    this.isOpen = hasFleets;
    for (const fleet of this.fleets) {
      fleet.retryAt = 0;
      fleet.status = { state: hasFleets ? 'waiting' : 'unsupported' };
    }
  }

  disconnected(): void {
    this.isOpen = false;
    for (const fleet of this.fleets) {
      [fleet.request, fleet.number] = [undefined, undefined];
      fleet.status = { state: 'waiting' };
      fleet.book.disconnected();
    }
  }

  /** Subscribes to the fleets that panels ask for, and ends the others. */
  tick(now: number): void {
    for (const fleet of this.fleets) {
      fleet.book.tick(now);
      if (now - fleet.usedAt > LINGER_MS && fleet.request === undefined) {
        if (this.isOpen && fleet.number !== undefined) this.send({ op: 'end-fleet', fleet: fleet.number });
        this.fleets.delete(fleet);
      } else if (
        this.isOpen &&
        fleet.request === undefined &&
        fleet.number === undefined &&
        now >= fleet.retryAt
      )
        fleet.request = this.send({ op: 'fleet', ...fleet.selection });
    }
  }

  /** Returns when {@link tick} has something to do. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const fleet of this.fleets) {
      due = Math.min(due, fleet.usedAt + LINGER_MS + 1);
      if (this.isOpen && fleet.request === undefined && fleet.number === undefined)
        due = Math.min(due, fleet.retryAt);
    }
    return due;
  }

  /** The DAC has accepted a request. */
  accepted(request: number, number: number): void {
    for (const fleet of this.fleets) {
      if (fleet.request !== request) continue;
      [fleet.request, fleet.number] = [undefined, number];
      fleet.status = { state: 'ready' };
    }
  }

  /** Returns whether the request was one for a fleet. */
  failed(request: number, problem: string, now: number): boolean {
    for (const fleet of this.fleets) {
      if (fleet.request !== request) continue;
      fleet.request = undefined;
      fleet.retryAt = now + RETRY_MS;
      fleet.status = { state: 'refused', problem };
      fleet.book.version++;
      return true;
    }
    return false;
  }

  rows(number: number, message: Fields, now: number): void {
    for (const fleet of this.fleets) if (fleet.number === number) fleet.book.apply(message, now);
  }

  /** Returns a number that changes with what a panel shows of a fleet. */
  versionOf(selection: FleetSelection, now: number): number {
    return this.of(selection, now).book.version;
  }

  answer(selection: FleetSelection, look: FleetLook, now: number): FleetAnswer {
    const fleet = this.of(selection, now);
    const { book, status } = fleet;
    const columns = look.metrics;
    const { lines, matched, healths, nodes, types } = list(fleet, look, now);
    const first = Math.max(0, Math.min(look.first, lines.length - look.count));
    const shown = lines.slice(first, first + look.count);
    const sparks = new Float64Array(shown.length * columns.length * POINTS).fill(Number.NaN);
    for (const [index, line] of shown.entries()) {
      if (!('row' in line)) continue;
      for (const [place, member] of line.members.entries()) {
        const at = (index * columns.length + place) * POINTS;
        if (member) book.points(member, columns[place].metric, selection.period, sparks, at);
      }
    }
    return {
      kind: 'fleet',
      status: status.state === 'ready' && !book.isComplete ? { state: 'waiting' } : status,
      members: book.members.size,
      nodes,
      matched,
      healths,
      length: lines.length,
      first,
      lines: shown.map((line): FleetLine => ('row' in line ? line.row : line.group)),
      sparks,
      types,
      combined: book.combined,
    };
  }

  private of(selection: FleetSelection, now: number): Fleet {
    let found = [...this.fleets].find((fleet) => isSame(fleet.selection, selection));
    if (!found) {
      const book = new FleetBook(selection.metrics.length);
      const status: FleetStatus = { state: 'waiting' };
      found = {
        selection,
        book,
        status,
        request: undefined,
        number: undefined,
        usedAt: now,
        retryAt: 0,
        kept: [],
      };
      this.fleets.add(found);
    }
    found.usedAt = now;
    return found;
  }
}

/** A list that is only scrolled is not made again. */
function list({ book, kept }: Fleet, look: FleetLook, now: number): Listing {
  const { first, count, ...rest } = look;
  const { version } = book;
  const at = kept.findIndex((list) => isSame(list.look, rest));
  const known = at < 0 ? undefined : kept[at];
  if (known?.version === version) return known.listing;
  const listing = listingOf(book, look, now);
  if (known) kept.splice(at, 1);
  kept.push({ look: rest, version, listing });
  kept.splice(0, kept.length - MAX_LISTS);
  return listing;
}
