import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { type Grammar, type Rule, tokens } from './grammar.ts';
import { type Diagnostic, opened, type Position } from './language_server.ts';
import { escaped, takeWindow } from './window.ts';

/** An editor with a PDL file: colors of our grammar, errors and a hover text of our language server. */

const GRAMMAR = new URL('../../../editors/vscode/syntaxes/pdl.tmLanguage.json', import.meta.url);
const LINE_PX = 22;
const STYLE = `
  main { position: relative; padding: 10px 2ch 58px 0; line-height: ${LINE_PX}px; }
  main > div { white-space: pre; }
  .number { display: inline-block; width: 4ch; margin-right: 2ch; text-align: right; color: #55636f; }
  .error { text-decoration: underline wavy #ff7b72 1.5px; text-underline-offset: 4px; }
  .message { margin-left: 3ch; color: #ff7b72; font-style: italic; }
  aside { position: absolute; padding: 8px 12px; border: 1px solid #3a4957; border-radius: 4px; background: #1b2733;
    white-space: pre; line-height: 20px; }
  .comment { color: #8b9bab; } .keyword, .storage { color: #ff9d76; } .entity { color: #79b8ff; }
  .string { color: #a5d6a7; } .constant { color: #e3b341; } .variable { color: #e6edf3; }
`;

/** Takes a picture of a text as an editor shows it, with the pointer at a position. */
export async function takeEditor(
  browser: Browser,
  name: string,
  text: string,
  pointer: Position,
): Promise<void> {
  const grammar = JSON.parse(await readFile(GRAMMAR, 'utf8')) as Grammar;
  const { diagnostics, hover } = await opened(text, pointer);
  if (diagnostics.length === 0 || hover === '') throw new Error('the language server reports nothing');
  const stack: Rule[] = [];
  const lines = text.trimEnd().split('\n');
  const rows = lines.map((line, index) => {
    const errors = diagnostics.filter(({ range }) => range.start.line === index);
    const messages = errors.map(({ code, message }) => `${code}: ${message.replace(/\n/g, '; ')}`).join(' ');
    const number = `<span class="number">${index + 1}</span>`;
    const code = colored(grammar, line, stack, errors);
    return `<div>${number}${code}<span class="message">${escaped(messages)}</span></div>`;
  });
  const place = `left: ${6 + pointer.character}ch; top: ${10 + LINE_PX * (pointer.line + 1) + 4}px`;
  const box = hover
    .replace(/```\w*\n?/g, '')
    .replace(/\n+/g, '\n')
    .trim();
  const html = `${rows.join('')}<aside style="${place}">${escaped(box)}</aside>`;
  await takeWindow(browser, name, { title: 'loop.pdl', style: STYLE, html });
}

/** Colors a line, character by character, because errors and tokens overlap. */
function colored(grammar: Grammar, line: string, stack: Rule[], errors: readonly Diagnostic[]): string {
  // An error may lie after the last character.
  const found = [...tokens(grammar, line, stack), { text: ' ', scope: '' }];
  const classes = found.flatMap(({ text, scope }) => Array.from(text, () => scope.split('.')[0]));
  for (const { start, end } of errors.map(({ range }) => range)) {
    for (let at = start.character; at < end.character; at++) classes[at] = `${classes[at]} error`;
  }
  const characters = found.map(({ text }) => text).join('');
  let html = '';
  for (let at = 0; at < characters.length; ) {
    let end = at + 1;
    while (end < characters.length && classes[end] === classes[at]) end++;
    html += `<span class="${classes[at]}">${escaped(characters.slice(at, end))}</span>`;
    at = end;
  }
  return html;
}
