import { computed, effect, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { pageRoot } from '../api/page_root.ts';
import type { OtherPage } from '../going_on/rules.ts';
import { Scouts } from '../scout/scouts.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { reread } from './reread.ts';
import { mustSignIn } from './session.ts';
import { isConnected } from './store.ts';
import { openable } from './tem_location.ts';

/** Where this page can go on when its DAC has ended, as the DAC has said last. It stays while the DAC does not answer. */
export const otherPages = signal<readonly OtherPage[]>([]);

const REREAD_MS = 5000;
/** Bound of a DAC: docs/reference/http-api.md. */
const MAX_PAGES = 16;
const LONGEST_NAME = 100;
/** What a policy can name. Browsers take more for a host, such as a space. */
const ORIGIN = /^https?:\/\/[a-z0-9.-]+(:[0-9]+)?$/;

const scouts = new Scouts(
  () => new Worker(new URL('api/v1/other-pages/scout.js', pageRoot()), { type: 'module' }),
);

const mayAsk = computed(() => isConnected.value && !mustSignIn.value);

/** Keeps {@link otherPages} up to date while the page is connected. */
export function followOtherPages(): void {
  effect(() => {
    if (!mayAsk.value) return;
    return reread(async (signal) => {
      // An older DAC has no such list.
      const answer = await fetchJson('GET', 'other-pages', { signal }).catch(() => undefined);
      if (signal.aborted || answer === undefined) return;
      otherPages.value = parseOtherPages(answer);
      scouts.follow(otherPages.value.map(({ address }) => address));
    }, REREAD_MS);
  });
}

/** Returns the first of these addresses at which a DAC works. Only those of {@link otherPages} can be asked. */
export function firstAlive(addresses: readonly string[]): Promise<string | undefined> {
  return scouts.firstAlive(addresses);
}

/** Reads the list of a DAC; what is no origin of a page is left out. */
export function parseOtherPages(answer: unknown): readonly OtherPage[] {
  const entries = isFields(answer) ? listOf(answer.pages).slice(0, MAX_PAGES) : [];
  return entries.flatMap(({ name, address }) => {
    const page = typeof address === 'string' ? openable(address) : undefined;
    if (typeof name !== 'string' || page === undefined) return [];
    const { origin } = new URL(page);
    return ORIGIN.test(origin) ? [{ name: name.slice(0, LONGEST_NAME), address: origin }] : [];
  });
}
