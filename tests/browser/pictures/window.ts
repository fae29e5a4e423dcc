import type { Browser } from 'playwright-core';
import { takePicture } from './picture.ts';

/** A dark window with a title bar and text of one width, for pictures of programs that are no web pages. */

const STYLE = `
  body { margin: 0; width: max-content; background: #0f1720; color: #c9d4de;
    font: 14px/1.45 'DejaVu Sans Mono', monospace; }
  header { display: flex; gap: 8px; align-items: center; padding: 9px 14px; background: #1b2733; color: #8b9bab;
    font: 13px 'DejaVu Sans', sans-serif; }
  header i { width: 11px; height: 11px; border-radius: 50%; background: #3a4957; }
  header span { flex: 1; padding-right: 57px; text-align: center; }
`;

export interface Window {
  readonly title: string;
  readonly style: string;
  readonly html: string;
}

/** Takes a picture of a window that is as large as its contents. */
export async function takeWindow(browser: Browser, name: string, window: Window): Promise<void> {
  const page = await browser.newPage({ deviceScaleFactor: 1.5 });
  await page.setContent(
    `<!doctype html><style>${STYLE}${window.style}</style>
     <header><i></i><i></i><i></i><span>${escaped(window.title)}</span></header><main>${window.html}</main>`,
  );
  const box = await page.locator('body').boundingBox();
  if (!box) throw new Error('no window');
  await page.setViewportSize({ width: Math.ceil(box.width), height: Math.ceil(box.height) });
  await takePicture(page, name);
  await page.close();
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
