/** The reference of the page as the page itself shows it: sections, and what stands about each panel. */

export interface Section {
  /** As the links of the reference name it. */
  readonly id: string;
  readonly title: string;
  readonly parts: readonly Part[];
}

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

export interface PanelHelp {
  readonly name: string;
  readonly shows: string;
  /** What opens it; empty if nothing does. */
  readonly opensFor: string;
  /** The section that says more; undefined if there is none. */
  readonly section: string | undefined;
}

export interface Reference {
  readonly sections: readonly Section[];
  readonly panels: readonly PanelHelp[];
}

const PANELS = 'Panels';
const BELOW = / ?\(\[below\]\(#([^)]+)\)\)/;

/** Returns the part of the reference that {@link parseReference} reads. */
export function shownHelp(text: string): string {
  const sections = text.slice(text.search(/^##+ /m));
  const withoutPictures = sections.replace(/^!\[[^\]]*\]\([^)]*\)\n/gm, '');
  return withoutPictures.replace(/\[(?!below\])([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1');
}

export function parseReference(text: string): Reference {
  const sections = text
    .split(/^(?=##+ )/m)
    .filter((part) => part.startsWith('##'))
    .map(parseSection);
  const table = sections.find(({ title }) => title === PANELS)?.parts.find((part) => part.kind === 'table');
  const rows = table?.kind === 'table' ? table.rows : [];
  return {
    sections,
    panels: rows.map(([name = '', shows = '', opensFor = '']) => ({
      name,
      shows: shows.replace(BELOW, ''),
      opensFor,
      section: BELOW.exec(shows)?.[1],
    })),
  };
}

/** Returns what the reference says about a kind of panel, by its name in titles. */
export function helpOf(reference: Reference, name: string): PanelHelp | undefined {
  return reference.panels.find((panel) => panel.name.toLowerCase() === name.toLowerCase());
}

function parseSection(text: string): Section {
  const [head, ...lines] = text.split('\n');
  const title = head.replace(/^#+ /, '');
  const parts: Part[] = [];
  for (const paragraph of lines.join('\n').split(/\n{2,}/)) {
    const part = parsePart(paragraph.trim());
    if (part) parts.push(part);
  }
  return {
    id: title
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
    title,
    parts,
  };
}

function parsePart(text: string): Part | undefined {
  // Pictures are those of the docs.
  if (text === '' || text.startsWith('![')) return undefined;
  if (!text.startsWith('|')) return { kind: 'text', text: joined(text) };
  const [head, , ...rows] = text.split('\n').map(cellsOf);
  return { kind: 'table', head, rows };
}

/** Lines that belong together in one line. */
function joined(text: string): string {
  return unlinked(text.replace(/\n(?! *(?:[-*]|\d+\.) )\s*/g, ' '));
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());
}

/** The page does not have the other pages of the docs: their titles stay. */
export function unlinked(text: string): string {
  return text.replace(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1');
}
