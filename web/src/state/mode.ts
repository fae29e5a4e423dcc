/** How the address wants the page to be: `?view` offers no changes, `?kiosk` shows the panels alone. */

const query = new URLSearchParams(globalThis.location?.search ?? '');

export const isKiosk = query.has('kiosk');

/** The page offers no changes. What callers may do is decided by the DAC alone. */
export const isViewOnly = isKiosk || query.has('view');
