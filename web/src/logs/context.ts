import { type LogRecord, searchRecords } from './search.ts';

/** Records before and after one. */
const AROUND = 10;

/** Reads the records of the same instance around one, oldest first. */
export async function readAround(
  record: LogRecord,
  signal: AbortSignal,
  read = searchRecords,
): Promise<readonly LogRecord[]> {
  const filter = { text: '', level: '', fields: [], targets: [record] };
  // Numbers of JSON are a few hundred nanoseconds off: some more is read on both sides.
  const margin = 1_000n;
  const [before, after] = await Promise.all([
    read({ ...filter, until: record.nanos + margin }, AROUND + 5, undefined, signal),
    read({ ...filter, from: record.nanos - margin, order: 'oldest' }, AROUND + 5, undefined, signal),
  ]);
  const all = new Map([...before.records, ...after.records, record].map((each) => [each.key, each]));
  const sorted = [...all.values()].sort(compare);
  const at = sorted.findIndex(({ key }) => key === record.key);
  return sorted.slice(Math.max(0, at - AROUND), at + AROUND + 1);
}

function compare(one: LogRecord, other: LogRecord): number {
  if (one.nanos !== other.nanos) return one.nanos < other.nanos ? -1 : 1;
  return Number(one.sequence) - Number(other.sequence);
}
