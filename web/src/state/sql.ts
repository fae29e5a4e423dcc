import { fetchJson } from '../api/api.ts';
import { askWhenFree } from '../api/ask_when_free.ts';
import { nanos, withParameters } from '../sql/parameters.ts';
import { parseResult, parseTables, type SqlResult, type SqlTable } from '../sql/result.ts';
import { ends } from './time.ts';

/** The DAC ends a query after 10 s. */
const PATIENCE_MS = 15_000;

/** An answer, with the time that was shown when the query ran. */
export interface SqlAnswer {
  readonly result: SqlResult;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** Runs a query with the time shown. Throws an error whose message is shown on the page. */
export async function runQuery(query: string, signal: AbortSignal): Promise<SqlAnswer> {
  const [from, to] = ends();
  const text = withParameters(query, { from: nanos(from), to: nanos(to) });
  const answer = await askWhenFree('sql', {
    body: { query: text, integers: 'string' },
    signal,
    patience: PATIENCE_MS,
  });
  const result = parseResult(answer);
  if (!result) throw new Error('the answer of the DAC is no table');
  return { result, at: Date.now(), from, to };
}

/** The tables that may be queried. */
export async function readTables(signal: AbortSignal): Promise<SqlTable[]> {
  return parseTables(await fetchJson('GET', 'sql', { signal }));
}
