import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { unknownNames } from '../state/unknown.ts';

/** A node may register its instances a moment after the page has connected. */
const PATIENCE_MS = 2000;

const note = signal<FunctionComponent | undefined>(undefined);
const isShown = signal(false);

/** Shows {@link UnknownNote} once something has been unknown for a while. Few visits need its code. */
export function UnknownGate() {
  const isUnknown = unknownNames.value.length > 0;
  useEffect(() => {
    if (!isUnknown) return;
    const timer = setTimeout(() => {
      isShown.value = true;
      void import('./unknown_note.tsx').then(({ UnknownNote }) => {
        note.value = UnknownNote;
      });
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      isShown.value = false;
    };
  }, [isUnknown]);
  const Note = note.value;
  return isShown.value && Note ? <Note /> : null;
}
