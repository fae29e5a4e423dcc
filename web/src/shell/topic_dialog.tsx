import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { Inlines, MarkdownView } from '../components/markdown_view.tsx';
import { loadReference } from '../help/load.ts';
import { helpOf, type Part, type Reference, type Section, unlinked } from '../help/page_reference.ts';
import { type Topic, topic } from '../help/topic.ts';
import { descriptionOf } from '../panels/descriptions.ts';
import { strings } from '../strings/strings.ts';
import { parseMarkdown } from '../text/markdown.ts';

const words = strings.help;

/** A topic of the reference of the page: a kind of panel, or a section. */
export function TopicDialog() {
  const reference = useSignal<Reference | undefined>(undefined);
  const hasFailed = useSignal(false);
  useEffect(() => {
    loadReference().then(
      (found) => {
        reference.value = found;
      },
      () => {
        hasFailed.value = true;
      },
    );
  }, [reference, hasFailed]);
  const found = reference.value && find(reference.value, topic.value);
  return (
    <Dialog title={found?.title ?? words.loading} testId="topic">
      <div class="topic text-body" lang="en">
        {hasFailed.value && <p class="hint">{words.failed}</p>}
        {reference.value && found?.parts.length === 0 && <p class="hint">{words.missing}</p>}
        {found?.parts.map((part, index) => (
          <PartOf key={index} part={part} />
        ))}
      </div>
      {reference.value && (
        <details class="topic-all">
          <summary>{words.all}</summary>
          <ul>
            {reference.value.sections.map(({ id, title }) => (
              <li key={id}>
                <button
                  type="button"
                  class="button button-quiet"
                  onClick={() => {
                    topic.value = { section: id };
                  }}
                >
                  {title}
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Dialog>
  );
}

function find(reference: Reference, wanted: Topic): { title: string; parts: readonly Part[] } | undefined {
  const sectionOf = (id: string | undefined): Section | undefined =>
    reference.sections.find((section) => section.id === id);
  if ('section' in wanted) {
    const section = sectionOf(wanted.section);
    return { title: section?.title ?? wanted.section, parts: section?.parts ?? [] };
  }
  const help = helpOf(reference, descriptionOf(wanted.panel).name);
  if (!help) return { title: words.panel(wanted.panel), parts: [] };
  const lines = [`**${sentence(unlinked(help.shows))}**`];
  if (help.opensFor !== '') lines.push(words.opensFor(unlinked(help.opensFor)));
  return {
    title: words.panel(help.name),
    parts: [{ kind: 'text', text: lines.join('\n\n') }, ...(sectionOf(help.section)?.parts ?? [])],
  };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function PartOf({ part }: { part: Part }) {
  if (part.kind === 'text') return <MarkdownView text={part.text} />;
  return (
    <div class="topic-table">
      <table>
        <thead>
          <tr>
            {part.head.map((cell, index) => (
              <th key={index} scope="col">
                <Cell text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {part.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Cell text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ text }: { text: string }): ComponentChild {
  const [block] = parseMarkdown(unlinked(text));
  return block?.kind === 'paragraph' ? <Inlines of={block.of} /> : text;
}
