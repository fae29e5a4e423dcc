import { dacCommands, layoutEntries, prepareDac } from './dac_entries.ts';
import type { PaletteEntry, PaletteSource } from './entry.ts';
import { helpEntries, prepareHelp } from './help_entries.ts';
import {
  controlEntries,
  instanceEntries,
  metricEntries,
  nodeEntries,
  prepareInstances,
} from './instances.ts';
import { pageCommands } from './page_commands.ts';
import { addPanelEntries, openPanelEntries } from './panel_entries.ts';

/** The sources of the palette, in the order of their entries while nothing is typed. */
const SOURCES: readonly PaletteSource[] = [
  { name: 'open panels', entries: openPanelEntries },
  { name: 'page', entries: pageCommands },
  { name: 'dashboards', entries: layoutEntries, prepare: prepareDac },
  { name: 'panels', entries: addPanelEntries },
  { name: 'dac', entries: dacCommands },
  { name: 'instances', entries: instanceEntries, prepare: prepareInstances },
  { name: 'metrics', entries: metricEntries },
  { name: 'controls', entries: controlEntries },
  { name: 'nodes', entries: nodeEntries },
  { name: 'help', entries: helpEntries, prepare: prepareHelp },
];

/** All entries, one after another as they are read. */
export function* allEntries(): Iterable<PaletteEntry> {
  for (const { entries } of SOURCES) yield* entries();
}

/** Loads what entries need. A source that fails has the entries that it has. */
export async function prepareAll(): Promise<void> {
  await Promise.allSettled(SOURCES.map(({ prepare }) => prepare?.()));
}
