import { useSignal } from '@preact/signals';
import { Dialog } from '../components/dialog.tsx';
import { formatOffsetOf, shownDate, timesShownAs, zoneName } from '../format/zone.ts';
import { openDialog } from '../state/dialogs.ts';
import { notify } from '../state/notice.ts';
import { clock } from '../state/now.ts';
import { compareWith, ends, goTo } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

const words = strings.moment;

/** Goes to a moment that may be weeks ago, or overlays its time. */
export function MomentDialog() {
  const middle = useSignal((ends()[0] + ends()[1]) / 2).value;
  const moment = useSignal(fieldTime(middle));
  const times = timesShownAs(new Date(`${moment.value}Z`).getTime());
  /** The time in the middle is the one that was shown, also within an hour that comes twice. */
  const isLater = useSignal(times.length > 1 && Math.abs(times[1] - middle) < 1000);
  const time = times.at(isLater.value ? -1 : 0);
  const isWhole = !Number.isNaN(new Date(moment.value).getTime());
  const use = (act: (time: number) => void) => {
    if (time === undefined) return;
    if (time > clock()) notify(words.future);
    else act(time);
    openDialog.value = undefined;
  };
  return (
    <Dialog title={words.title} testId="moment">
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          use(goTo);
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
        {times.length > 1 && (
          <select
            class="input"
            aria-label={words.twice}
            title={words.twice}
            data-testid="moment-twice"
            value={String(isLater.value)}
            onChange={(event) => {
              isLater.value = event.currentTarget.value === 'true';
            }}
          >
            <option value="false">{words.first(formatOffsetOf(times[0]))}</option>
            <option value="true">{words.second(formatOffsetOf(times[1]))}</option>
          </select>
        )}
        <button type="submit" class="button button-main" data-testid="moment-go">
          {words.go}
        </button>
        <button
          type="button"
          class="button"
          title={words.overlayTip}
          data-testid="moment-overlay"
          onClick={() => use((wanted) => compareWith(wanted) || notify(words.notEarlier))}
        >
          {words.overlay}
        </button>
      </form>
      {isWhole && times.length === 0 && (
        <p class="form-problem" role="status" data-testid="moment-never">
          {words.never}
        </p>
      )}
    </Dialog>
  );
}

/** Formats a time for the input field, without a time zone. */
function fieldTime(ms: number): string {
  return shownDate(ms).toISOString().slice(0, 19);
}
