import { testRunStrings } from '../../strings/test_runs.ts';

/** Visible lines; more are reached by scrolling. */
const MOST_LINES = 6;

/** Notes on a test run, with any number of lines. Enter begins another line; Ctrl-Enter saves. */
export function NotesField(props: {
  label: string;
  testId: string;
  value: string;
  onInput: (text: string) => void;
  onDone: () => void;
  onBlur?: () => void;
}) {
  const { label, testId, value, onInput, onDone, onBlur } = props;
  return (
    <textarea
      class="input test-run-notes"
      rows={Math.min(MOST_LINES, value.split('\n').length)}
      placeholder={testRunStrings.testRuns.notes}
      aria-label={label}
      data-testid={testId}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onDone();
      }}
      onBlur={onBlur}
    />
  );
}
