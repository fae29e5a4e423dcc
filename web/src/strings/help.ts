/** Help on panels, and hints for a first visit. */
export const helpStrings = {
  help: {
    panel: (kind: string) => `Help: ${kind}`,
    open: (title: string) => `Help on ${title} (h)`,
    opensFor: (what: string) => `Opens by itself for ${what}.`,
    loading: 'Loading\u2026',
    missing: 'There is no help on this yet.',
    failed: 'The DAC did not send the help.',
    all: 'All topics',
  },

  hints: {
    title: 'Hint',
    texts: [
      'Ctrl+K finds instances, metrics, panels and commands.',
      'Drag across a chart to zoom into that time. Space pauses all panels.',
      'The question mark of a panel says what it shows and how to use it.',
    ],
    next: 'Next hint',
    close: 'No more hints',
    again: 'Show the hints again',
  },

  preferences: {
    title: 'Language and times',
    language: 'Language',
    /** In their own language, whatever the page speaks. */
    languages: { en: 'English', de: 'Deutsch' },
    languageHint: 'The page is loaded again.',
    zone: 'Times',
    zones: { local: (zone: string) => `Local time (${zone})`, utc: 'UTC' },
    zoneHint: 'A link to a layout shows the times as you see them.',
    partly: 'Help and messages of the DAC are in English.',
  },
};
