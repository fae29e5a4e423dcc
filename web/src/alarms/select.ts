import { type Alarm, compareAlarms, isInhibited, isStanding, SEVERITIES } from './alarm.ts';

/** Which alarms a list shows, and in which order. */

export const VIEWS = ['standing', 'aside', 'all'] as const;
export type AlarmView = (typeof VIEWS)[number];
export const SORTS = ['attention', 'severity', 'newest'] as const;
export type AlarmSort = (typeof SORTS)[number];

export interface AlarmChoice {
  readonly view: AlarmView;
  readonly sort: AlarmSort;
  /** Number of the least severity. */
  readonly least: number;
  /** Words that rule, instance, node or message contain. */
  readonly text: string;
}

export function selectAlarms(alarms: Iterable<Alarm>, { view, sort, least, text }: AlarmChoice): Alarm[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return [...alarms]
    .filter(
      (alarm) =>
        isIn(view, alarm) &&
        SEVERITIES.indexOf(alarm.severity) >= least &&
        words.every((word) =>
          `${alarm.rule} ${alarm.instance} ${alarm.node} ${alarm.message}`.toLowerCase().includes(word),
        ),
    )
    .sort(ORDERS[sort]);
}

/** Returns the number of alarms in each view. */
export function countsOf(alarms: Iterable<Alarm>): Record<AlarmView, number> {
  const counts = { standing: 0, aside: 0, all: 0 };
  for (const alarm of alarms) for (const view of VIEWS) if (isIn(view, alarm)) counts[view]++;
  return counts;
}

function isIn(view: AlarmView, alarm: Alarm): boolean {
  switch (view) {
    case 'standing':
      return isStanding(alarm) && !isInhibited(alarm);
    case 'aside':
      return isInhibited(alarm);
    case 'all':
      return true;
  }
}

const newest = (one: Alarm, other: Alarm) => (other.raised ?? 0) - (one.raised ?? 0);
const worst = (one: Alarm, other: Alarm) =>
  SEVERITIES.indexOf(other.severity) - SEVERITIES.indexOf(one.severity);

const ORDERS: Record<AlarmSort, (one: Alarm, other: Alarm) => number> = {
  attention: compareAlarms,
  severity: (one, other) => worst(one, other) || compareAlarms(one, other),
  newest: (one, other) => newest(one, other) || compareAlarms(one, other),
};
