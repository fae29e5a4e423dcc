import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { descriptions } from '../panels/descriptions.ts';
import { helpOf, parseReference, type Reference, shownHelp, unlinked } from './page_reference.ts';

const PAGE = fileURLToPath(new URL('../../../docs/reference/page.md', import.meta.url));
const reference = parseReference(readFileSync(PAGE, 'utf8'));

describe('the reference of the page', () => {
  it.each(descriptions)('has a line about the panel $kind', ({ name }) => {
    // A new kind of panel needs a line in the table "Panels" of docs/reference/page.md.
    expect(helpOf(reference, name)?.shows).toMatch(/\S/);
  });

  it('has the sections that panels name', () => {
    const known = reference.sections.map(({ id }) => id);
    const named = reference.panels.flatMap(({ section }) => section ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((id) => !known.includes(id))).toEqual([]);
  });

  it('is the same without what the page does not show', () => {
    const text = readFileSync(PAGE, 'utf8');
    expect(shownHelp(text).length).toBeLessThan(text.length);
    const unlinkedDeep = (_key: string, value: unknown) =>
      typeof value === 'string' ? unlinked(value) : value;
    const shown = (of: Reference) => JSON.stringify(of, unlinkedDeep);
    expect(shown(parseReference(shownHelp(text)))).toBe(shown(reference));
  });

  it('leaves no links behind that the page cannot follow', () => {
    const texts = reference.sections.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'text' ? part.text : part.rows.flat().map(unlinked))),
    );
    expect(texts.filter((text) => /\]\((?!https?:)/.test(text))).toEqual([]);
  });
});

describe('parseReference', () => {
  it('reads sections, tables, and lists whose lines are wrapped', () => {
    const { sections, panels } = parseReference(
      '# Page\n\n## Panels\n\n| panel | shows | opens |\n|---|---|---|\n| ledger | what arrived ([below](#ledger)) | |\n\n' +
        '### Ledger\n\nOne\nline.\n\n- an item\n  goes on\n- [a link](x.md)\n',
    );
    expect(panels).toEqual([{ name: 'ledger', shows: 'what arrived', opensFor: '', section: 'ledger' }]);
    expect(sections[1]).toEqual({
      id: 'ledger',
      title: 'Ledger',
      parts: [
        { kind: 'text', text: 'One line.' },
        { kind: 'text', text: '- an item goes on\n- a link' },
      ],
    });
  });
});
