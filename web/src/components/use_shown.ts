import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { PastState } from '../past/reads.ts';
import type { GapMark } from '../series/causes.ts';
import { AHEAD_MS, isPlaying, speed } from '../state/playback.ts';
import type { InstanceCells } from '../state/store.ts';
import { range } from '../state/time.ts';
import type { SampleView } from '../stream/view.ts';
import type { Target } from '../wire/target.ts';
import { useView } from './use_view.ts';

/** The sample whose values a panel shows. */
export interface ShownSample {
  readonly sample: SampleView | undefined;
  /** The requested time in milliseconds, browser clock; absent for the newest sample. */
  readonly at: number | undefined;
  readonly state: PastState;
  /** The level of the roll-ups that it is made from, if any. */
  readonly level?: string;
  /** The gap in which the time lies: the sample is the last one before it. */
  readonly gap?: GapMark | undefined;
}

interface PastSample {
  readonly to: number;
  readonly sample: SampleView | undefined;
  readonly state: PastState;
  readonly level?: string;
  readonly gap?: GapMark | undefined;
}

/** The newest sample, of an instance that is offline the newest one that is kept; or while the page is paused the one that there was at the end of the time shown. */
export function useShown(target: Target, cells: InstanceCells): ReadonlySignal<ShownSample> {
  const found = useSignal<PastSample | undefined>(undefined);
  const isOnline = useComputed(() => (cells.entry.value?.state ?? 'online') === 'online');
  const isLive = useComputed(() => range.value.live);
  const lasting = useLasting(cells);
  useView(
    () => {
      const isKnown = range.value.live && (isOnline.value || cells.sample.value !== undefined);
      if (isKnown) return undefined;
      return {
        kind: 'moment',
        range: range.value,
        target,
        ...(isPlaying.value && { ahead: AHEAD_MS * speed.value }),
      };
    },
    ({ to, answer }) => {
      if (answer.kind === 'moment') found.value = { to, ...answer };
    },
  );
  useSignalEffect(() => {
    // The earlier result is of another time. Playing, it is one step old.
    void (isPlaying.value ? isLive.value : range.value);
    found.value = undefined;
  });
  return useComputed(() => {
    if (range.value.live)
      return {
        sample: cells.sample.value ?? found.value?.sample,
        at: undefined,
        state: 'ready',
        gap: lasting.value,
      };
    const at = range.value.to;
    const known = found.value;
    // The last values stay until the answer arrives.
    if (!known) return { sample: cells.sample.peek(), at, state: 'reading' };
    // Every step of a playback is answered before the next one: what is shown is of one moment.
    if (isPlaying.value) return { ...known, at: known.to };
    return { ...known, at, state: known.to === at ? known.state : 'reading' };
  });
}

/** The time since the newest sample of an instance that is silent, stopped or gone; its end is not followed. */
function useLasting(cells: InstanceCells): ReadonlySignal<GapMark | undefined> {
  const known = useRef<GapMark | undefined>(undefined);
  return useComputed(() => {
    const gap = cells.flow.value?.lasting;
    // The flow changes four times a second: what shows it is drawn again only for another gap.
    if (gap?.from !== known.current?.from || gap?.cause !== known.current?.cause) known.current = gap;
    return known.current;
  });
}
