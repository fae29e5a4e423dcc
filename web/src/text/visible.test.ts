import { expect, it } from 'vitest';
import { visible } from './visible.ts';

it('shows characters that nobody sees, and those that change the order of others', () => {
  expect(visible('odd/\u202egnp.exe')).toBe('odd/\\u{202e}gnp.exe');
  expect(visible('\u001b[2J\u009bx\u0000\u2067y\u200f')).toBe('\\u{1b}[2J\\u{9b}x\\u{0}\\u{2067}y\\u{200f}');
  expect(visible('pu\u200bmp pu\u200dmp \ufeff')).toBe('pu\\u{200b}mp pu\\u{200d}mp \\u{feff}');
});

it('leaves other texts as they are', () => {
  for (const text of ['plain', 'a\tb\nc', 'Ofen 3 \u00b0C, \u7089', '\u0633\u0644\u0627\u0645', '1\u202f000'])
    expect(visible(text)).toBe(text);
  // Letters of a script that needs joiners, and an emoji of several.
  for (const text of ['\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645', '\u{1f468}\u200d\u{1f469}'])
    expect(visible(text)).toBe(text);
});
