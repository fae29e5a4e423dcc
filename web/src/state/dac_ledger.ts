import { computed, signal } from '@preact/signals';
import { type Fields, isFields, listOf } from '../fields.ts';
import { type LossView, logName } from '../stream/ledger.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { ask } from './api.ts';
import { shownTargets } from './panels.ts';
import { reread } from './reread.ts';
import { cellsOf } from './store.ts';

/** A stretch of samples that the DAC did not get. */
export interface LedgerGap {
  /** First and last sequence number, in the run of the node that they were taken in. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly cause: string;
  /** When the DAC noticed, milliseconds by its clock. */
  readonly time: number;
}

/** The DAC's books of one instance (http-api.md, "instance"), as far as the page shows them. */
export interface DacAccount {
  /** Samples that the probe took, in all runs of the node that this DAC has met. */
  readonly taken: number;
  /** Of them, those that the DAC has. */
  readonly received: number;
  /** Of these, those that had come to this page when the DAC was asked: never more than the DAC says it has. */
  readonly here: number;
  /**
   * What became of the others: causes as the DAC calls them, or `to_come` (behind the last sample it has), `stored_before` (by an
   * earlier life of the DAC). Most first.
   */
  readonly rest: readonly (readonly [cause: string, count: number])[];
  /** The latest, newest first; of the cause that was asked for, if one was. */
  readonly gaps: readonly LedgerGap[];
}

/** Causes as the DAC calls them. */
export const CAUSES = [
  'ring_full',
  'invalid_row',
  'spool_full',
  'kept_back',
  'network',
  'node_restart',
  'before_epoch',
  'not_recorded',
  'unexplained',
] as const;
export type DacCause = (typeof CAUSES)[number];

/** What of the ledger is shown: instances whose name or node has this text, and those that miss samples for a cause. */
export const ledgerFilter = signal<{ readonly name: string; readonly cause: DacCause | '' }>({
  name: '',
  cause: '',
});

/** By `keyOf`. They stay when the DAC cannot be asked: that there is no connection is said elsewhere. */
export const dacAccounts = signal<ReadonlyMap<string, DacAccount>>(new Map());

/** What is watched and gets through the filter by its name. */
const named = computed(() => {
  const words = ledgerFilter.value.name.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return shownTargets.value.filter(({ node, instance }) => {
    const text = `${node} ${instance}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
});

/** What is watched and gets through the whole filter. */
export const ledgerTargets = computed(() => {
  const { cause } = ledgerFilter.value;
  if (cause === '') return named.value;
  return named.value.filter((target) =>
    dacAccounts.value.get(keyOf(target))?.rest.some(([of]) => of === cause),
  );
});

const REREAD_MS = 2000;
const GAPS = 5;
/** Beyond so many nodes one answer for all of them is less work than one for each. */
const NODES_ASKED = 4;

/** Reads the DAC's books now and from time to time; returns what ends that. Reads signals: what is asked for. */
export function followDacLedger(): () => void {
  const targets = named.value;
  const questions = questionsFor(targets, ledgerFilter.value.cause);
  return reread((signal) => readDacLedger(questions, targets, signal), REREAD_MS);
}

/** Queries that together have the ledgers of all these: of an instance, of a node, or of everything. */
export function questionsFor(targets: readonly Target[], cause: DacCause | ''): string[] {
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
  // Before the DAC answers: what comes while it does is in no book yet.
  const here = new Map(targets.map((target) => [keyOf(target), cellsOf(target).loss.peek()?.log]));
  try {
    const answers = await Promise.all(
      questions.map(async (question) => {
        const answer = await ask('GET', `ledger?${question}`, { signal });
        return [...parseDacLedger(answer, here)];
      }),
    );
    dacAccounts.value = new Map(answers.flat());
  } catch {
    // They stay as they were.
  }
}

/** The answer to `GET /api/v1/ledger`; what is no instance's ledger is left out. `here` is what had come from which log, by `keyOf`. */
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
    // What came from another life of the DAC is not in the books of this one.
    const isSame = log?.name === logName(String(answer.epoch), Number(topic));
    accounts.set(key, accountOf(ledger, isSame ? log.received : 0));
  }
  return accounts;
}

/** Every sample taken is received, or has a cause. */
function accountOf(ledger: Fields, here: number): DacAccount {
  const [received, missing] = [whole(ledger.received), whole(ledger.missing)];
  const causes = new Map<string, number>();
  const add = (cause: string, count: number) => {
    if (count > 0) causes.set(cause, count);
  };
  const totals = isFields(ledger.causes) ? Object.entries(ledger.causes) : [];
  for (const [cause, count] of totals) add(cause, whole(count));
  const stored = whole(ledger.stored_before);
  add('stored_before', stored);
  // The DAC sees a gap with the batch behind it: until then nobody can say which of them will come.
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

/** A count; 0 for what is none. */
function whole(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
