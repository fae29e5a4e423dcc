import { computed, effect, signal } from '@preact/signals';
import { pageRoot } from '../api/page_root.ts';
import { bounded } from '../going_on/hand_over.ts';
import { placesToTry, waitBefore } from '../going_on/rules.ts';
import { layoutFragment } from '../layout/saved.ts';
import { trailNow } from '../state/arrival.ts';
import { dacList, ownDac } from '../state/dacs.ts';
import { firstAlive, otherPages } from '../state/other_pages.ts';
import { connection } from '../state/store.ts';
import { addressWith, pageAddress, temLocation } from '../state/tem_location.ts';
import { range } from '../state/time.ts';
import type { StreamClient } from '../stream/client.ts';

/** The page goes on at another DAC by itself when its own has ended (docs/guides/survive-the-end-of-a-dac.md). */

/** What it does about a lost DAC: nothing, wait for it, look for another one, open that, or stay after too many moves. */
export type GoingOn =
  | { readonly step: 'none' | 'waiting' | 'looking' | 'staying' }
  | { readonly step: 'opening'; readonly name: string };

export const goingOn = signal<GoingOn>({ step: 'none' });

const STORED = 'oasis.stay';

/** Whether the person wants the page to stay at its DAC, whatever happens. */
export const mustStay = signal(stored());

/** Pause before the next look if no other DAC works, milliseconds; half of it by chance. */
const AGAIN_MS = 2000;
/** Time for the page's own DAC to answer. */
const OWN_MS = 1000;

/** A past that the page has in its memory would be gone at another DAC. */
export const isPaused = computed(() => !range.value.live);

const isLost = computed(() => connection.value.phase === 'reconnecting');
const mayGoOn = computed(
  () => isLost.value && otherPages.value.length > 0 && !mustStay.value && !isPaused.value,
);

/** Name of the DAC that this page comes from, or its address. */
export const ownName = computed(() => ownDac.value ?? location.host);

export function stay(isWanted: boolean): void {
  mustStay.value = isWanted;
  try {
    if (isWanted) localStorage.setItem(STORED, 'yes');
    else localStorage.removeItem(STORED);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

/** Goes on at another DAC whenever the page has lost its own for a while, and as long as it may. Returns a function that ends this. */
export function goOnWhenLost(client: StreamClient): () => void {
  return effect(() => {
    if (!mayGoOn.value) return;
    const end = new AbortController();
    void goOn(client, end.signal);
    return () => {
      end.abort();
      goingOn.value = { step: 'none' };
    };
  });
}

async function goOn(client: StreamClient, end: AbortSignal): Promise<void> {
  const wait = waitBefore(trailNow(), Date.now(), Math.random);
  if (wait === undefined) {
    goingOn.value = { step: 'staying' };
    return;
  }
  goingOn.value = { step: 'waiting' };
  for (let pause = wait; ; pause = AGAIN_MS * (0.5 + Math.random() / 2)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (end.aborted) return;
    goingOn.value = { step: 'looking' };
    const places = placesToTry(otherPages.peek(), trailNow(), location.origin, Date.now(), Math.random);
    const [isOwnAlive, found] = await Promise.all([isAlive(), firstAlive(places)]);
    if (end.aborted) return;
    // A DAC that works, but to which no door leads, is no reason to leave it.
    if (!isOwnAlive && found !== undefined && (await open(client, found, end))) return;
  }
}

/** Opens the page of another DAC. Returns whether it did. */
async function open(client: StreamClient, address: string, end: AbortSignal): Promise<boolean> {
  const page = otherPages.peek().find((known) => known.address === address);
  if (page === undefined) return false;
  goingOn.value = { step: 'opening', name: page.name };
  const at = Date.now();
  const trail = [...trailNow(), { address: location.origin, at }];
  const positions = await client.positions();
  const fragment = await layoutFragment(bounded({ from: ownName.peek(), at, trail, positions }));
  if (end.aborted) return true;
  // The entry of a DAC that has ended would be of no use in the history.
  location.replace(addressWith(`${address}/`, fragment, knownTem()));
  return true;
}

/** Where the next page finds the list of DACs: at the TEM that this page knows, or at this DAC once it is back. */
function knownTem(): string | undefined {
  const isListed = (dacList.peek()?.dacs.length ?? 0) > 1;
  return temLocation.peek() ?? (isListed ? pageAddress() : undefined);
}

async function isAlive(): Promise<boolean> {
  try {
    const alive = new URL('alive', pageRoot());
    return (await fetch(alive, { cache: 'no-store', signal: AbortSignal.timeout(OWN_MS) })).ok;
  } catch {
    return false;
  }
}

function stored(): boolean {
  try {
    return localStorage.getItem(STORED) === 'yes';
  } catch {
    return false;
  }
}
