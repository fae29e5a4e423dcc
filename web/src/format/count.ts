import { language } from '../language/language.ts';

/** Texts for a number by the plural rules of a language (CLDR); `{n}` is the number. */
export type Plurals = { readonly other: string } & {
  readonly [rule in Intl.LDMLPluralRule]?: string;
};

/** Formats a number of things as the language of the page does: `1 result`, `12,345 results`. */
export function formatCount(count: number, plurals: Plurals): string {
  const text = plurals[new Intl.PluralRules(language()).select(count)] ?? plurals.other;
  return text.replace('{n}', new Intl.NumberFormat(language()).format(count));
}
