import { useState } from 'preact/hooks';

let last = 0;

/** An id for this page: Preact's own are unique only within one root, and each docked panel is one. */
export function useUniqueId(): string {
  return useState(() => {
    last++;
    return `id-${last}`;
  })[0];
}
