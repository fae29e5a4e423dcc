import { effect } from '@preact/signals';
import { isKiosk } from '../state/mode.ts';
import { connection } from '../state/store.ts';
import '../styles/view_only.css';

const CURSOR_MS = 3000;

/** Makes the page one that offers no changes, or one for a wall. */
export function startViewOnly(): void {
  document.documentElement.classList.add('is-view-only');
  if (!isKiosk) return;
  document.documentElement.classList.add('is-kiosk');
  hideCursor();
  reloadWithNewVersion();
}

/** The cursor hides while nobody moves it. */
function hideCursor(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const moved = () => {
    document.documentElement.classList.remove('is-idle');
    clearTimeout(timer);
    timer = setTimeout(() => document.documentElement.classList.add('is-idle'), CURSOR_MS);
  };
  window.addEventListener('pointermove', moved);
  moved();
}

/** Nobody reloads a page on a wall after an update of the DAC. */
function reloadWithNewVersion(): void {
  let first = '';
  effect(() => {
    const { server } = connection.value;
    if (server === '') return;
    if (first === '') first = server;
    else if (server !== first) location.reload();
  });
}
