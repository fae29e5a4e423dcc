/** The interface of the dock for keys and menus. */
export interface ActiveDock {
  /** The panel that has the focus. */
  readonly activeId: string | undefined;
  /** Makes a panel the active one. */
  focus(id: string): void;
  /** Makes the next or the previous panel the active one, over all groups. */
  step(by: 1 | -1): void;
  toggleMaximized(): void;
  toggleFullScreen(): void;
  closeActive(): void;
}

/** The dock on the screen. None on a narrow screen. */
let active: ActiveDock | undefined;

export function setDock(dock: ActiveDock | undefined): void {
  active = dock;
}

export function activeDock(): ActiveDock | undefined {
  return active;
}
