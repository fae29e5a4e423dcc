import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { TimeChart } from '../../charts/time_chart.ts';
import { formatCursor, formatMoment } from '../../format/time.ts';
import { markersSince } from '../../state/markers.ts';
import { cursorTime, span } from '../../state/time.ts';
import { strings } from '../../strings/strings.ts';

const words = strings.markers;
const MAX_LISTED = 3;

/** Shows the log records and the alarms under the pointer. */
export function MarkerNote(props: { chart: RefObject<TimeChart | undefined>; drawn: Signal<number> }) {
  void props.drawn.value;
  const time = cursorTime.value;
  const found = time === undefined ? undefined : props.chart.current?.eventsAt(time);
  if (!found || found.markers.length + found.alarms.length === 0) return null;
  const { markers, alarms } = found;
  const at = (moment: number) => formatCursor(moment, span.peek());
  return (
    <ul class="marker-note" role="status" data-testid="marker-note">
      {alarms.slice(0, MAX_LISTED).map(({ rule, severity, from }) => (
        <li key={`${rule} ${from}`}>
          {words.alarm(at(from), strings.alarms.severities[severity].toLowerCase(), rule)}
        </li>
      ))}
      {markers.slice(0, MAX_LISTED).map(({ time: moment, level, text, instance }, index) => (
        <li key={`${moment} ${index}`}>{words.record(at(moment), words.levelOf(level), instance, text)}</li>
      ))}
      {markers.length > MAX_LISTED && <li>{words.more(markers.length - MAX_LISTED)}</li>}
    </ul>
  );
}

/** Says from when on log records are marked if there are older ones in the time shown. */
export function MarkersCut() {
  if (markersSince.value === undefined) return null;
  return (
    <span class="is-warn" role="status" data-testid="markers-cut">
      {words.since(formatMoment(markersSince.value, span.value))}
    </span>
  );
}
