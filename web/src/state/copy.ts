import { strings } from '../strings/strings.ts';
import { notify } from './notice.ts';

/** Copies text to the clipboard and shows a notice. */
export async function copyText(text: string, what: string = text): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(strings.notice.copied(what));
  } catch {
    notify(strings.notice.notCopied);
  }
}
