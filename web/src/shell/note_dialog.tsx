import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { NotesNote } from '../components/notes_note.tsx';
import { useAttempt } from '../components/use_attempt.ts';
import { formatClock } from '../format/time.ts';
import { allAnnotations, annotate, MAX_NOTE, removeAnnotation } from '../state/annotations.ts';
import { openDialog } from '../state/dialogs.ts';
import { notedSpan } from '../state/noted_span.ts';
import { hasArchive } from '../state/store.ts';
import { cursorTime, ends } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

const words = strings.notes;

/** Writes a note at the moment under the pointer, or at the end of what is shown; or of all the time that is shown. */
export function NoteDialog() {
  const text = useSignal('');
  const drawn = useSignal(notedSpan.peek()).value;
  const [begin, end] = useSignal(drawn ?? ends()).value;
  const time = useSignal(cursorTime.peek() ?? end).value;
  const isSpan = useSignal(drawn !== undefined);
  useEffect(() => {
    notedSpan.value = undefined;
  }, []);
  const { problem, attempt } = useAttempt();
  return (
    <Dialog title={words.title} testId="note">
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.value.trim() === '') return;
          attempt(async () => {
            await annotate(isSpan.value ? begin : time, text.value.trim(), isSpan.value ? end : undefined);
            openDialog.value = undefined;
          });
        }}
      >
        <span class="hertz-unit" data-testid="note-time">
          {isSpan.value ? words.span(formatClock(begin), formatClock(end)) : formatClock(time)}
        </span>
        <input
          class="input"
          type="text"
          maxLength={MAX_NOTE}
          aria-label={words.text}
          placeholder={words.text}
          data-testid="note-text"
          autoFocus
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        <button
          type="submit"
          class="button button-main"
          disabled={text.value.trim() === ''}
          data-testid="note-add"
        >
          {words.add}
        </button>
      </form>
      <label class="panel-toggle">
        <input
          type="checkbox"
          checked={isSpan.value}
          data-testid="note-span"
          onChange={(event) => {
            isSpan.value = event.currentTarget.checked;
          }}
        />
        {drawn ? words.drawn : words.whole}
      </label>
      <p class="form-problem" role="status">
        {problem.value}
      </p>
      <p class="hint">
        {hasArchive.value ? words.forAll : words.forLayout} <NotesNote />
      </p>
      <ul class="notes">
        {allAnnotations.value.map((note) => (
          <li key={`${note.id} ${note.time} ${note.text}`} class="notes-line" data-testid="note-line">
            <time class="notes-time">
              {note.until === undefined
                ? formatClock(note.time)
                : words.span(formatClock(note.time), formatClock(note.until))}
            </time>
            <span class="notes-text">
              <bdi>{note.text}</bdi>
            </span>
            <button
              type="button"
              class="button button-quiet"
              onClick={() => attempt(() => removeAnnotation(note))}
            >
              {words.remove}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
