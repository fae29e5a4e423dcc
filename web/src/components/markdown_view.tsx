import type { ComponentChild } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Block, type Inline, parseMarkdown } from '../text/markdown.ts';

/** Shows the value of an expression in a text. */
export type ShowValue = (expression: string) => ComponentChild;

/** A text in Markdown, drawn as elements. Without `showValue`, values stand as they are written. */
export function MarkdownView({ text, showValue = written }: { text: string; showValue?: ShowValue }) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return (
    <>
      {blocks.map((block, index) => (
        <BlockOf key={index} block={block} showValue={showValue} />
      ))}
    </>
  );
}

/** Parts of a line. */
export function Inlines({ of }: { of: readonly Inline[] }) {
  return <>{inlines(of, written)}</>;
}

function written(expression: string): ComponentChild {
  return `{{ ${expression} }}`;
}

function BlockOf({ block, showValue }: { block: Block; showValue: ShowValue }) {
  switch (block.kind) {
    case 'heading':
      return block.level === 1 ? (
        <h3 class="text-title">{inlines(block.of, showValue)}</h3>
      ) : (
        <h4>{inlines(block.of, showValue)}</h4>
      );
    case 'paragraph':
      return <p>{inlines(block.of, showValue)}</p>;
    case 'quote':
      return <blockquote>{inlines(block.of, showValue)}</blockquote>;
    case 'code':
      return <pre>{block.text}</pre>;
    case 'rule':
      return <hr />;
    case 'list': {
      const items = block.items.map((item, index) => <li key={index}>{inlines(item, showValue)}</li>);
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

function inlines(parts: readonly Inline[], showValue: ShowValue): ComponentChild[] {
  return parts.map((part) => inline(part, showValue));
}

function inline(part: Inline, showValue: ShowValue): ComponentChild {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'code':
      return <code>{part.text}</code>;
    case 'strong':
      return <strong>{inlines(part.of, showValue)}</strong>;
    case 'emphasis':
      return <em>{inlines(part.of, showValue)}</em>;
    case 'link':
      return (
        <a href={part.address} target="_blank" rel="noopener noreferrer" title={part.address}>
          {inlines(part.of, showValue)}
        </a>
      );
    case 'value':
      return showValue(part.expression);
  }
}
