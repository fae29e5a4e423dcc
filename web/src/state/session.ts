import { computed, effect, signal } from '@preact/signals';
import { useToken } from '../csrf.ts';
import { isFields } from '../fields.ts';
import { ask } from './api.ts';
import { reread } from './reread.ts';
import { isConnected } from './store.ts';

/** Who uses the page, as the DAC sees it. */
export interface Who {
  /** `local`, `person`, `program` or `stranger`. */
  readonly kind: string;
  readonly name: string;
  readonly verbs: readonly string[];
}

/** Undefined until the DAC has answered. */
export const who = signal<Who | undefined>(undefined);

/** Whether somebody must sign in before the page shows anything. */
export const mustSignIn = computed(() => {
  const verbs = who.value?.verbs;
  return verbs !== undefined && !verbs.includes('read-live') && !verbs.includes('read-past');
});

const REREAD_MS = 5000;

/** Keeps {@link who} up to date: at first, after each connection, and while there is none. */
export function followSession(): void {
  effect(() => {
    const look = async (signal: AbortSignal) => {
      const answer = await ask('GET', 'session', { signal }).catch(() => undefined);
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
  const answer = await ask('POST', 'session', { body: { name, password } });
  if (isFields(answer) && typeof answer.csrf_token === 'string') useToken(answer.csrf_token);
  location.reload();
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  await ask('DELETE', 'session');
  location.reload();
}

export function whoIn(answer: unknown): Who | undefined {
  if (!isFields(answer)) return undefined;
  const { kind, name, verbs } = answer;
  if (typeof kind !== 'string' || typeof name !== 'string' || !Array.isArray(verbs)) return undefined;
  return { kind, name, verbs: verbs.filter((verb) => typeof verb === 'string') };
}
