import type { historyStrings } from '../strings/alarm_history.ts';
import type { alarmListStrings } from '../strings/alarm_list.ts';
import type { mapStrings } from '../strings/map.ts';
import type { ruleStrings } from '../strings/rules.ts';
import type { sampleExportStrings } from '../strings/sample_export.ts';
import type { Partly } from './translation.ts';

/** The parts that are loaded when they are used, by the names that they ask for their texts with. */
export type PartTranslation = Partly<{
  readonly alarmHistory: typeof historyStrings;
  readonly alarmList: typeof alarmListStrings;
  readonly map: typeof mapStrings;
  readonly rules: typeof ruleStrings;
  readonly sampleExport: typeof sampleExportStrings;
}>;
