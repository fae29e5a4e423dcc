import type { Dock } from './dock.ts';

/** The dock on the screen: for keys and menus that act on its active panel. None on a narrow screen. */
let active: Dock | undefined;

export function setDock(dock: Dock | undefined): void {
  active = dock;
}

export function activeDock(): Dock | undefined {
  return active;
}
