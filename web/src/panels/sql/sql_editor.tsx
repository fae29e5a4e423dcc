import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { wordBefore } from '../../sql/parameters.ts';
import type { SqlTable } from '../../sql/result.ts';
import { readTables } from '../../state/sql.ts';
import { MAX_SQL } from './limits.ts';
import { sqlStrings } from './strings.ts';

const words = sqlStrings;
/** Most suggestions that are shown. */
const MAX_SUGGESTIONS = 8;

/** The field for a query, with the names of tables and columns. */
export function SqlEditor({ query, onRun }: { query: string; onRun: (query: string) => void }) {
  const text = useSignal(query);
  const caret = useSignal(query.length);
  const tables = useSignal<readonly SqlTable[]>([]);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const end = new AbortController();
    readTables(end.signal).then(
      (found) => {
        tables.value = found;
      },
      // Running the query says what is wrong.
      () => {},
    );
    return () => end.abort();
  }, [tables]);
  const isEmpty = useComputed(() => text.value.trim() === '').value;
  const suggestions = useComputed(() => suggest(tables.value, wordBefore(text.value, caret.value)));
  const insert = (name: string) => {
    const area = field.current;
    if (!area) return;
    const from = caret.peek() - wordBefore(text.peek(), caret.peek()).length;
    text.value = text.peek().slice(0, from) + name + text.peek().slice(caret.peek());
    caret.value = from + name.length;
    area.value = text.peek();
    area.focus();
    area.setSelectionRange(caret.peek(), caret.peek());
  };
  return (
    <form
      class="sql-editor"
      onSubmit={(event) => {
        event.preventDefault();
        onRun(text.peek());
      }}
    >
      <textarea
        ref={field}
        class="input"
        rows={5}
        maxLength={MAX_SQL}
        aria-label={words.field}
        placeholder={words.example}
        spellcheck={false}
        autoComplete="off"
        data-testid="sql-query"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          caret.value = event.currentTarget.selectionStart;
        }}
        onSelect={(event) => {
          caret.value = event.currentTarget.selectionStart;
        }}
        onKeyDown={(event) => {
          const isWithCtrl = event.ctrlKey || event.metaKey;
          if (isWithCtrl && event.key === 'Enter') onRun(text.peek());
          else if (isWithCtrl && event.key === ' ' && suggestions.peek().length > 0)
            insert(suggestions.peek()[0]);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div class="sql-names" title={words.suggestions} data-testid="sql-names">
        {suggestions.value.map((name) => (
          <button
            key={name}
            type="button"
            class="chip sql-name"
            aria-label={words.insert(name)}
            onClick={() => insert(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="row-form">
        <button
          type="submit"
          class="button button-main"
          title={isEmpty ? words.typeFirst : words.runTip}
          disabled={isEmpty}
          data-testid="sql-run"
        >
          {words.run}
        </button>
        <span class="hint" data-testid="sql-hint">
          {isEmpty ? words.typeFirst : words.hint}
        </span>
      </div>
    </form>
  );
}

/** Names of tables, and columns of those that the text may mean, which begin with a word; tables alone without one. */
function suggest(tables: readonly SqlTable[], word: string): string[] {
  const begin = word.toLowerCase();
  const names = [
    ...tables.map(({ name }) => name),
    ...(begin === '' ? [] : tables.flatMap(({ columns }) => columns.map(quoted))),
  ];
  const found = names.filter((name) => name.toLowerCase().startsWith(begin) && name !== word);
  return [...new Set(found)].slice(0, MAX_SUGGESTIONS);
}

/** A name as SQL needs it: members of structs have a dot. */
function quoted(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
