import { signal } from '@preact/signals';
import { strings } from '../strings.ts';
import { ask } from './api.ts';

/** The command journal of the DAC. */
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
    // The journal stays as it was; the banner reports the lost connection.
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
