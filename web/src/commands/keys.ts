import { openPanelHelp } from '../help/topic.ts';
import { type ActiveDock, activeDock } from '../state/active_dock.ts';
import { openDialog, typeAhead } from '../state/dialogs.ts';
import { edited } from '../state/expressions.ts';
import { isViewOnly } from '../state/mode.ts';
import { notify } from '../state/notice.ts';
import { isSettable } from '../state/panel_kinds.ts';
import { openSettings, openSingle, panels, wantedChoice, wantsFocus } from '../state/panels.ts';
import { changeSpeed, isPlaying, step, stopPlayback, togglePlayback } from '../state/playback.ts';
import { toggleTheme } from '../state/theme.ts';
import { goLive, pan, togglePause, zoomStep } from '../state/time.ts';
import { strings } from '../strings/strings.ts';
import { exportCsv, exportPicture } from './export.ts';
import { copyLink } from './share.ts';

/** The actions of keys: one table for the page and for its help. */
export interface KeyBinding {
  /** The value of `KeyboardEvent.key`. */
  readonly keys: readonly string[];
  readonly what: () => string;
  readonly act: () => void;
}

const words = strings.keys;

/** Shown in the list of keys; the page takes Ctrl and the Command key of a Mac. */
const PALETTE = 'Ctrl+K';

export const bindings: readonly KeyBinding[] = [
  { keys: [PALETTE], what: () => strings.palette.title, act: () => show('palette') },
  { keys: [' '], what: () => words.pause, act: pauseOrResume },
  { keys: ['l'], what: () => words.live, act: goLive },
  { keys: ['ArrowLeft'], what: () => words.earlier, act: () => pan(-0.25) },
  { keys: ['ArrowRight'], what: () => words.later, act: () => pan(0.25) },
  { keys: ['+', '='], what: () => words.zoomIn, act: () => zoomStep(-1) },
  { keys: ['-'], what: () => words.zoomOut, act: () => zoomStep(1) },
  { keys: ['k'], what: () => words.play, act: togglePlayback },
  { keys: [','], what: () => words.stepBack, act: () => step(-1) },
  { keys: ['.'], what: () => words.stepOn, act: () => step(1) },
  { keys: ['<'], what: () => words.slower, act: () => changeSpeed(-1) },
  { keys: ['>'], what: () => words.faster, act: () => changeSpeed(1) },
  { keys: ['j'], what: () => words.moment, act: () => show('moment') },
  { keys: ['/'], what: () => words.filter, act: focusFilter },
  { keys: ['a'], what: () => words.add, act: () => show('add') },
  { keys: ['e'], what: () => words.expression, act: editExpression },
  { keys: [']'], what: () => words.nextPanel, act: () => onDock((dock) => dock.step(1)) },
  { keys: ['['], what: () => words.previousPanel, act: () => onDock((dock) => dock.step(-1)) },
  { keys: ['m'], what: () => words.maximize, act: () => onDock((dock) => dock.toggleMaximized()) },
  { keys: ['f'], what: () => words.fullScreen, act: () => onDock((dock) => dock.toggleFullScreen()) },
  { keys: ['i'], what: () => words.settings, act: settingsOfActive },
  { keys: ['x'], what: () => words.close, act: () => onDock((dock) => dock.closeActive()) },
  { keys: ['w'], what: () => words.samples, act: () => show('sample-export') },
  { keys: ['d'], what: () => words.dacs, act: () => show('dacs') },
  { keys: ['r'], what: () => words.control, act: () => show('control') },
  { keys: ['n'], what: () => words.note, act: () => show('note') },
  { keys: ['g'], what: () => words.alarms, act: focusAlarms },
  { keys: ['b'], what: () => words.ledger, act: () => openSingle('ledger') },
  { keys: ['u'], what: () => words.testRuns, act: () => openSingle('test-runs') },
  { keys: ['p'], what: () => words.picture, act: () => void exportPicture() },
  { keys: ['c'], what: () => words.csv, act: exportCsv },
  { keys: ['s'], what: () => words.share, act: () => void copyLink() },
  { keys: ['o'], what: () => words.layout, act: () => show('layout') },
  { keys: ['z'], what: () => words.undo, act: undo },
  { keys: ['t'], what: () => words.theme, act: toggleTheme },
  { keys: [';'], what: () => strings.preferences.title, act: () => show('preferences') },
  { keys: ['h'], what: () => words.panelHelp, act: openPanelHelp },
  { keys: ['?'], what: () => words.help, act: () => show('help') },
];

/** Keys that change nothing but what this browser shows; a page that offers no changes has these. */
const VIEWING: ReadonlySet<string> = new Set([...' l+-k,.<>j][mfpct;h?', '=', 'ArrowLeft', 'ArrowRight']);

/** Keys that move the thumb of a slider and the choice of a list. */
const MOVES: ReadonlySet<string> = new Set([
  ...['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'],
  ...['Home', 'End', 'PageUp', 'PageDown'],
]);

/** Whether the pointer has set the focus. */
let isByPointer = false;

export function startKeys(): void {
  const pressed = () => {
    isByPointer = true;
  };
  window.addEventListener('pointerdown', pressed, { capture: true });
  // A choice by pointer is complete: the next key is for the page.
  window.addEventListener('change', ({ target }) => {
    if (isByPointer && target instanceof HTMLElement && target.matches('select, input[type=range]'))
      target.blur();
  });
  window.addEventListener('keydown', (event) => {
    if (isPaletteKey(event)) {
      event.preventDefault();
      if (isViewOnly) return;
      if (openDialog.peek() === undefined) show('palette');
      else if (openDialog.peek() === 'palette' && !event.repeat) openDialog.value = undefined;
      return;
    }
    // Until its code is there, the palette has no field for what is typed.
    if (openDialog.peek() === 'palette' && !document.querySelector('dialog[open]')) {
      if (typeAhead(event)) event.preventDefault();
      return;
    }
    // A tab takes the space bar itself, also after a click.
    const isTaken = event.defaultPrevented && !(isByPointer && event.key === ' ' && isTab(event.target));
    if (event.ctrlKey || event.metaKey || event.altKey || openDialog.peek() || isTaken) return;
    if (event.key === 'Tab' || event.key.startsWith('Arrow')) isByPointer = false;
    if (wantsKey(event.target, event.key)) return;
    // An element focused by a click must not handle the key as a second click.
    if (event.key === ' ' && event.target instanceof HTMLElement) event.target.blur();
    const binding = bindings.find(({ keys }) => keys.includes(event.key));
    if (!binding || (isViewOnly && !VIEWING.has(event.key))) return;
    event.preventDefault();
    binding.act();
  });
}

/** Wherever the focus is: the palette is found from a text field, too. */
function isPaletteKey(event: KeyboardEvent): boolean {
  const isModified = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  return isModified && event.key.toLowerCase() === 'k';
}

function isTab(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.getAttribute('role') === 'tab';
}

/** Whether the focused element handles the key itself. */
function wantsKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLSelectElement) return choosesBy(target, key);
  if (target instanceof HTMLInputElement && target.type === 'range') return MOVES.has(key);
  if (target.matches('input, textarea') || target.isContentEditable) return true;
  const isPressed = target instanceof HTMLButtonElement || isTab(target);
  // A clicked button keeps the focus, but the space bar is not meant for it.
  if (isPressed && (key === ' ' || key === 'Enter')) return key === 'Enter' || !isByPointer;
  return key.startsWith('Arrow') && target.closest('[role=tablist], [role=toolbar], .tree-list') !== null;
}

/** Whether a list of options uses a key: to move, to open, or as the first character of an option. */
function choosesBy(list: HTMLSelectElement, key: string): boolean {
  if (MOVES.has(key) || key === ' ' || key === 'Enter') return true;
  return [...list.options].some(({ text }) => text.toLowerCase().startsWith(key.toLowerCase()));
}

function show(name: NonNullable<typeof openDialog.value>): void {
  openDialog.value = name;
}

/** A narrow page has its panels one below the other, and none of them is active. */
function onDock(act: (dock: ActiveDock) => void): void {
  const dock = activeDock();
  if (dock) act(dock);
  else notify(strings.notice.noDock);
}

/** Opens the field for an expression in the active chart, or else the dialog that adds one. */
function editExpression(): void {
  const id = activeDock()?.activeId;
  const spec = panels.peek().find((candidate) => candidate.id === id);
  if (spec?.kind === 'series' && spec.mode === 'lines') edited.value = { panel: spec.id, index: undefined };
  else {
    wantedChoice.value = 'expression';
    show('add');
  }
}

/** What plays stops first. */
function pauseOrResume(): void {
  if (isPlaying.peek()) stopPlayback();
  else togglePause();
}

/** Opens the settings of the active panel, or of the only one that has some. */
function settingsOfActive(): void {
  const id = activeDock()?.activeId;
  const found = panels.peek().filter(isSettable);
  const spec = found.find((candidate) => candidate.id === id) ?? (found.length === 1 ? found[0] : undefined);
  if (spec) openSettings(spec.id);
  else notify(strings.panels.noSettings);
}

function undo(): void {
  void import('../dashboards/changes.ts').then((changes) => changes.undo());
}

function focusAlarms(): void {
  wantsFocus.value = 'alarms';
  openSingle('alarms');
}

function focusFilter(): void {
  document.querySelector<HTMLInputElement>('.tree-filter')?.focus();
}
