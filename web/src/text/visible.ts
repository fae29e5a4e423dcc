/**
 * Invisible characters, and those that change the order of others: control characters but tabs and ends of lines, marks
 * of direction, and those without width. Joiners between letters that are not ASCII are part of a script, or of an emoji.
 */
const HIDDEN = new RegExp(
  [
    '[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]',
    '[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]',
    '[\\u00ad\\u200b\\u2028\\u2029\\u2060-\\u2064\\ufeff]',
    '(?<![^\\0-\\x7f])[\\u200c\\u200d]',
    '[\\u200c\\u200d](?![^\\0-\\x7f])',
  ].join('|'),
  'g',
);
/** Most texts need no closer look. */
const PLAIN = /^[\t\n\r\x20-\x7e]*$/;

/** Returns a text with hidden characters as `\u{202e}`, as the command line shows them. */
export function visible(text: string): string {
  return PLAIN.test(text)
    ? text
    : text.replace(HIDDEN, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`);
}
