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
    title: 'Times and hints',
    zone: 'Times',
    zones: { local: (zone: string) => `Local time (${zone})`, utc: 'UTC' },
    zoneHint: 'A link to a layout shows the times as you see them.',
  },
};
