import { translate } from './translation.ts';

/** Texts of parts of the page that are loaded when they are used. */

let known: Readonly<Record<string, object>> = {};

/** Keeps the texts of a language, before any part is loaded. */
export function learn(parts: Readonly<Record<string, object>>): void {
  known = parts;
}

/** Returns the texts of a part in the language of the page. */
export function spoken<T extends object>(part: string, texts: T): T {
  const translation = known[part];
  if (translation) translate(texts, translation);
  return texts;
}
