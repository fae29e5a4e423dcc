import type { InstanceEntry } from '../stream/protocol.ts';
import type { Target } from '../stream/view.ts';

/** What is watched, as text: in the address (to share and to reload) and in the browser's memory (to come back to). */

const STORED = 'oasis.watch';
const PREFIX = '#watch=';
const WANTED = ['Processor', 'Memory'];

export function encodeChoice(choice: readonly Target[]): string {
  const parts = choice.map(
    ({ node, instance }) => `${encodeURIComponent(node)}/${encodeURIComponent(instance)}`,
  );
  return PREFIX + parts.join(',');
}

/** Nothing if the text says nothing about a choice; an empty list if it says that nothing is watched. */
export function decodeChoice(text: string): Target[] | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const targets: Target[] = [];
  for (const part of text.slice(PREFIX.length).split(',')) {
    const [node, instance] = part.split('/');
    if (!node || !instance) continue;
    try {
      targets.push({ node: decodeURIComponent(node), instance: decodeURIComponent(instance) });
    } catch {
      // A mistyped address: the rest of it may be right.
    }
  }
  return targets;
}

/** Something useful for a first look: a processor and a memory, else whatever there is. */
export function defaultChoice(instances: readonly InstanceEntry[]): Target[] {
  const online = instances.filter((entry) => entry.state === 'online');
  const found = WANTED.map((name) => online.find((entry) => entry.type.includes(name)));
  const chosen = found.filter((entry) => entry !== undefined);
  return (chosen.length > 0 ? chosen : online.slice(0, 1)).map(({ node, instance }) => ({ node, instance }));
}

/** Whether waiting a moment longer cannot make the default better. */
export function isComplete(chosen: readonly Target[]): boolean {
  return chosen.length === WANTED.length;
}

export function loadChoice(): Target[] | undefined {
  return decodeChoice(location.hash) ?? decodeChoice(read());
}

export function saveChoice(choice: readonly Target[]): void {
  const text = encodeChoice(choice);
  // Replacing keeps the back button for leaving the page.
  history.replaceState(null, '', text);
  try {
    localStorage.setItem(STORED, text);
  } catch {
    // No memory allowed: the address still has it.
  }
}

function read(): string {
  try {
    return localStorage.getItem(STORED) ?? '';
  } catch {
    return '';
  }
}
