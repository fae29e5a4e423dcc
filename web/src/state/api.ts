import { type Fields, isFields } from '../fields.ts';
import { strings } from '../strings.ts';

const words = strings.api;
/** Beyond what anything takes that the page asks for; where it may be more, whoever asks says so. */
const PATIENCE_MS = 20_000;

export interface Asking {
  readonly body?: object;
  /** Gives it up. */
  readonly signal?: AbortSignal;
  /** Milliseconds until an answer is no longer waited for. */
  readonly patience?: number;
}

/** The DAC said no; the message is for people. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** As in http-api.md, such as `no_archive`; empty if it gave none. */
    readonly code: string,
  ) {
    super(message);
  }
}

/** Asks the DAC by HTTP; returns the JSON it answers with, if any. Throws an error whose message is for people. */
export async function ask(method: string, path: string, asking: Asking = {}): Promise<unknown> {
  const { body, signal, patience = PATIENCE_MS } = asking;
  const [answer, text] = await fetched(path, {
    method,
    body: body && JSON.stringify(body),
    cache: 'no-store',
    signal: bounded(patience, signal),
  });
  if (answer.ok) return text === '' ? undefined : JSON.parse(text);
  const { type, detail } = problemOf(text);
  const code = String(type ?? '').replace('/problems/', '');
  throw new Refusal(typeof detail === 'string' ? detail : `HTTP ${answer.status}`, code);
}

/** The answer and all of its text: it may be late, or break off, with either. */
async function fetched(path: string, request: RequestInit): Promise<[Response, string]> {
  try {
    const answer = await fetch(new URL(`api/v1/${path}`, document.baseURI), request);
    return [answer, await answer.text()];
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    throw new Error(isLate ? words.late : words.unreachable, { cause: error });
  }
}

function bounded(patience: number, signal: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(patience);
  return signal ? AbortSignal.any([signal, late]) : late;
}

function problemOf(text: string): Fields {
  try {
    const problem: unknown = JSON.parse(text);
    return isFields(problem) ? problem : {};
  } catch {
    return {};
  }
}
