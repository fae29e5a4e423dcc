import { computed, effect, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { strings } from '../strings/strings.ts';
import { useToken } from '../wire/csrf.ts';
import { isFields } from '../wire/fields.ts';
import { reread } from './reread.ts';
import { isConnected } from './store.ts';

const words = strings.session;

/** Who uses the page, as the DAC sees it. */
export interface Who {
  /** `local`, `person`, `program` or `stranger`. */
  readonly kind: string;
  readonly name: string;
  readonly verbs: readonly string[];
  /** Text of the button for sign-in by a provider of identity; undefined if there is none. */
  readonly provider?: string | undefined;
  /** Whether the DAC keeps alarms. */
  readonly hasAlarms?: boolean;
}

/** Undefined until the DAC has answered. */
export const who = signal<Who | undefined>(undefined);

/** Whether somebody must sign in before the page shows anything. */
export const mustSignIn = computed(() => {
  const verbs = who.value?.verbs;
  return verbs !== undefined && !verbs.includes('read-live') && !verbs.includes('read-past');
});

/** Whether accounts may be shown and changed. */
export const mayAdminister = computed(() => who.value?.verbs.includes('administration') ?? false);

/** Whether rules may be changed. */
export const mayWriteRules = computed(() => who.value?.verbs.includes('rules') ?? false);

/** Whether the archive may be queried with SQL; undefined until the DAC has answered. */
export const mayQuery = computed(() => who.value?.verbs.includes('sql'));

const REREAD_MS = 5000;

/** Keeps {@link who} up to date: at first, after each connection, and while there is none. */
export function followSession(): void {
  effect(() => {
    const look = async (signal: AbortSignal) => {
      const answer = await fetchJson('GET', 'session', { signal }).catch(() => undefined);
      if (answer !== undefined) who.value = whoIn(answer);
    };
    if (!isConnected.value) return reread(look, REREAD_MS);
    const end = new AbortController();
    void look(end.signal);
    return () => end.abort();
  });
}

/** Signs in; the page is loaded again, because another person may see other instances. */
export async function signIn(name: string, password: string): Promise<void> {
  keepToken(await fetchJson('POST', 'session', { body: { name, password } }));
  location.reload();
}

function keepToken(answer: unknown): void {
  if (isFields(answer) && typeof answer.csrf_token === 'string') useToken(answer.csrf_token);
}

const LINK = '#sign-in=';
const FAILED = '#sign-in-failed=';

/** Why the sign-in by the address of the page has failed; empty if it has not. */
export const addressProblem = signal('');

/**
 * Signs in with the code of a link, if the address contains one, and removes it from the address. Another sign-in of the
 * address, in a page that is open, loads the page again.
 */
export async function signInByAddress(): Promise<void> {
  await takeAddress();
  window.addEventListener('hashchange', () => {
    if (location.hash.startsWith(LINK)) void takeAddress().then(() => location.reload());
  });
}

async function takeAddress(): Promise<void> {
  const { hash, pathname, search } = location;
  const isLink = hash.startsWith(LINK);
  if (!isLink && !hash.startsWith(FAILED)) return;
  history.replaceState(null, '', pathname + search);
  if (!isLink) {
    addressProblem.value = words.failed(hash.slice(FAILED.length));
    return;
  }
  try {
    keepToken(await fetchJson('POST', 'session/link', { body: { code: hash.slice(LINK.length) } }));
  } catch (error) {
    addressProblem.value = error instanceof Error ? error.message : String(error);
  }
}

const BEFORE_SIGN_IN = 'oasis.before-sign-in';

/** Keeps the address in this tab while a provider of identity has the window: browsers would send a fragment along. */
export function keepFragment(): void {
  try {
    sessionStorage.setItem(BEFORE_SIGN_IN, location.pathname + location.search + location.hash);
  } catch {
    // Without storage the page begins with the layout that it has saved.
  }
}

/** Puts it back after the sign-in. */
export function restoreFragment(): void {
  try {
    const kept = sessionStorage.getItem(BEFORE_SIGN_IN);
    sessionStorage.removeItem(BEFORE_SIGN_IN);
    if (kept && location.hash === '') history.replaceState(null, '', kept);
  } catch {
    // As without one.
  }
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  await fetchJson('DELETE', 'session');
  location.reload();
}

export function whoIn(answer: unknown): Who | undefined {
  if (!isFields(answer)) return undefined;
  const { kind, name, verbs, provider, alarms } = answer;
  if (typeof kind !== 'string' || typeof name !== 'string' || !Array.isArray(verbs)) return undefined;
  return {
    kind,
    name,
    verbs: verbs.filter((verb) => typeof verb === 'string'),
    provider: typeof provider === 'string' ? provider : undefined,
    hasAlarms: alarms === true,
  };
}
