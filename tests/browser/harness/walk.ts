import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Dialogs for tests that walk through the whole page: the key that opens each, and its test id. */
export const DIALOGS_OF_KEYS = [
  ['Control+k', 'palette'],
  ['?', 'help'],
  ['a', 'add'],
  ['o', 'layout'],
  ['j', 'moment'],
  ['n', 'note'],
  ['r', 'control'],
  ['h', 'topic'],
  [';', 'preferences'],
  ['w', 'sample-export'],
  ['d', 'dacs'],
] as const;

/** Dialogs without a key: the button that opens each, and its test id. */
export const DIALOGS_OF_BUTTONS = [
  ['open-accounts', 'accounts'],
  ['open-audit-log', 'audit-log'],
] as const;

/** Waits until an opened dialog no longer says that it loads, looks at it, and closes it. */
export async function lookAtDialog(
  page: Page,
  dialog: string,
  loading: string,
  look: () => Promise<void>,
): Promise<void> {
  const shown = page.getByTestId(dialog);
  await expect.poll(() => shown.count()).toBe(1);
  await expect.poll(() => shown.textContent()).not.toContain(loading);
  await look();
  await page.keyboard.press('Escape');
  await expect.poll(() => shown.count()).toBe(0);
}

/** Replaces the layout by one panel, and waits until it no longer says that it loads. */
export async function showPanel(page: Page, panel: object, loading: string): Promise<void> {
  await page.keyboard.press('o');
  const layout = { oasis: 'layout', version: 1, panels: [panel], range: { live: true, span: 60_000 } };
  await page.getByTestId('import-layout').setInputFiles({
    name: 'layout.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(layout)),
  });
  await expect.poll(() => page.getByTestId('layout').count()).toBe(0);
  const host = page.locator('.panel-host');
  await expect.poll(() => host.count()).toBe(1);
  await expect.poll(() => host.textContent()).not.toContain(loading);
}
