import { strings } from '../strings.ts';
import { notify } from './notice.ts';

/** Puts text where the reader can paste it from, and says so. */
export async function copyText(text: string, what: string = text): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(strings.notice.copied(what));
  } catch {
    notify(strings.notice.notCopied);
  }
}
