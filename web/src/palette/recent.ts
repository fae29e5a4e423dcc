import { storedName } from '../api/page_root.ts';

/** The entries that were used last, over visits. */

const STORED = 'oasis.palette';
const MOST_RECENT = 8;

/** Returns the entries that were used last, newest first. */
export function recentIds(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedName(STORED)) ?? '[]');
    if (!Array.isArray(stored)) return [];
    return stored.filter((id): id is string => typeof id === 'string').slice(0, MOST_RECENT);
  } catch {
    return [];
  }
}

export function remember(id: string): void {
  try {
    const ids = [id, ...recentIds().filter((other) => other !== id)].slice(0, MOST_RECENT);
    localStorage.setItem(storedName(STORED), JSON.stringify(ids));
  } catch {
    // Without storage nothing is remembered.
  }
}
