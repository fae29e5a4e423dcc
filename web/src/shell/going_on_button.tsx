import { Switch } from '../components/switch.tsx';
import { formatInstant } from '../format/time.ts';
import { arrival, closeArrival } from '../state/arrival.ts';
import { otherPages } from '../state/other_pages.ts';
import { connection } from '../state/store.ts';
import { strings } from '../strings/strings.ts';
import { goingOn, isPaused, mustStay, ownName, stay } from './going_on.ts';

const words = strings.goingOn;

/** Says in the banner what the page does about its lost DAC, and lets the person decide otherwise. */
export function GoingOnLine() {
  if (otherPages.value.length === 0) return null;
  const isStaying = mustStay.value;
  const isLooking = !isStaying && !isPaused.value && goingOn.value.step !== 'staying';
  return (
    <p class="banner-dacs" data-testid="going-on" data-step={goingOn.value.step}>
      <span>{plan()}</span>
      {isStaying && (
        <button type="button" class="button" data-testid="go-on" onClick={() => stay(false)}>
          {words.goOn}
        </button>
      )}
      {isLooking && <StayButton />}
    </p>
  );
}

function plan(): string {
  const state = goingOn.value;
  if (mustStay.value) return words.stays;
  if (isPaused.value) return words.paused;
  if (state.step === 'staying') return words.tooOften;
  if (state.step === 'opening') return words.opening(state.name);
  return state.step === 'looking' ? words.looking : words.waiting;
}

function StayButton() {
  return (
    <button type="button" class="button" data-testid="stay" onClick={() => stay(true)}>
      {words.stay}
    </button>
  );
}

/** Says that this page continues that of another DAC. It stays until it is closed, because nobody may have looked. */
export function ArrivalNote() {
  const came = arrival.value;
  if (came === undefined || connection.value.phase === 'reconnecting') return null;
  return (
    <div class="arrival-note" role="status" data-testid="arrival">
      <span>
        {words.went(came.from, ownName.value, formatInstant(came.at))}
        {mustStay.value && ` ${words.stays}`}
      </span>
      {!mustStay.value && <StayButton />}
      <button type="button" class="button" data-testid="close-arrival" onClick={closeArrival}>
        {words.close}
      </button>
    </div>
  );
}

/** In the list of DACs, before anything is lost. */
export function StaySwitch() {
  if (otherPages.value.length === 0) return null;
  return (
    <Switch
      label={words.goesOn}
      tip={words.goesOnTip}
      testId="goes-on"
      isOn={!mustStay.value}
      onChange={() => stay(!mustStay.value)}
    />
  );
}
