import type { strings } from '../strings.ts';

type Texts = typeof strings;

/** Texts may be missing, and are then in English: a test finds them. */
export type Partly<T> = T extends (...of: never[]) => unknown
  ? T
  : T extends readonly unknown[]
    ? T
    : T extends object
      ? { readonly [name in keyof T]?: Partly<T[name]> }
      : T;

/** Every text but the name of the program. */
export type Translation = Partly<Omit<Texts, 'title'>>;

/**
 * Puts the texts of a language in the place of the English ones. The objects stay the same ones, because all parts of
 * the page have taken theirs by then; so this comes before anything is drawn.
 */
export function translate(texts: object, translation: object): void {
  for (const [name, text] of Object.entries(translation)) {
    const before: unknown = Reflect.get(texts, name);
    if (isGroup(before) && isGroup(text)) translate(before, text);
    else Reflect.set(texts, name, text);
  }
}

/** Whether something contains texts by name. */
export function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
