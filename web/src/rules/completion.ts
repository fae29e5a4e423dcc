import { textIn } from '../alarms/alarm.ts';
import { isFields, listOf } from '../fields.ts';
import { ask } from '../state/api.ts';

/** What can stand at a place of a text. */
export interface Completion {
  readonly label: string;
  /** `input`, `metric`, `function`, `unit`, `instance`, `keyword`. */
  readonly kind: string;
  readonly detail: string;
}

const MOST = 50;

/** Asks the DAC what can stand at the caret; the offset counts bytes of UTF-8. */
export async function complete(text: string, caret: number, signal: AbortSignal): Promise<Completion[]> {
  const offset = new TextEncoder().encode(text.slice(0, caret)).length;
  const answer = await ask('POST', 'rules/complete', { body: { text, offset }, signal });
  const items = listOf(isFields(answer) ? answer.items : undefined).map((item) => ({
    label: textIn(item, 'label'),
    kind: textIn(item, 'kind'),
    detail: textIn(item, 'detail'),
  }));
  return fitting(items, text.slice(0, caret));
}

/** Keeps what continues the text before the caret, best first. */
export function fitting(items: readonly Completion[], before: string): Completion[] {
  const word = /[A-Za-z_]\w*$/.exec(before)?.[0].toLowerCase() ?? '';
  return items
    .filter(({ label }) => label !== '' && (word === '' || written(label, before) > 0))
    .filter(({ label }) => label.toLowerCase() !== word)
    .slice(0, MOST);
}

/** Returns how much of a label stands before the caret already. */
export function written(label: string, before: string): number {
  const text = label.toLowerCase();
  const tail = before.toLowerCase();
  for (let length = Math.min(text.length, tail.length); length > 0; length--) {
    if (!tail.endsWith(text.slice(0, length))) continue;
    // The beginning of a word, and not its end: `temp` after `pump.`, but no `e` of `rate`.
    const previous = tail[tail.length - length - 1] ?? ' ';
    if (!(/\w/.test(previous) && /\w/.test(text[0]))) return length;
  }
  return 0;
}

/** Returns the text with a label at the caret, and the new place of the caret. */
export function insert(text: string, caret: number, label: string): { text: string; caret: number } {
  const from = caret - written(label, text.slice(0, caret));
  return { text: text.slice(0, from) + label + text.slice(caret), caret: from + label.length };
}
