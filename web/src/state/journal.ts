import { signal } from '@preact/signals';
import { strings } from '../strings.ts';
import { ask } from './api.ts';

/** Who gave which command, as the DAC wrote it down. */
export interface JournalEntry {
  /** Milliseconds since 1970, DAC's clock. */
  readonly time: number;
  readonly who: string;
  readonly what: string;
  readonly outcome: string;
  readonly isDone: boolean;
}

const SHOWN = 50;

/** Newest first. */
export const journal = signal<readonly JournalEntry[]>([]);

export async function readJournal(): Promise<void> {
  try {
    const { commands } = (await ask('GET', 'commands')) as { commands: Record<string, unknown>[] };
    journal.value = commands.slice(-SHOWN).reverse().map(entryOf);
  } catch {
    // It stays as it was; that there is no connection is said elsewhere.
  }
}

function entryOf(fields: Record<string, unknown>): JournalEntry {
  const { time, who, node, instance, command, outcome, hertz, min, max } = fields;
  const numbers = [hertz, min, max].filter((value) => typeof value === 'number').join(' \u2013 ');
  return {
    time: Number(time) / 1e6,
    who: String(who),
    what: strings.control.entry(String(command), numbers, String(instance), String(node)),
    outcome: String(outcome),
    isDone: outcome === 'done' || outcome === 'pending',
  };
}
