/** Line drawings of 24 by 24, one stroke wide. */
const PATHS = {
  play: 'M7 4.5v15l12-7.5z',
  playback: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM10 8.5v7l5.5-3.5z',
  pause: 'M8 5v14M16 5v14',
  back: 'M15 5l-7 7 7 7',
  forward: 'M9 5l7 7-7 7',
  add: 'M12 5v14M5 12h14',
  menu: 'M4 7h16M4 12h16M4 17h16',
  layout: 'M4 5h16v14H4zM10 5v14M10 12h10',
  share: 'M8 12h8M13 7l5 5-5 5M6 5v14',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4',
  dark: 'M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2.5M12 19v2.5M2.5 12H5M19 12h2.5M5.3 5.3 7 7M17 17l1.7 1.7M5.3 18.7 7 17M17 7l1.7-1.7',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.3 15.3 20 20',
  help: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5',
  control: 'M5 8h9M18 8h1M5 16h1M10 16h9M16 6v4M8 14v4',
  flag: 'M6 21V4h11l-2 4 2 4H6',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 2',
  close: 'M6 6l12 12M18 6 6 18',
  note: 'M5 4h14v11h-7l-4 4v-4H5z',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4',
  table: 'M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14',
  download: 'M12 4v10M8 10.5l4 4 4-4M5 19h14',
  curve: 'M4 4v16h16M7 15c3-9 5 3 8-4l4-4',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-4 2.5-6 6-6s6 2 6 6M15.5 4.6a3.5 3.5 0 0 1 0 6.3M17.5 14.6c2.3.8 3.5 2.7 3.5 5.4',
  audit: 'M12 3l7 3v5c0 4.5-3 8-7 10-4-2-7-5.5-7-10V6zM9 11.5l2.2 2.2L15.5 9.5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  pencil: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
  formula: 'M13 5c-3 0-3 3-3.5 7S9 19 6 19M7 11h6M14 13l5 6M19 13l-5 6',
  dacs: 'M4 5h16v5.5H4zM4 13.5h16V19H4zM7.5 7.75h2M7.5 16.25h2',
  wrench: 'M14.5 6.5a4 4 0 0 0-5.2 5.2L4 17l3 3 5.3-5.3a4 4 0 0 0 5.2-5.2L15 12l-3-3z',
  screen: 'M3 5h18v11H3zM8 20h8',
  maximize: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  ledger: 'M6 4h12v16H6zM9 8h6M9 12h6M9 16h3',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A button with a drawing, a word where there is room for it, and a name for screen readers. */
export function IconButton(props: {
  icon: IconName;
  label: string;
  word?: string;
  testId: string;
  isPressed?: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      title={props.label}
      aria-label={props.label}
      aria-pressed={props.isPressed}
      data-testid={props.testId}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
      {props.word && <span class="icon-word">{props.word}</span>}
    </button>
  );
}
