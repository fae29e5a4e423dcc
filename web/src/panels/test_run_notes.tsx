import { useSignal } from '@preact/signals';
import { changeTestRun, type TestRun } from '../state/test_runs.ts';
import { strings } from '../strings.ts';

const words = strings.testRuns;

/** Notes on a test run. While somebody writes, what is read of them meanwhile takes no word away. */
export function TestRunNotes(props: { run: TestRun; attempt: (act: () => Promise<unknown>) => void }) {
  const { run, attempt } = props;
  const written = useSignal<string | undefined>(undefined);
  return (
    <input
      class="input test-run-notes"
      type="text"
      placeholder={words.notes}
      aria-label={words.notesOf(run.name)}
      data-testid="test-run-notes-of"
      value={written.value ?? run.notes}
      onInput={(event) => {
        written.value = event.currentTarget.value;
      }}
      onChange={(event) => {
        const notes = event.currentTarget.value;
        attempt(async () => {
          await changeTestRun(run, { notes });
          // Somebody may be writing on.
          if (written.peek() === notes) written.value = undefined;
        });
      }}
      onBlur={() => {
        if (written.peek() === run.notes) written.value = undefined;
      }}
    />
  );
}
