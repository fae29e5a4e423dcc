import { useSame } from '../../components/use_same.ts';
import './fleet.css';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { NowNote } from '../../components/moment_note.tsx';
import { offeredMetrics, suggestedMetrics } from '../../fleet/metrics.ts';
import type { FleetAnswer, FleetMetricChoice, FleetSelection, FleetType } from '../../fleet/query.ts';
import type { FleetSettings } from '../../fleet/settings.ts';
import { formatInteger } from '../../format/number.ts';
import { OF_RULES } from '../../state/choice.ts';
import { readFleetSchemas, schemaByHash } from '../../state/fleet_schemas.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { range } from '../../state/time.ts';
import { wordsOf } from '../../state/tree.ts';
import { FleetBar } from './fleet_bar.tsx';
import { FleetChoice } from './fleet_choice.tsx';
import { FleetList } from './fleet_list.tsx';
import { columnsOf, shownMetrics } from './fleet_metrics.ts';
import { fleetStrings as words } from './strings.ts';

type Spec = SpecOf<'fleet'>;

/** Many nodes or instances at a glance, as they are now. */
export function FleetPanel({ spec }: { spec: Spec }) {
  const answer = useSignal<FleetAnswer | undefined>(undefined);
  const search = useSignal('');
  const isChoosing = useSignal(false);
  // Equal types make no other list.
  const types = useSame((): readonly FleetType[] => answer.value?.types ?? []);
  const offered = useComputed(() => offeredMetrics(types.value, schemaByHash));
  // Schemas arrive one by one: the choice waits for all of them.
  const read = useSignal<readonly FleetType[] | undefined>(undefined);
  useSignalEffect(() => {
    const wanted = types.value;
    void readFleetSchemas(wanted.map(({ schema }) => schema)).then(() => {
      read.value = wanted;
    });
  });
  const set = (change: Partial<FleetSettings>) => changePanel(spec.id, { ...spec, ...change });
  useSignalEffect(() => {
    if (spec.metrics !== undefined || types.value.length === 0 || read.value !== types.value) return;
    const metrics = suggested(types.value);
    // Another answer came while they were read.
    if (metrics.length > 0 || types.value.every(({ schema }) => schemaByHash(schema))) set({ metrics });
  });
  const chosen = spec.metrics;
  const known = offered.value;
  const metrics = useMemo(() => shownMetrics(chosen ?? [], known), [chosen, known]);
  const { paths, columns } = columnsOf(metrics);
  const selection: FleetSelection = {
    nodes: spec.nodes,
    instances: spec.instances,
    types: spec.types,
    ...(spec.labels !== '' && { labels: spec.labels }),
    metrics: paths,
    period: spec.period,
  };
  return (
    <section class="panel fleet-panel" data-testid="fleet" data-panel={spec.id}>
      {!range.value.live && <NowNote text={words.now} />}
      <FleetBar
        spec={spec}
        metrics={metrics}
        answer={answer}
        search={search}
        isChoosing={isChoosing}
        onChange={set}
      />
      {isChoosing.value && <FleetChoice spec={spec} offered={offered.value} onChange={set} />}
      <FleetList
        spec={spec}
        selection={selection}
        metrics={metrics}
        columns={columns}
        words={wordsOf(search.value)}
        answer={answer}
        onChange={set}
        onSearch={(text) => {
          search.value = text;
        }}
      />
      {(answer.value?.combined ?? 0) > 0 && (
        <p class="fleet-note" data-testid="fleet-combined">
          {words.combined(formatInteger(answer.value?.combined ?? 0))}
        </p>
      )}
    </section>
  );
}

/** The metrics of a new panel; those of rules only if there are no others. */
function suggested(types: readonly FleetType[]): FleetMetricChoice[] {
  const probes = types.filter(({ name }) => !name.startsWith(OF_RULES));
  return suggestedMetrics(offeredMetrics(probes.length > 0 ? probes : types, schemaByHash));
}
