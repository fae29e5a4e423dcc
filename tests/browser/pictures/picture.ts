import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page, PageScreenshotOptions } from 'playwright-core';
import { recompressed } from './png.ts';

const IMAGES = fileURLToPath(new URL('../../../docs/images/', import.meta.url));

/** Takes a picture of a page, or of a part of it, for docs/images. */
export async function takePicture(
  page: Page,
  name: string,
  clip?: PageScreenshotOptions['clip'],
): Promise<void> {
  const png = await page.screenshot({ type: 'png', ...(clip && { clip }) });
  await writeFile(`${IMAGES}${name}.png`, recompressed(png));
}
