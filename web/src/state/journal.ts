import { computed, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { strings } from '../strings/strings.ts';

/** The command journal of the DAC. */
export interface JournalEntry {
  /** Milliseconds since 1970, DAC's clock. */
  readonly time: number;
  readonly who: string;
  readonly what: string;
  readonly outcome: string;
  readonly isDone: boolean;
}

const MAX_ENTRIES = 50;
/** Who gives the commands that follow from rates on demand, in place of a name. */
const DEMAND = 'demand';

/** All that the DAC remembers, newest first. */
const journal = signal<readonly JournalEntry[]>([]);
/** Whether commands that follow from rates on demand are listed, too. */
export const isDemandListed = signal(false);
/** The newest commands that are listed, newest first. */
export const listedCommands = computed(() => listed(journal.value, isDemandListed.value));

/** Returns the newest commands; those that nobody has given only if they are wanted. */
export function listed(entries: readonly JournalEntry[], isWithDemand: boolean): JournalEntry[] {
  return entries.filter(({ who }) => isWithDemand || who !== DEMAND).slice(0, MAX_ENTRIES);
}

export async function readJournal(): Promise<void> {
  try {
    const { commands } = (await fetchJson('GET', 'commands')) as { commands: Record<string, unknown>[] };
    journal.value = commands.reverse().map(entryOf);
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
