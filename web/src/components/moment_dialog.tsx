import { useSignal } from '@preact/signals';
import { openDialog } from '../state/dialogs.ts';
import { ends, goTo } from '../state/time.ts';
import { strings } from '../strings.ts';
import { Dialog } from './dialog.tsx';

const words = strings.moment;

/** Goes to a moment that may be weeks ago. */
export function MomentDialog() {
  const moment = useSignal(localTime((ends()[0] + ends()[1]) / 2));
  return (
    <Dialog title={words.title} testId="moment">
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          const time = new Date(moment.value).getTime();
          if (!Number.isFinite(time)) return;
          goTo(time);
          openDialog.value = undefined;
        }}
      >
        <input
          class="input"
          type="datetime-local"
          step="1"
          aria-label={words.field}
          title={words.field}
          data-testid="moment-field"
          value={moment.value}
          onInput={(event) => {
            moment.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="button button-main" data-testid="moment-go">
          {words.go}
        </button>
      </form>
    </Dialog>
  );
}

/** Formats a time for the input field: local, without a time zone. */
function localTime(ms: number): string {
  const zone = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - zone).toISOString().slice(0, 19);
}
