import { signal } from '@preact/signals';
import { keyOf } from '../stream/view.ts';

/** The DAC's books of one instance (http-api.md, "instance"), as far as the page shows them. */
export interface DacAccount {
  /** Samples that the probe took, in all runs of the node that this DAC has met. */
  readonly taken: number;
  /** Of them, those that the DAC has. */
  readonly received: number;
  /**
   * What became of the others: causes as the DAC calls them, or `forgotten` (in gaps that it no longer
   * lists), `to_come` (behind the last sample it has), `stored_before` (by an earlier life of the DAC). Most first.
   */
  readonly rest: readonly (readonly [cause: string, count: number])[];
}

/** By `keyOf`. They stay when the DAC cannot be asked: that there is no connection is said elsewhere. */
export const dacAccounts = signal<ReadonlyMap<string, DacAccount>>(new Map());

const REREAD_MS = 2000;

/** Reads the DAC's books now and from time to time; returns what ends that. */
export function followDacLedger(): () => void {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = async () => {
    if (!document.hidden) await readDacLedger(end.signal);
    if (!end.signal.aborted) timer = setTimeout(read, REREAD_MS);
  };
  void read();
  return () => {
    end.abort();
    clearTimeout(timer);
  };
}

async function readDacLedger(signal: AbortSignal): Promise<void> {
  try {
    const answer = await fetch(new URL('api/v1/ledger', document.baseURI), { cache: 'no-store', signal });
    if (answer.ok) dacAccounts.value = parseDacLedger(await answer.json());
  } catch {
    // They stay as they were.
  }
}

type Fields = Record<string, unknown>;

/** The answer to `GET /api/v1/ledger`; what is no instance's ledger is left out. */
export function parseDacLedger(answer: unknown): ReadonlyMap<string, DacAccount> {
  const accounts = new Map<string, DacAccount>();
  for (const { node, instance, ledger } of list(isFields(answer) ? answer.instances : undefined)) {
    if (typeof node !== 'string' || typeof instance !== 'string' || !isFields(ledger)) continue;
    accounts.set(keyOf({ node, instance }), accountOf(ledger));
  }
  return accounts;
}

/** Every sample taken is received, or has a cause. */
function accountOf(ledger: Fields): DacAccount {
  const [received, missing] = [whole(ledger.received), whole(ledger.missing)];
  const causes = new Map<string, number>();
  const add = (cause: string, count: number) => {
    if (count > 0) causes.set(cause, (causes.get(cause) ?? 0) + count);
  };
  let forgotten = missing;
  for (const { cause, count } of list(ledger.gaps)) {
    add(String(cause), whole(count));
    forgotten -= whole(count);
  }
  // Of these the DAC keeps the total, too.
  const unexplained = whole(ledger.unexplained) - (causes.get('unexplained') ?? 0);
  add('unexplained', unexplained);
  add('forgotten', forgotten - unexplained);
  const stored = whole(ledger.stored_before);
  add('stored_before', stored);
  // The DAC sees a gap with the batch behind it: until then nobody can say which of them will come.
  const taken = isFields(ledger.node) ? whole(ledger.node.taken) : 0;
  const toCome = Math.max(0, taken - whole(ledger.last_sequence));
  add('to_come', toCome);
  return {
    taken: received + missing + stored + toCome,
    received,
    rest: [...causes].sort(([, a], [, b]) => b - a),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** A count; 0 for what is none. */
function whole(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
