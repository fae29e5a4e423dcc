import { useSignal } from '@preact/signals';
import { changeTestRun, type TestRun } from '../state/test_runs.ts';
import { strings } from '../strings.ts';

const words = strings.testRuns;
/** Lines that are seen at a time; more are scrolled to. */
const MOST_LINES = 6;

/** Notes on a test run, kept as soon as they are left or Ctrl-Enter is pressed. While somebody writes, what is read of them meanwhile takes no word away. */
export function TestRunNotes(props: { run: TestRun; attempt: (act: () => Promise<unknown>) => void }) {
  const { run, attempt } = props;
  const written = useSignal<string | undefined>(undefined);
  const shown = written.value ?? run.notes;
  const keep = () => {
    const notes = written.peek() ?? run.notes;
    if (notes === run.notes) {
      written.value = undefined;
      return;
    }
    attempt(async () => {
      await changeTestRun(run, { notes });
      // Somebody may be writing on.
      if (written.peek() === notes) written.value = undefined;
    });
  };
  return (
    <textarea
      class="input test-run-notes"
      rows={Math.min(MOST_LINES, shown.split('\n').length)}
      placeholder={words.notes}
      aria-label={words.notesOf(run.name)}
      data-testid="test-run-notes-of"
      value={shown}
      onInput={(event) => {
        written.value = event.currentTarget.value;
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) keep();
      }}
      onBlur={keep}
    />
  );
}
