import type { addStrings } from '../strings/add_panel.ts';
import type { historyStrings } from '../strings/alarm_history.ts';
import type { alarmListStrings } from '../strings/alarm_list.ts';
import type { computedPanelStrings } from '../strings/computed_panels.ts';
import type { destinationStrings } from '../strings/destinations.ts';
import type { fleetStrings } from '../strings/fleet.ts';
import type { heatStrings } from '../strings/heat.ts';
import type { logStrings } from '../strings/logs.ts';
import type { mapStrings } from '../strings/map.ts';
import type { ruleStrings } from '../strings/rules.ts';
import type { sampleExportStrings } from '../strings/sample_export.ts';
import type { settingsStrings } from '../strings/settings.ts';
import type { sqlStrings } from '../strings/sql.ts';
import type { testRunStrings } from '../strings/test_runs.ts';
import type { traceStrings } from '../strings/traces.ts';
import type { unknownStrings } from '../strings/unknown.ts';
import type { Partly } from './translation.ts';

/** The parts that are loaded when they are used, by the names that they ask for their texts with. */
export type PartTranslation = Partly<{
  readonly alarmHistory: typeof historyStrings;
  readonly alarmList: typeof alarmListStrings;
  readonly fleet: typeof fleetStrings;
  readonly logs: typeof logStrings;
  readonly traces: typeof traceStrings;
  readonly sql: typeof sqlStrings;
  readonly settings: typeof settingsStrings;
  readonly heat: typeof heatStrings;
  readonly destinations: typeof destinationStrings;
  readonly testRuns: typeof testRunStrings;
  readonly unknown: typeof unknownStrings;
  readonly computed: typeof computedPanelStrings;
  readonly add: typeof addStrings;
  readonly map: typeof mapStrings;
  readonly rules: typeof ruleStrings;
  readonly sampleExport: typeof sampleExportStrings;
}>;
