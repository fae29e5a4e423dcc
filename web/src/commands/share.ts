import { sharedAddress } from '../layout/saved.ts';
import { copyText } from '../state/copy.ts';
import { strings } from '../strings/strings.ts';

/** Copies an address that shows others this layout, and this moment if the page is paused. */
export async function copyLink(): Promise<void> {
  await copyText(await sharedAddress(), strings.notice.link);
}
