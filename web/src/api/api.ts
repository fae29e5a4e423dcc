import { strings } from '../strings/strings.ts';
import { fetchWithToken } from '../wire/csrf.ts';
import { type Fields, isFields } from '../wire/fields.ts';
import { pageRoot } from './page_root.ts';

const words = strings.api;
/** Default timeout; slower requests pass their own. */
const PATIENCE_MS = 20_000;

export interface Asking {
  /** Bytes, or what is sent as JSON. */
  readonly body?: Blob | object;
  readonly headers?: Record<string, string>;
  /** Receives the headers of an answer that is no refusal. */
  readonly onHeaders?: (headers: Headers) => void;
  /** Cancels the request. */
  readonly signal?: AbortSignal;
  /** Timeout in milliseconds. */
  readonly patience?: number;
}

/** The DAC refused a request; the message is shown on the page. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** Problem code of http-api.md, such as `no_archive`; empty without one. */
    readonly code: string,
    /** Status of HTTP. */
    readonly status = 0,
    /** The whole problem, with members of its own. */
    readonly problem: Fields = {},
  ) {
    super(message);
  }
}

/** Sends a request to the DAC; returns the JSON of the response, if any. Throws an error whose message is shown on the page. */
export async function fetchJson(method: string, path: string, asking: Asking = {}): Promise<unknown> {
  const { body, headers = {}, signal, patience = PATIENCE_MS } = asking;
  const [answer, text] = await fetched(path, {
    method,
    headers,
    body: body instanceof Blob ? body : body && JSON.stringify(body),
    cache: 'no-store',
    signal: bounded(patience, signal),
  });
  if (!answer.ok) throw refusalOf(answer.status, text);
  asking.onHeaders?.(answer.headers);
  return text === '' ? undefined : JSON.parse(text);
}

/** Opens a response whose body does not end. Throws like {@link fetchJson}, also if no head arrives within `patience`. */
export async function askStream(
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  patience = PATIENCE_MS,
): Promise<ReadableStream<Uint8Array>> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException(words.late, 'TimeoutError')), patience);
  try {
    const answer = await fetch(new URL(`api/v1/${path}`, pageRoot()), {
      headers,
      cache: 'no-store',
      signal: AbortSignal.any([signal, late.signal]),
    });
    if (!answer.ok) throw refusalOf(answer.status, await answer.text());
    if (!answer.body) throw new Error(words.unreachable);
    return answer.body;
  } finally {
    clearTimeout(timer);
  }
}

function refusalOf(status: number, text: string): Refusal {
  const problem = problemOf(text);
  const { type, detail } = problem;
  const code = String(type ?? '').replace('/problems/', '');
  return new Refusal(typeof detail === 'string' ? detail : `HTTP ${status}`, code, status, problem);
}

/** Returns the response and its text; both may time out or fail. */
async function fetched(path: string, request: RequestInit): Promise<[Response, string]> {
  try {
    const answer = await fetchWithToken(new URL(`api/v1/${path}`, pageRoot()), request);
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
