import { useSignal } from '@preact/signals';
import { Dialog } from '../components/dialog.tsx';
import { shownDate, zone, zoneName } from '../format/zone.ts';
import { openDialog } from '../state/dialogs.ts';
import { notify } from '../state/notice.ts';
import { clock } from '../state/now.ts';
import { ends, goTo } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

const words = strings.moment;

/** Goes to a moment that may be weeks ago. */
export function MomentDialog() {
  const moment = useSignal(fieldTime((ends()[0] + ends()[1]) / 2));
  return (
    <Dialog title={words.title} testId="moment">
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          const time = timeOf(moment.value);
          if (!Number.isFinite(time)) return;
          if (time > clock()) notify(words.future);
          else goTo(time);
          openDialog.value = undefined;
        }}
      >
        <input
          class="input"
          type="datetime-local"
          step="1"
          aria-label={words.field(zoneName())}
          title={words.field(zoneName())}
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

/** Formats a time for the input field, without a time zone. */
function fieldTime(ms: number): string {
  return shownDate(ms).toISOString().slice(0, 19);
}

function timeOf(text: string): number {
  return new Date(zone.peek() === 'utc' ? `${text}Z` : text).getTime();
}
