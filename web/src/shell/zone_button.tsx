import { chooseZone, localZone, zone, zoneName } from '../format/zone.ts';
import { redraw } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

/** The time zone of all times on the page; a click changes it. */
export function ZoneButton() {
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
