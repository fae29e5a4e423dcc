import { escaped } from './window.ts';

/** Output of a terminal as HTML: colors and bold text, and lines that were erased. */

/** Parameters of "select graphic rendition" (ECMA-48, 8.3.117) that our commands and jq use. */
const STYLES = new Map<number, string>([
  [1, 'bold'],
  ...['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'].flatMap(
    (color, index): [number, string][] => [
      [30 + index, color],
      [90 + index, color],
    ],
  ),
]);
const RENDITION = 'm';
const RESET = 0;

/** Returns the lines of an output as a terminal would leave them, with their escape sequences. */
export function linesOf(output: string): string[] {
  const lines = output.split(/\r*\n/).map((line) => line.slice(line.lastIndexOf('\r') + 1));
  while (lines.at(-1)?.trim() === '') lines.pop();
  return lines;
}

/** Returns a line as HTML; sequences other than colors are left out. */
export function toHtml(line: string): string {
  let styles: string[] = [];
  let html = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  for (const [, parameters, final, text] of line.matchAll(/\x1b\[([\d;]*)([A-Za-z])|([^\x1b]+)/g)) {
    if (text !== undefined) html += span(styles, text);
    else if (final === RENDITION) styles = rendered(styles, parameters.split(';').map(Number));
  }
  return html;
}

function rendered(styles: readonly string[], parameters: readonly number[]): string[] {
  const kept = parameters.includes(RESET) ? [] : styles;
  return [...kept, ...parameters.flatMap((parameter) => STYLES.get(parameter) ?? [])];
}

function span(styles: readonly string[], text: string): string {
  return styles.length === 0 ? escaped(text) : `<span class="${styles.join(' ')}">${escaped(text)}</span>`;
}
