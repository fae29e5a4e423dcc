import { computed, signal } from '@preact/signals';
import { pageRoot } from '../api/page_root.ts';

/**
 * The TEM that lists this DAC, if the page knows one. A browser lets the page ask only the DAC that it came from, so this is
 * an address to open: the page of that TEM shows the list.
 */

const STORED = 'oasis.tem';
const CHOSEN = 'oasis.dac';
const HANDED_OVER = '#tem=';
const MAX_ADDRESS_LENGTH = 300;

/** Typed by the user: kept in this browser. */
const typed = signal(stored('local', STORED));
/** Named by the link that led here: kept for this tab alone, because anybody can write a link. */
const handedOver = signal(stored('session', STORED));

export const temLocation = computed(() => typed.value ?? handedOver.value);
/** Whether the user has typed it, and not a link. */
export const isTyped = computed(() => typed.value !== undefined);

/** Name of the DAC that was opened last from this page. */
export const chosenDac = signal(stored('local', CHOSEN));

/** Takes the location of the TEM out of the address of the page; the rest of the fragment stays. */
export function takeTemLocation(): void {
  const { hash, pathname, search } = location;
  const found = splitFragment(hash);
  if (!found) return;
  history.replaceState(null, '', pathname + search + found.rest);
  if (found.tem === undefined) return;
  handedOver.value = found.tem;
  store('session', STORED, found.tem);
}

/** Keeps the TEM that the user has typed; undefined forgets every location. */
export function chooseTem(location: string | undefined): void {
  typed.value = location;
  if (location === undefined) {
    handedOver.value = undefined;
    store('session', STORED, undefined);
  }
  store('local', STORED, location);
}

export function rememberDac(name: string): void {
  chosenDac.value = name;
  store('local', CHOSEN, name);
}

/** Address of this page without its fragment. */
export function pageAddress(): string {
  return pageRoot().href;
}

/** Reads an address as people type it: `tem.example.org:7000` is as good as a URL. Undefined if it is none. */
export function parseTemLocation(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return openable(trimmed.includes('://') ? trimmed : `http://${trimmed}`);
}

/** Returns the address of a page; undefined unless a link may lead there. */
export function openable(text: string): string | undefined {
  if (text.length > MAX_ADDRESS_LENGTH || !URL.canParse(text)) return undefined;
  const { protocol, username, password, origin, pathname } = new URL(text);
  const isPage = protocol === 'http:' || protocol === 'https:';
  return isPage && username === '' && password === '' ? origin + pathname : undefined;
}

/** Address of another page that shows this layout, and knows where the list of DACs is. */
export function addressWith(page: string, layout: string, tem?: string): string {
  const parts = [
    ...(tem === undefined ? [] : [`${HANDED_OVER.slice(1)}${encodeURIComponent(tem)}`]),
    ...(layout === '' ? [] : [layout.replace(/^#/, '')]),
  ];
  return parts.length === 0 ? page : `${page}#${parts.join('&')}`;
}

/** Splits the location of a TEM from the rest of a fragment; undefined if the fragment has none. */
export function splitFragment(hash: string): { tem: string | undefined; rest: string } | undefined {
  if (!hash.startsWith(HANDED_OVER)) return undefined;
  const [tem = '', ...others] = hash.slice(HANDED_OVER.length).split('&');
  const rest = others.length === 0 ? '' : `#${others.join('&')}`;
  try {
    return { tem: parseTemLocation(decodeURIComponent(tem)), rest };
  } catch {
    return { tem: undefined, rest };
  }
}

function storageOf(kind: 'local' | 'session'): Storage {
  return kind === 'local' ? localStorage : sessionStorage;
}

function stored(kind: 'local' | 'session', key: string): string | undefined {
  try {
    const text = storageOf(kind).getItem(key) ?? undefined;
    return key === STORED && text !== undefined ? parseTemLocation(text) : text;
  } catch {
    return undefined;
  }
}

function store(kind: 'local' | 'session', key: string, text: string | undefined): void {
  try {
    if (text === undefined) storageOf(kind).removeItem(key);
    else storageOf(kind).setItem(key, text);
  } catch {
    // Without storage it lasts until the page is closed.
  }
}
