/** What the command palette finds. */

const ENTRY_KINDS = ['instance', 'metric', 'panel', 'dashboard', 'command', 'control', 'help'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface PaletteEntry {
  /** No other entry has it, and it stays the same over visits: recent entries are remembered by it. */
  readonly id: string;
  readonly kind: EntryKind;
  readonly title: string;
  /** Where it is or what it does: searched, too, with less weight. */
  readonly detail?: string;
  /** Other words for it, which are searched and not shown. */
  readonly words?: string;
  /** The key that does the same. */
  readonly keys?: readonly string[];
  /** Asked before it runs. Without one, it runs at once. */
  readonly sure?: string;
  readonly run?: () => void;
  /** More choices, which the palette shows in place of the list. */
  readonly level?: () => PaletteLevel;
  /** Further actions on the same thing (arrow right). */
  readonly actions?: () => PaletteLevel;
}

/** A list of choices. */
export interface PaletteLevel {
  readonly title: string;
  /** Stands in the empty field. */
  readonly placeholder?: string;
  /** The choices for what somebody has typed. */
  readonly entries: (typed: string) => readonly PaletteEntry[];
  /** Whether the typed text is a value and not a search. */
  readonly isValue?: boolean;
}

/**
 * A room of the page that has something to find. `entries` is read when the palette opens, piece by piece, and again
 * after `prepare` has loaded more.
 */
export interface PaletteSource {
  readonly name: string;
  readonly entries: () => Iterable<PaletteEntry>;
  readonly prepare?: () => Promise<void>;
}
