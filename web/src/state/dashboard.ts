import { signal } from '@preact/signals';

/** A layout that the DAC keeps under a name, and that this page shows. */
export interface Dashboard {
  readonly name: string;
  /** The revision that the page has read or saved; 0 if the DAC has none any more. */
  readonly revision: number;
  /** The chosen node of a template. */
  readonly node?: string | undefined;
}

/** Undefined if the page shows a layout of its own. */
export const dashboard = signal<Dashboard | undefined>(undefined);

/** Whether the page shows something else than what the DAC keeps. */
export const isChanged = signal(false);

/** A dashboard in the address that cannot be shown, and why. */
export const missing = signal<{ readonly name: string; readonly problem: string } | undefined>(undefined);

/** A dashboard that somebody else has saved meanwhile, or that is there already, and what the DAC says. */
export const conflict = signal<{ readonly name: string; readonly problem: string } | undefined>(undefined);
