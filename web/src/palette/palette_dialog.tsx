import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { IconButton } from '../components/icon.tsx';
import { useUniqueId } from '../components/use_unique_id.ts';
import { openDialog, takeTyped } from '../state/dialogs.ts';
import { strings } from '../strings/strings.ts';
import type { PaletteEntry, PaletteLevel } from './entry.ts';
import { PaletteOption } from './palette_option.tsx';
import { remember } from './recent.ts';
import { MAX_LISTED } from './search.ts';
import { usePaletteResults } from './use_results.ts';

const words = strings.palette;
/** Results that Page Up and Page Down pass. */
const PAGE = 8;
/** A screen reader is told how many results there are once typing has paused. */
const SAY_MS = 500;

/** Finds anything on the page by its name: a field with a list of results (WAI-ARIA: combobox with a list box). */
export function PaletteDialog() {
  const typed = useSignal(useMemo(takeTyped, []));
  const levels = useSignal<readonly PaletteLevel[]>([]);
  const chosen = useSignal(0);
  const level = levels.value.at(-1);
  const { entries, count, recent } = usePaletteResults(typed.value, level);
  const field = useRef<HTMLInputElement>(null);
  const id = useUniqueId();
  const at = Math.min(chosen.value, entries.length - 1);
  useEffect(() => {
    const input = field.current;
    input?.focus();
    input?.setSelectionRange(input.value.length, input.value.length);
  }, []);

  const type = (text: string) => {
    typed.value = text;
    chosen.value = 0;
  };
  const enter = (next: PaletteLevel) => {
    levels.value = [...levels.value, next];
    type('');
    field.current?.focus();
  };
  const back = () => {
    levels.value = levels.value.slice(0, -1);
    type('');
  };
  const act = (entry: PaletteEntry, isSure = false) => {
    if (!level) remember(entry.id);
    if (entry.sure !== undefined && !isSure) {
      enter(question(entry.sure, entry, (sure) => act(sure, true), back));
      return;
    }
    if (entry.level) {
      enter(entry.level());
      return;
    }
    // A dialog that it opens must not be closed with the palette, and a question leads back.
    if (entry.id !== BACK) openDialog.value = undefined;
    entry.run?.();
  };
  const onKey = (event: KeyboardEvent) => {
    const entry = entries[at];
    const isAtEnd = field.current?.selectionStart === typed.value.length;
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    const by = moves[event.key];
    if (by !== undefined) chosen.value = moved(at, by, entries.length);
    else if (event.key === 'Enter' && entry && !event.repeat) act(entry);
    else if (event.key === 'ArrowRight' && isAtEnd && entry?.actions) enter(entry.actions());
    else if (event.key === 'Escape' && level) back();
    else if (event.key === 'Backspace' && typed.value === '' && level) back();
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title={words.title} testId="palette" isBare={true}>
      <div class="palette-head">
        {level && <IconButton icon="back" label={words.back} testId="palette-back" onClick={back} />}
        <input
          ref={field}
          class="palette-field"
          type="text"
          role="combobox"
          aria-label={level?.title ?? words.field}
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          {...(entries.length > 0 && { 'aria-activedescendant': `${id}-${at}` })}
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          placeholder={level ? level.placeholder : words.field}
          data-testid="palette-field"
          value={typed.value}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={onKey}
        />
        <IconButton
          icon="close"
          label={strings.dialog.close}
          testId="dialog-close"
          onClick={() => {
            openDialog.value = undefined;
          }}
        />
      </div>
      {level && <p class="palette-level">{level.title}</p>}
      <div class="palette-list" id={`${id}-list`} role="listbox" aria-label={level?.title ?? words.list}>
        {entries.map((entry, index) => (
          <PaletteOption
            key={entry.id}
            id={`${id}-${index}`}
            entry={entry}
            typed={level?.isValue ? '' : typed.value}
            isChosen={index === at}
            isRecent={recent.has(entry.id)}
            onChoose={() => act(entry)}
            onActions={entry.actions && (() => entry.actions && enter(entry.actions()))}
          />
        ))}
      </div>
      <Summary
        text={summary(entries.length, count, level !== undefined)}
        hasLevel={level !== undefined}
        hasActions={entries[at]?.actions !== undefined}
      />
    </Dialog>
  );
}

const BACK = 'back';

/** Asks whether somebody is sure. */
function question(
  text: string,
  entry: PaletteEntry,
  act: (entry: PaletteEntry) => void,
  back: () => void,
): PaletteLevel {
  const entries: readonly PaletteEntry[] = [
    { id: 'sure', kind: entry.kind, title: words.sure, run: () => act(entry) },
    { id: BACK, kind: entry.kind, title: words.cancel, run: back },
  ];
  return { title: text, entries: () => entries };
}

/** The next place in a list; a step beyond an end leads to the other one, a page to the end. */
function moved(at: number, by: number, length: number): number {
  if (length === 0) return 0;
  if (Math.abs(by) === 1) return (at + by + length) % length;
  return Math.max(0, Math.min(length - 1, at + by));
}

function summary(listed: number, count: number | undefined, isLevel: boolean): string {
  if (count === undefined) return words.searching;
  if (listed === 0) return words.none;
  if (isLevel || count <= MAX_LISTED) return formatCount(count, words.count);
  return `${formatCount(count, words.count)}. ${words.first.replace('{n}', String(MAX_LISTED))}`;
}

/** How many results there are, and what the keys do. */
function Summary(props: { text: string; hasLevel: boolean; hasActions: boolean }) {
  const said = useSignal('');
  useEffect(() => {
    const timer = setTimeout(() => {
      said.value = props.text;
    }, SAY_MS);
    return () => clearTimeout(timer);
  }, [props.text, said]);
  const { hints } = words;
  return (
    <footer class="palette-foot">
      <span data-testid="palette-count">{props.text}</span>
      <span class="visually-hidden" role="status">
        {said.value}
      </span>
      <span class="palette-hints" aria-hidden="true">
        <kbd>{'\u2191'}</kbd>
        <kbd>{'\u2193'}</kbd> {hints.choose} <kbd>{'\u21b5'}</kbd> {hints.run}{' '}
        {props.hasActions && (
          <>
            <kbd>{'\u2192'}</kbd> {hints.actions}{' '}
          </>
        )}
        <kbd>Esc</kbd> {props.hasLevel ? hints.back : hints.close}
      </span>
    </footer>
  );
}

/** The language of the page. */
const LANGUAGE = 'en';

/** Texts for a number by the plural rules of English (CLDR); `{n}` is the number. */
type Plurals = { readonly other: string } & {
  readonly [rule in Intl.LDMLPluralRule]?: string;
};

/** Formats a number of things as English does: `1 result`, `12,345 results`. */
function formatCount(count: number, plurals: Plurals): string {
  const text = plurals[new Intl.PluralRules(LANGUAGE).select(count)] ?? plurals.other;
  return text.replace('{n}', new Intl.NumberFormat(LANGUAGE).format(count));
}
