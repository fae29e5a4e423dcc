import { useSignal } from '@preact/signals';
import { changeTestRun, type TestRun } from '../../state/test_runs.ts';
import { testRunStrings } from '../../strings/test_runs.ts';
import { NotesField } from './notes_field.tsx';

const words = testRunStrings.testRuns;

/** Notes on a test run. They are saved when the field loses the focus or on Ctrl-Enter. Notes that are read meanwhile do not replace typed text. */
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
      // The user may still be writing.
      if (written.peek() === notes) written.value = undefined;
    });
  };
  return (
    <NotesField
      label={words.notesOf(run.name)}
      testId="test-run-notes-of"
      value={shown}
      onInput={(text) => {
        written.value = text;
      }}
      onDone={keep}
      onBlur={keep}
    />
  );
}
