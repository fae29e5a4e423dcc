import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useUniqueId } from '../../components/use_unique_id.ts';
import { type Completion, complete, insert, type Proposals } from '../../rules/completion.ts';
import type { Diagnostic } from '../../rules/files.ts';
import { highlight, placeAt } from '../../rules/highlight.ts';
import { ruleStrings } from '../../strings/rules.ts';

const words = ruleStrings.rules;
/** Pause after a key before completions are asked for. */
const PAUSE_MS = 150;
const NOTHING: Proposals = { from: 0, items: [] };

/** A text of rules with numbers of lines, colors, marked errors and completions. */
export function CodeField(props: {
  value: ReadonlySignal<string>;
  diagnostics: readonly Diagnostic[];
  isReadOnly: boolean;
  field: RefObject<HTMLTextAreaElement>;
  onInput: (text: string) => void;
  onSave: () => void;
}) {
  const { value, diagnostics, isReadOnly, field, onInput, onSave } = props;
  const text = value.value;
  const errors = useMemo(() => diagnostics.filter(({ isWarning }) => !isWarning), [diagnostics]);
  const lines = useMemo(() => highlight(text, errors), [text, errors]);
  const marks = useMemo(() => marksOf(diagnostics), [diagnostics]);
  const { list, popup, items, chosen, ask, close, take, onKeyDown } = useCompletions(field, onInput);
  return (
    <div class="code" data-testid="rule-code">
      <ol class="code-numbers" aria-hidden="true">
        {lines.map((_, index) => (
          <li key={index} class={marks.get(index + 1)}>
            {index + 1}
          </li>
        ))}
      </ol>
      <div class="code-body">
        <pre class="code-colors" aria-hidden="true">
          {lines.map((parts, index) => (
            <div key={index} class={`code-line ${marks.get(index + 1) ?? ''}`}>
              {parts.map((part, at) => (
                <span key={at} class={`code-${part.kind} ${part.isWrong ? 'is-error' : ''}`}>
                  {part.text}
                </span>
              ))}
              {'\n'}
            </div>
          ))}
        </pre>
        <textarea
          ref={field}
          class="code-text"
          aria-label={words.text}
          aria-autocomplete="list"
          aria-controls={list}
          aria-activedescendant={items.value.length > 0 ? `${list}-${chosen.value}` : undefined}
          aria-invalid={errors.length > 0}
          data-testid="rule-text"
          spellcheck={false}
          autoComplete="off"
          autoCapitalize="off"
          wrap="off"
          readOnly={isReadOnly}
          value={text}
          onInput={(event) => {
            onInput(event.currentTarget.value);
            ask(false);
          }}
          onKeyDown={(event) => {
            if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 's') {
              event.preventDefault();
              onSave();
            } else if (!isReadOnly) onKeyDown(event);
          }}
          onBlur={close}
          onClick={close}
        />
        <div
          class="suggestions code-completions"
          id={list}
          role="listbox"
          aria-label={words.complete}
          // In the top layer nothing cuts it off.
          popover="manual"
          ref={popup}
        >
          {items.value.map((item, index) => (
            <Option
              key={`${item.kind} ${item.label}`}
              id={`${list}-${index}`}
              item={item}
              isChosen={index === chosen.value}
              onTake={() => take(item)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The classes of lines with errors or warnings. */
function marksOf(diagnostics: readonly Diagnostic[]): ReadonlyMap<number, string> {
  const marks = new Map<number, string>();
  for (const { isWarning, place } of diagnostics) {
    if (place && !(isWarning && marks.has(place.line))) {
      marks.set(place.line, isWarning ? 'is-warned' : 'is-wrong');
    }
  }
  return marks;
}

function Option(props: { id: string; item: Completion; isChosen: boolean; onTake: () => void }) {
  const { id, item, isChosen, onTake } = props;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <div
      ref={element}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      class={isChosen ? 'suggestion is-chosen' : 'suggestion'}
      data-testid="completion"
      onPointerDown={(event) => {
        // The field keeps the focus.
        event.preventDefault();
        onTake();
      }}
    >
      <bdi class="suggestion-name">{item.label}</bdi>
      <bdi class="suggestion-detail">{item.detail || item.kind}</bdi>
    </div>
  );
}

/** The list of completions at the caret. */
function useCompletions(field: RefObject<HTMLTextAreaElement>, onInput: (text: string) => void) {
  const list = useUniqueId();
  const items = useSignal<readonly Completion[]>([]);
  /** Where the text begins that a completion replaces. */
  const from = useRef(0);
  const chosen = useSignal(0);
  const popup = useRef<HTMLDivElement>(null);
  const running = useRef<AbortController>();
  const close = () => {
    running.current?.abort();
    if (items.peek().length === 0) return;
    items.value = [];
    popup.current?.hidePopover();
  };
  useEffect(() => () => running.current?.abort(), []);
  /** `isWanted`: somebody has asked for the list, also where no word begins. */
  const ask = (isWanted: boolean) => {
    running.current?.abort();
    const end = new AbortController();
    running.current = end;
    setTimeout(
      async () => {
        const area = field.current;
        if (!area || end.signal.aborted) return;
        const { value: text, selectionStart: caret } = area;
        const isWord = /[\w.:"/]$/.test(text.slice(0, caret));
        const isAsked = isWanted || isWord;
        const found = isAsked ? await complete(text, caret, end.signal).catch(() => NOTHING) : NOTHING;
        // The caret has moved, or the DAC has no completions.
        if (end.signal.aborted || area.selectionStart !== caret) return;
        if (found.items.length === 0) {
          close();
          return;
        }
        items.value = found.items;
        from.current = found.from;
        chosen.value = 0;
        if (popup.current) openAt(popup.current, area, caret);
      },
      isWanted ? 0 : PAUSE_MS,
    );
  };
  const take = ({ label }: Completion) => {
    const area = field.current;
    if (!area) return;
    const next = insert(area.value, from.current, area.selectionStart, label);
    area.value = next.text;
    area.setSelectionRange(next.caret, next.caret);
    area.focus();
    close();
    onInput(next.text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const count = items.peek().length;
    if (event.key === ' ' && event.ctrlKey) ask(true);
    else if (count === 0) return;
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      chosen.value = (chosen.peek() + (event.key === 'ArrowDown' ? 1 : -1) + count) % count;
    } else if (event.key === 'Enter' || event.key === 'Tab') take(items.peek()[chosen.peek()]);
    else if (event.key === 'Escape') close();
    else {
      if (event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End') close();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { list, popup, items, chosen, ask, close, take, onKeyDown };
}

/** Room that the list needs below the caret, in pixels. */
const HEIGHT = 180;

/** Opens the list below the caret, or above it where there is no room. The letters are equally wide. */
function openAt(popup: HTMLElement, area: HTMLTextAreaElement, caret: number): void {
  const { line, column } = placeAt(area.value, caret);
  const style = getComputedStyle(area);
  const height = Number.parseFloat(style.lineHeight);
  const { left, top } = area.getBoundingClientRect();
  const y = top + Number.parseFloat(style.paddingTop) + line * height;
  const x = left + Number.parseFloat(style.paddingLeft) + column * widthOf('0', style.font);
  const isBelow = y + height + HEIGHT < innerHeight;
  popup.style.left = `${Math.max(4, Math.min(x, innerWidth - 240))}px`;
  popup.style.top = isBelow ? `${y + height}px` : 'auto';
  popup.style.bottom = isBelow ? 'auto' : `${innerHeight - y}px`;
  popup.showPopover();
}

function widthOf(text: string, font: string): number {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return 8;
  context.font = font;
  return context.measureText(text).width;
}
