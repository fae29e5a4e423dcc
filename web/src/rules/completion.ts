import { numberIn, textIn } from '../alarms/alarm.ts';
import { fetchJson } from '../api/api.ts';
import { isFields, listOf } from '../wire/fields.ts';

/** What can stand at a place of a text. */
export interface Completion {
  readonly label: string;
  /** `input`, `metric`, `function`, `unit`, `instance`, `keyword` and so on. */
  readonly kind: string;
  readonly detail: string;
}

export interface Proposals {
  /** Where the text begins that a completion replaces. */
  readonly from: number;
  readonly items: readonly Completion[];
}

const MAX_COMPLETIONS = 100;

/** Asks the DAC what can stand at the caret. */
export async function complete(text: string, caret: number, signal: AbortSignal): Promise<Proposals> {
  const before = text.slice(0, caret);
  // The DAC counts bytes of UTF-8.
  const offset = new TextEncoder().encode(before).length;
  return parseProposals(
    await fetchJson('POST', 'rules/complete', { body: { text, offset }, signal }),
    before,
  );
}

export function parseProposals(answer: unknown, before: string): Proposals {
  const json = isFields(answer) ? answer : {};
  const bytes = new TextEncoder().encode(before);
  const from = new TextDecoder().decode(bytes.slice(0, numberIn(json, 'from') ?? bytes.length)).length;
  const written = before.slice(from);
  const items = listOf(json.items)
    .map((item) => ({
      label: textIn(item, 'label'),
      kind: textIn(item, 'kind'),
      detail: textIn(item, 'detail'),
    }))
    // A word that is complete already needs no list.
    .filter(({ label }) => label !== '' && label !== written)
    .slice(0, MAX_COMPLETIONS);
  return { from, items };
}

/** Returns the text with a label from a place to the caret, and the new place of the caret. */
export function insert(
  text: string,
  from: number,
  caret: number,
  label: string,
): { readonly text: string; readonly caret: number } {
  return { text: text.slice(0, from) + label + text.slice(caret), caret: from + label.length };
}
