import { computed, effect, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { type Fields, isFields, listOf, valuesOf } from '../wire/fields.ts';
import { openDialog } from './dialogs.ts';
import { clock, now } from './now.ts';
import { reread } from './reread.ts';
import { connection, isConnected } from './store.ts';
import { openable, pageAddress, temLocation } from './tem_location.ts';

/** A DAC in the list of a TEM (docs/reference/http-api.md, "TEM"). */
export interface DacEntry {
  readonly name: string;
  /** Address of its page; undefined if it is no address that a browser can open. */
  readonly address: string | undefined;
  /** Whether it has no nodes of its own. */
  readonly isRelay: boolean;
  /** The other TEM that hears it, if this one does not. */
  /** Whether the TEM receives its heartbeats. */
  readonly isLive: boolean;
  /** Milliseconds since its last heartbeat, when the list was read. */
  readonly silent: number;
  readonly health: string;
  readonly nodes: number;
  /** Undefined for users who may not read everything. */
  readonly readers: number | undefined;
  readonly samplesPerSecond: number | undefined;
  /** Whether this page comes from it. */
  readonly isOwn: boolean;
}

/** Another TEM, which has the same list or lists this DAC. */
export interface TemEntry {
  readonly address: string;
  readonly isLive: boolean;
}

/** What a TEM has answered last. */
export interface DacList {
  /** By name. */
  readonly dacs: readonly DacEntry[];
  /** Other TEMs, by address. */
  readonly tems: readonly TemEntry[];
  /** Where the next answer continues. */
  readonly position: string;
  /** Time of the answer; milliseconds, browser clock. */
  readonly at: number;
}

/** The DACs that the TEM of this page knows; undefined before the first answer. It stays while the DAC does not answer. */
export const dacList = signal<DacList | undefined>(undefined);

/** Whether the list is shown, and so read in full: loads are no changes. */
const isShown = computed(() => openDialog.value === 'dacs' || isTemAlone.value);

/** Whether this page comes from a TEM that is no DAC itself. */
export const isTemAlone = computed(() => {
  const dacs = dacList.value?.dacs ?? [];
  return dacs.length > 0 && !dacs.some(({ isOwn }) => isOwn);
});

/** How long the DAC may be silent before others are offered, milliseconds. */
const PATIENCE_MS = 2000;

/** Whether this page's own DAC does not answer. */
export const isOwnSilent = computed(() => {
  const { phase, since } = connection.value;
  return phase === 'reconnecting' && now.value - since >= PATIENCE_MS;
});

/** The DACs that were live in the last list, if this page's own does not answer; by name. */
export const otherDacs = computed((): readonly DacEntry[] => {
  if (!isOwnSilent.value) return [];
  return (dacList.value?.dacs ?? []).filter(({ isLive, isOwn, address }) => isLive && !isOwn && address);
});

/** Addresses of other TEMs if this page's own server does not answer: the chosen one, and those that were live in the last list. */
export const otherTems = computed((): readonly string[] => {
  if (!isOwnSilent.value) return [];
  const live = (dacList.value?.tems ?? []).filter(({ isLive }) => isLive).map(({ address }) => address);
  const all = temLocation.value === undefined ? live : [temLocation.value, ...live];
  return [...new Set(all)];
});

/** Name of the DAC that this page comes from; undefined if it is not known. */
export const ownDac = computed(() => dacList.value?.dacs.find(({ isOwn }) => isOwn)?.name);

const SHOWN_MS = 1000;
const HIDDEN_MS = 5000;
/** Bounds of a TEM: docs/guides/name-dacs.md. */
const MAX_DACS = 1000;
const MAX_TEMS = 64;

/** Keeps {@link dacList} up to date while the page is connected. */
export function followDacs(): void {
  effect(() => {
    if (!isConnected.value) return;
    const isFull = isShown.value;
    return reread((signal) => readDacs(isFull, signal), isFull ? SHOWN_MS : HIDDEN_MS);
  });
}

async function readDacs(isFull: boolean, signal: AbortSignal): Promise<void> {
  const before = isFull ? undefined : dacList.peek();
  const path = before ? `tem?after=${encodeURIComponent(before.position)}` : 'tem';
  // Whoever may not see the list, or an older DAC: the page shows what it knows.
  const answer = await fetchJson('GET', path, { signal }).catch(() => undefined);
  if (answer !== undefined)
    dacList.value = parseDacs(answer, pageAddress(), clock(), before) ?? dacList.peek();
}

/** Parses the answer of a TEM, which may contain only what changed since `before`; undefined if it is none. */
export function parseDacs(answer: unknown, page: string, at: number, before?: DacList): DacList | undefined {
  if (!isFields(answer) || typeof answer.position !== 'string' || !Array.isArray(answer.dacs))
    return undefined;
  const found = new Map<string, DacEntry>();
  if (answer.complete !== true) for (const dac of before?.dacs ?? []) found.set(dac.name, dac);
  for (const name of valuesOf(answer.removed)) found.delete(String(name));
  for (const entry of listOf(answer.dacs).slice(0, MAX_DACS)) {
    const dac = parseDac(entry, page);
    if (dac) found.set(dac.name, dac);
  }
  const dacs = [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return { dacs, tems: parseTems(answer.tems), position: answer.position, at };
}

function parseTems(tems: unknown): readonly TemEntry[] {
  const found = new Map<string, TemEntry>();
  for (const entry of (Array.isArray(tems) ? listOf(tems) : []).slice(0, MAX_TEMS)) {
    const address = typeof entry.doors === 'string' ? openable(entry.doors) : undefined;
    if (address !== undefined) found.set(address, { address, isLive: entry.state === 'live' });
  }
  return [...found.values()].sort((one, other) => (one.address < other.address ? -1 : 1));
}

function parseDac(entry: Fields, page: string): DacEntry | undefined {
  if (typeof entry.name !== 'string') return undefined;
  const isOwn = entry.is_tem === true;
  const load: Fields = isFields(entry.load) ? entry.load : {};
  return {
    name: entry.name,
    // A TEM does not know by which address it was reached.
    address: isOwn ? page : typeof entry.doors === 'string' ? openable(entry.doors) : undefined,
    isRelay: entry.kind === 'relay',
    isLive: entry.state === 'live',
    silent: numberIn(entry.silent_ms) ?? 0,
    health: typeof entry.health === 'string' ? entry.health : '',
    nodes: numberIn(load.nodes) ?? valuesOf(entry.nodes).length,
    readers: numberIn(load.readers),
    samplesPerSecond: numberIn(load.samples_per_second),
    isOwn,
  };
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
