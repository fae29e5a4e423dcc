import { signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { reread } from './reread.ts';

/** The state of a handler of the DAC (http-api.md, "handlers"). */
export interface HandlerStatus {
  readonly name: string;
  /** `running`, `backing_off`, `stopped`, `failed`, or a word of a newer DAC; empty if the DAC reports none. */
  readonly condition: string;
  /** What the handler reports of its own work, such as `storing`; empty if it reports nothing. */
  readonly activity: string;
  /** The latest problem in one line; empty if there is none. */
  readonly detail: string;
  readonly restarts: number;
}

/** All handlers, in the order of the API. They stay as they were while the DAC does not answer. */
export const handlers = signal<readonly HandlerStatus[]>([]);

const REREAD_MS = 5000;
const MAX_HANDLERS = 100;

/** Reads the handlers now and from time to time. Returns a function that ends it. */
export function followHandlers(): () => void {
  return reread(async (signal) => {
    const answer = await fetchJson('GET', 'handlers', { signal }).catch(() => undefined);
    if (answer !== undefined) handlers.value = parseHandlers(answer);
  }, REREAD_MS);
}

/** Returns the handlers in the answer to `GET /api/v1/handlers`, without entries that have no name. */
export function parseHandlers(answer: unknown): readonly HandlerStatus[] {
  if (!isFields(answer)) return [];
  return listOf(answer.handlers)
    .slice(0, MAX_HANDLERS)
    .flatMap(({ name, condition, detail, restarts, state }) => {
      if (typeof name !== 'string' || name === '') return [];
      const own = isFields(state) ? state : {};
      return [
        {
          name,
          condition: text(condition),
          activity: text(own.condition),
          detail: firstLine(text(detail) || text(own.detail)),
          restarts: typeof restarts === 'number' && restarts > 0 ? restarts : 0,
        },
      ];
    });
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function firstLine(text: string): string {
  return text.trim().split(/\r?\n/, 1)[0];
}
