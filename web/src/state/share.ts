import { strings } from '../strings.ts';
import { copyText } from './copy.ts';
import { sharedAddress } from './saved.ts';

/** Copies an address that shows others this layout, and this moment if the page is paused. */
export async function copyLink(): Promise<void> {
  await copyText(await sharedAddress(), strings.notice.link);
}
