import { useComputed } from '@preact/signals';
import { Icon, IconButton } from '../components/icon.tsx';
import { formatMoment, formatSpan } from '../format/time.ts';
import { chooseZone, localZone, zone, zoneName } from '../format/zone.ts';
import { MARKER_LEVELS, type MarkerLevel } from '../series/log_levels.ts';
import { openDialog } from '../state/dialogs.ts';
import { chooseMarkers, markerLevel } from '../state/markers.ts';
import { now } from '../state/now.ts';
import { isPlaying, SPEEDS, speed, togglePlayback } from '../state/playback.ts';
import { oldestTime } from '../state/store.ts';
import {
  COMPARISONS,
  compareAgo,
  ends,
  goLive,
  pan,
  range,
  redraw,
  SPANS,
  setSpan,
  show,
  span,
  togglePause,
} from '../state/time.ts';
import { strings } from '../strings/strings.ts';

const words = strings.time;

/** The time that all panels show: live or paused, its length, and a slider back to the oldest sample. */
export function TimeBar() {
  const isLive = range.value.live;
  return (
    <section class="time-bar" aria-label={words.title}>
      <div class="time-bar-tools" role="toolbar" aria-label={words.title}>
        <button
          type="button"
          class={isLive ? 'live-button is-live' : 'live-button'}
          title={isLive ? words.pauseTip : words.resumeTip}
          data-live={isLive}
          data-testid="live"
          onClick={togglePause}
        >
          <Icon name={isLive ? 'pause' : 'play'} />
          <span class="live-text">{isLive ? words.pause : words.resume}</span>
        </button>
        <SpanChoice />
        <Playback />
        <IconButton icon="back" label={words.earlier} testId="earlier" onClick={() => pan(-0.5)} />
        <Slider />
        <IconButton icon="forward" label={words.later} testId="later" onClick={() => pan(0.5)} />
        <IconButton
          icon="clock"
          label={words.moment}
          testId="go-to-moment"
          onClick={() => {
            openDialog.value = 'moment';
          }}
        />
        <Ends />
        <ZoneButton />
        <MarkerChoice />
        <CompareChoice />
      </div>
    </section>
  );
}

/** Plays the past. The sign differs from the one that returns to now. */
function Playback() {
  const isOn = isPlaying.value;
  return (
    <span class="playback">
      <IconButton
        icon={isOn ? 'pause' : 'playback'}
        label={isOn ? words.stopPlaying : words.play}
        testId="playback"
        isPressed={isOn}
        onClick={togglePlayback}
      />
      <select
        class="input playback-speed"
        aria-label={words.speed}
        title={words.speed}
        data-testid="playback-speed"
        value={String(speed.value)}
        onChange={(event) => {
          speed.value = Number(event.currentTarget.value);
        }}
      >
        {SPEEDS.map((known) => (
          <option key={known} value={String(known)}>
            {words.times(known)}
          </option>
        ))}
      </select>
    </span>
  );
}

function SpanChoice() {
  const shown = span.value;
  const isOther = !SPANS.some((known) => known === shown);
  return (
    <select
      class="input time-span"
      aria-label={words.span}
      title={words.span}
      data-testid="span"
      value={String(shown)}
      onChange={(event) => setSpan(Number(event.currentTarget.value))}
    >
      {isOther && <option value={String(shown)}>{formatSpan(shown)}</option>}
      {SPANS.map((known) => (
        <option key={known} value={String(known)}>
          {formatSpan(known)}
        </option>
      ))}
    </select>
  );
}

function MarkerChoice() {
  const level = markerLevel.value;
  return (
    <select
      class="input time-markers"
      aria-label={strings.markers.choose}
      title={strings.markers.choose}
      data-testid="markers"
      value={level}
      onChange={(event) => chooseMarkers(event.currentTarget.value as MarkerLevel)}
    >
      {(Object.keys(MARKER_LEVELS) as MarkerLevel[]).map((name) => (
        <option key={name} value={name}>
          {strings.markers.levels[name]}
        </option>
      ))}
    </select>
  );
}

/** The option that opens the dialog for any moment. */
const OTHER = 'other';

function CompareChoice() {
  const ago = compareAgo.value;
  const isOther = ago !== 0 && !COMPARISONS.some((known) => known === ago);
  return (
    <select
      class="input time-compare"
      aria-label={words.compare}
      title={words.compare}
      data-testid="compare"
      value={String(ago)}
      onChange={({ currentTarget }) => {
        const { value } = currentTarget;
        if (value === OTHER) {
          currentTarget.value = String(ago);
          openDialog.value = 'moment';
        } else compareAgo.value = Number(value);
      }}
    >
      <option value="0">{words.compareNone}</option>
      {COMPARISONS.map((ago) => (
        <option key={ago} value={String(ago)}>
          {words.compareWith(formatSpan(ago))}
        </option>
      ))}
      {isOther && <option value={String(ago)}>{words.compareWith(formatSpan(ago))}</option>}
      <option value={OTHER}>{words.compareOther}</option>
    </select>
  );
}

/** The end of the shown range, as a share of the time from the oldest sample to now. */
function Slider() {
  const second = useComputed(() => Math.floor(now.value / 1000) * 1000).value;
  const shown = range.value;
  const [from, to] = shown.live ? [second - shown.span, second] : [shown.from, shown.to];
  const length = to - from;
  const oldest = Math.min(oldestTime.value, from, second - 1000);
  const min = Math.min(oldest + length, second - 1);
  return (
    <input
      class="time-slider"
      type="range"
      aria-label={words.slider}
      data-testid="slider"
      min={min}
      max={second}
      step="any"
      value={shown.live ? second : Math.max(min, to)}
      onInput={(event) => {
        const end = Number(event.currentTarget.value);
        if (end >= Number(event.currentTarget.max)) goLive();
        else show(end - length, end);
      }}
    />
  );
}

function Ends() {
  // Reads the ticking clock while live. Tenths of a second would not be readable.
  const second = useComputed(() => (range.value.live ? Math.floor(now.value / 1000) : 0)).value;
  void second;
  const [from, to] = ends(range.value);
  return (
    <span class="time-ends" data-testid="ends">
      {formatMoment(from, to - from)} {'\u2013'} {formatMoment(to, to - from)}
    </span>
  );
}

/** The time zone of all times on the page; a click changes it. */
function ZoneButton() {
  const isUtc = zone.value === 'utc';
  const tip = strings.time.zoneTip(zoneName(), isUtc ? localZone() : 'UTC');
  return (
    <button
      type="button"
      class="time-zone"
      title={tip}
      aria-label={tip}
      data-testid="time-zone"
      onClick={() => {
        chooseZone(isUtc ? 'local' : 'utc');
        redraw();
      }}
    >
      {zoneName()}
    </button>
  );
}
