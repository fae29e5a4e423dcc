import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { testRunStrings } from '../../strings/test_runs.ts';
import { NotesField } from './notes_field.tsx';

const words = testRunStrings.testRuns;

/** Starts a test run. */
export function TestRunForm(props: {
  onStart: (name: string, tags: readonly string[], notes: string, started: () => void) => void;
}) {
  const [name, tags, notes] = [useSignal(''), useSignal(''), useSignal('')];
  const form = useRef<HTMLFormElement>(null);
  const input = (of: typeof name, label: string, testId: string) => (
    <input
      class="input"
      type="text"
      placeholder={label}
      aria-label={label}
      data-testid={testId}
      value={of.value}
      onInput={(event) => {
        of.value = event.currentTarget.value;
      }}
    />
  );
  return (
    <form
      class="panel-bar test-run-start"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = name.value;
        if (wanted.trim() === '') return;
        // A refused name, for example one that is taken, stays in the field.
        props.onStart(wanted.trim(), tagsOf(tags.value), notes.value, () => {
          if (name.value === wanted) name.value = '';
        });
      }}
    >
      {input(name, words.name, 'test-run-name')}
      {input(tags, words.tags, 'test-run-tags')}
      <NotesField
        label={words.notes}
        testId="test-run-notes"
        value={notes.value}
        onInput={(text) => {
          notes.value = text;
        }}
        onDone={() => form.current?.requestSubmit()}
      />
      <button type="submit" class="button button-main" data-testid="test-run-start">
        {words.start}
      </button>
    </form>
  );
}

function tagsOf(text: string): string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
}
