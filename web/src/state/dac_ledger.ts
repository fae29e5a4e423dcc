import { type Cause, LOSS_CAUSES, lossCause } from '@oasis/wire';
import { computed, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { type LossView, logName } from '../stream/ledger.ts';
import { type Fields, isFields, listOf } from '../wire/fields.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { shownTargets } from './panels.ts';
import { reread } from './reread.ts';
import { cellsOf } from './store.ts';

/** A run of sequence numbers that the DAC did not receive. */
export interface LedgerGap {
  /** First and last sequence number, in the run of the node that they were taken in. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly cause: string;
  /** When the DAC noticed, milliseconds by its clock. */
  readonly time: number;
}

/** The place of samples that are not missing: in flight to the DAC, or stored by an earlier run of it. */
const PLACES = ['to_come', 'stored_before'] as const;
export type LedgerPlace = (typeof PLACES)[number];

export function isPlace(word: string): word is LedgerPlace {
  return (PLACES as readonly string[]).includes(word);
}

/** The DAC's ledger of one instance (http-api.md, "instance"), the part that the page shows. */
export interface DacAccount {
  /** Samples that the probe took, in all runs of the node in this epoch. */
  readonly taken: number;
  /** Samples of these that the DAC received. */
  readonly received: number;
  /** Samples of these that this page had received before it asked the DAC; at most `received`. */
  readonly here: number;
  /** The other samples by cause of loss or by {@link LedgerPlace}, most first. */
  readonly rest: readonly (readonly [cause: string, count: number])[];
  /** The latest gaps, newest first; only of the requested cause, if there is one. */
  readonly gaps: readonly LedgerGap[];
}

/** Causes that only readers have; the DAC's ledger splits `node_dropped`. */
const OF_READERS: ReadonlySet<Cause> = new Set<Cause>(['node_dropped', 'epoch_changed']);
const OF_LEDGER: readonly string[] = LOSS_CAUSES.filter(
  ({ cause, place }) => place !== 'reader' && place !== 'archive' && !OF_READERS.has(cause),
).map(({ cause }) => cause);

/** The filter of the ledger: a part of the name or node of an instance, and a cause of its missing samples; both may be empty. */
export const ledgerFilter = signal<{ readonly name: string; readonly cause: string }>({
  name: '',
  cause: '',
});

/** Accounts by `keyOf`. They stay as they were while the DAC does not answer. */
export const dacAccounts = signal<ReadonlyMap<string, DacAccount>>(new Map());

/** The causes to filter by: those of a DAC's ledger, and unknown ones that a newer DAC has sent. */
export const ledgerCauses = computed(() => {
  const sent = [...dacAccounts.value.values()].flatMap(({ rest }) => rest.map(([cause]) => cause));
  const isUnknown = (cause: string) => !isPlace(cause) && !lossCause(cause);
  return [...new Set([...OF_LEDGER, ...sent.filter(isUnknown)])];
});

/** Watched instances whose name matches the filter. */
const named = computed(() => {
  const words = ledgerFilter.value.name.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return shownTargets.value.filter(({ node, instance }) => {
    const text = `${node} ${instance}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
});

/** Watched instances that match the whole filter. */
export const ledgerTargets = computed(() => {
  const { cause } = ledgerFilter.value;
  if (cause === '') return named.value;
  return named.value.filter((target) =>
    dacAccounts.value.get(keyOf(target))?.rest.some(([of]) => of === cause),
  );
});

const REREAD_MS = 2000;
const GAPS = 5;
/** For more nodes, one request for all is cheaper than one for each. */
const NODES_ASKED = 4;

/** Reads the ledger of the DAC now and from time to time. Returns a function that ends it. Reads signals. */
export function followDacLedger(): () => void {
  const targets = named.value;
  const questions = questionsFor(targets, ledgerFilter.value.cause);
  return reread((signal) => readDacLedger(questions, targets, signal), REREAD_MS);
}

/** Returns the queries for the ledgers of these instances: of one, of a node, or of all. */
export function questionsFor(targets: readonly Target[], cause: string): string[] {
  const byNode = new Map<string, string[]>();
  for (const { node, instance } of targets) byNode.set(node, [...(byNode.get(node) ?? []), instance]);
  const more: Record<string, string> = cause === '' ? {} : { cause };
  if (byNode.size > NODES_ASKED) return [new URLSearchParams(more).toString()];
  return [...byNode].map(([node, [instance, ...others]]) =>
    new URLSearchParams({ node, ...(others.length === 0 ? { instance } : {}), ...more }).toString(),
  );
}

async function readDacLedger(
  questions: readonly string[],
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<void> {
  // Read before the DAC answers: later samples are not in its answer.
  const here = new Map(targets.map((target) => [keyOf(target), cellsOf(target).loss.peek()?.log]));
  try {
    const answers = await Promise.all(
      questions.map(async (question) => {
        const answer = await fetchJson('GET', `ledger?${question}`, { signal });
        return [...parseDacLedger(answer, here)];
      }),
    );
    dacAccounts.value = new Map(answers.flat());
  } catch {
    // The ledgers stay as they were.
  }
}

/** The answer to `GET /api/v1/ledger`; entries that are not ledgers are left out. `here` is what had come from which log, by `keyOf`. */
export function parseDacLedger(
  answer: unknown,
  here: ReadonlyMap<string, LossView['log']>,
): ReadonlyMap<string, DacAccount> {
  const accounts = new Map<string, DacAccount>();
  if (!isFields(answer)) return accounts;
  for (const { node, instance, topic, ledger } of listOf(answer.instances)) {
    if (typeof node !== 'string' || typeof instance !== 'string' || !isFields(ledger)) continue;
    const key = keyOf({ node, instance });
    const log = here.get(key);
    // Samples from an earlier epoch of the DAC are not in the ledger of this one.
    const isSame = log?.name === logName(String(answer.epoch), Number(topic));
    accounts.set(key, accountOf(ledger, isSame ? log.received : 0));
  }
  return accounts;
}

/** Every sample taken is received, or has a cause. */
function accountOf(ledger: Fields, here: number): DacAccount {
  const [received, missing] = [whole(ledger.received), whole(ledger.missing)];
  const causes = new Map<string, number>();
  const add = (word: string, count: number) => {
    const cause = lossCause(word)?.cause ?? word;
    if (count > 0) causes.set(cause, (causes.get(cause) ?? 0) + count);
  };
  const totals = isFields(ledger.causes) ? Object.entries(ledger.causes) : [];
  for (const [cause, count] of totals) add(cause, whole(count));
  const stored = whole(ledger.stored_before);
  add('stored_before', stored);
  // The DAC detects a gap with the batch after it. Until then these samples may still arrive.
  const taken = isFields(ledger.node) ? whole(ledger.node.taken) : 0;
  const toCome = Math.max(0, taken - whole(ledger.last_sequence));
  add('to_come', toCome);
  return {
    taken: received + missing + stored + toCome,
    received,
    here,
    rest: [...causes].sort(([, a], [, b]) => b - a),
    gaps: listOf(ledger.gaps).slice(-GAPS).reverse().map(gapOf),
  };
}

function gapOf(gap: Fields): LedgerGap {
  return {
    from: whole(gap.from_sequence),
    to: whole(gap.to_sequence),
    count: whole(gap.count),
    cause: String(gap.cause),
    time: whole(gap.time) / 1e6,
  };
}

/** Returns a count; 0 for anything else. */
function whole(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
