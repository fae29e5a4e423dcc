import { computed } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { type Fields, isFields, listOf } from '../wire/fields.ts';
import { who } from './session.ts';

/** A record of the audit log (audit-log.md). */
export interface AuditRecord {
  readonly seq: number;
  readonly time: string;
  readonly principal: string;
  readonly action: string;
  readonly target: string;
  /** JSON; empty without arguments. */
  readonly details: string;
  readonly result: string;
}

/** Some records, newest first, and where older ones follow. */
export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Undefined at the beginning of the log. */
  readonly next: number | undefined;
}

export interface AuditFilter {
  readonly principal: string;
  readonly action: string;
  readonly result: string;
  readonly from: string;
}

/** Whether the chain of the log is whole. */
export interface AuditCheck {
  readonly isIntact: boolean;
  readonly records: number;
  /** `SEQ:HASH` of the newest record. */
  readonly head: string;
  readonly finding: string;
}

const PAGE = 50;
/** A check reads the whole log. */
const CHECK_PATIENCE_MS = 120_000;

/** Whether the user may read the log. The DAC decides again at each request. */
export const mayReadAuditLog = computed(() => who.value?.verbs.includes('administration') ?? false);

/** Reads a page of records. */
export async function readAuditLog(filter: AuditFilter, before?: number): Promise<AuditPage> {
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const [name, value] of Object.entries(filter)) if (value.trim() !== '') query.set(name, value.trim());
  if (before !== undefined) query.set('before', String(before));
  return parsePage(await fetchJson('GET', `audit-log?${query}`));
}

/** Checks the chain of the log. */
export async function checkAuditLog(): Promise<AuditCheck> {
  const answer = await fetchJson('GET', 'audit-log/check', { patience: CHECK_PATIENCE_MS });
  const { intact, records, head, findings } = isFields(answer) ? answer : ({} as Fields);
  const [finding] = Array.isArray(findings) ? findings : [];
  return {
    isIntact: intact === true,
    records: Number(records ?? 0),
    head: text(head),
    finding: text(finding),
  };
}

/** Returns the records in an answer, without entries that have no number. */
export function parsePage(answer: unknown): AuditPage {
  if (!isFields(answer)) return { records: [], next: undefined };
  const records = listOf(answer.records).flatMap((entry) => {
    const { seq, time, principal, action, target, arguments: details, result } = entry;
    if (typeof seq !== 'number') return [];
    return [
      {
        seq,
        time: text(time),
        principal: text(principal),
        action: text(action),
        target: text(target),
        details: details === null || details === undefined ? '' : JSON.stringify(details),
        result: text(result),
      },
    ];
  });
  return { records, next: typeof answer.next === 'number' ? answer.next : undefined };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
