/** The language of the page. */
const LANGUAGE = 'en';

/** Texts for a number by the plural rules of English (CLDR); `{n}` is the number. */
export type Plurals = { readonly other: string } & {
  readonly [rule in Intl.LDMLPluralRule]?: string;
};

/** Formats a number of things as English does: `1 result`, `12,345 results`. */
export function formatCount(count: number, plurals: Plurals): string {
  const text = plurals[new Intl.PluralRules(LANGUAGE).select(count)] ?? plurals.other;
  return text.replace('{n}', new Intl.NumberFormat(LANGUAGE).format(count));
}
