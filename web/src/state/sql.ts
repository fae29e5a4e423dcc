import { nanos, withParameters } from '../sql/parameters.ts';
import { parseResult, parseTables, type SqlResult, type SqlTable } from '../sql/result.ts';
import { ask, Refusal } from './api.ts';
import { ends } from './time.ts';

/** The DAC ends a query after 10 s. */
const PATIENCE_MS = 15_000;
/** Status of a query that is refused because others run, and how often it is tried. */
const BUSY = 429;
const ATTEMPTS = 6;
const PAUSE_MS = 400;

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
  const answer = await askWhenFree({ query: text, integers: 'string' }, signal);
  const result = parseResult(answer);
  if (!result) throw new Error('the answer of the DAC is no table');
  return { result, at: Date.now(), from, to };
}

/** The DAC runs a few queries at once, and panels of a layout begin together: one that is refused for that waits. */
async function askWhenFree(body: object, signal: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask('POST', 'sql', { body, signal, patience: PATIENCE_MS });
    } catch (error) {
      const isBusy = error instanceof Refusal && error.status === BUSY;
      if (!isBusy || attempt >= ATTEMPTS || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, attempt * PAUSE_MS));
      signal.throwIfAborted();
    }
  }
}

/** The tables that may be queried. */
export async function readTables(signal: AbortSignal): Promise<SqlTable[]> {
  return parseTables(await ask('GET', 'sql', { signal }));
}
