/** Each kind of panel has a folder, and a line here. */

export { alarmHistory } from './alarm_history/description.ts';
export { alarms } from './alarms/description.ts';
export { auto } from './auto/description.ts';
export { events } from './events/description.ts';
export { fleet } from './fleet/description.ts';
export { gauge } from './gauge/description.ts';
export { heat } from './heat/description.ts';
export { histogram } from './histogram/description.ts';
export { instance } from './instance/description.ts';
export { ledger } from './ledger/description.ts';
export { logs } from './logs/description.ts';
export { map } from './map/description.ts';
export { number } from './number/description.ts';
export { overlay } from './overlay/description.ts';
export { repeat } from './repeat/description.ts';
export { rose } from './rose/description.ts';
export { rules } from './rules/description.ts';
export { series } from './series/description.ts';
export { spectrum } from './spectrum/description.ts';
export { sql } from './sql/description.ts';
export { states } from './states/description.ts';
export { statistics } from './statistics/description.ts';
export { testRuns } from './test_runs/description.ts';
export { text } from './text/description.ts';
export { traces } from './traces/description.ts';
export { xy } from './xy/description.ts';
