import { lazy } from '../../components/lazy.tsx';
import { targetsIn } from '../../expressions/resolve.ts';
import { MAX_MARKDOWN, valuesIn } from '../../text/markdown.ts';
import { describePanel } from '../shared/description.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Markdown with values in it. */
    readonly text: { readonly text: string };
  }
}

export const text = describePanel<'text'>({
  kind: 'text',
  name: 'text',
  Panel: lazy(async () => (await import('./text_panel.tsx')).TextPanel),
  parse: (json) =>
    typeof json.text === 'string' ? { kind: 'text', text: json.text.slice(0, MAX_MARKDOWN) } : undefined,
  targets: (content) => valuesIn(content.text).flatMap(targetsIn),
  // Text of the user stays.
  without: (content) => content,
  title: (content) => headingOf(content.text) ?? 'text',
  choices: [
    {
      name: 'text',
      label: 'Text',
      about: 'Notes in Markdown, with values in them.',
      from: 'nothing',
      build: () => ({ kind: 'text', text: '' }),
    },
  ],
});

/** The first heading of a text; undefined if it has none. */
function headingOf(markdown: string): string | undefined {
  const heading = /^#{1,4}\s+(.{1,40})/m
    .exec(markdown)?.[1]
    .replace(/[*`]|\{\{.*?\}\}/g, '')
    .trim();
  return heading === '' ? undefined : heading;
}
