import '../styles/fleet.css';
import type { Schema } from '@oasis/wire';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { suggestedMetrics } from '../fleet/metrics.ts';
import type { FleetAnswer, FleetSelection } from '../fleet/query.ts';
import type { FleetSettings } from '../fleet/settings.ts';
import { formatInteger } from '../format/number.ts';
import { OF_RULES } from '../state/choice.ts';
import { readFleetSchemas, schemaByHash } from '../state/fleet_schemas.ts';
import { changePanel } from '../state/panels.ts';
import { range } from '../state/time.ts';
import { wordsOf } from '../state/tree.ts';
import { fleetStrings as words } from '../strings/fleet.ts';
import { FleetBar } from './fleet_bar.tsx';
import { FleetChoice } from './fleet_choice.tsx';
import { FleetList } from './fleet_list.tsx';
import { shownMetrics } from './fleet_metrics.ts';
import { NowNote } from './moment_note.tsx';
import type { PanelSpec } from './spec.ts';

type Spec = PanelSpec & { kind: 'fleet' };

/** Many nodes or instances at a glance, as they are now. */
export function FleetPanel({ spec }: { spec: Spec }) {
  const answer = useSignal<FleetAnswer | undefined>(undefined);
  const search = useSignal('');
  const isChoosing = useSignal(false);
  // As text: equal types make no other list.
  const hashes = useComputed(() => (answer.value?.types ?? []).map(({ schema }) => schema).join(' '));
  const schemas = useComputed(() => hashes.value.split(' ').flatMap((hash) => schemaByHash(hash) ?? []));
  useSignalEffect(() => void readFleetSchemas(hashes.value.split(' ').filter(Boolean)));
  const set = (change: Partial<FleetSettings>) => changePanel(spec.id, { ...spec, ...change });
  useSignalEffect(() => {
    const metrics = suggested(spec, schemas.value);
    if (metrics) set({ metrics });
  });
  const selection: FleetSelection = {
    nodes: spec.nodes,
    instances: spec.instances,
    types: spec.types,
    ...(spec.labels !== '' && { labels: spec.labels }),
    metrics: spec.metrics ?? [],
    period: spec.period,
  };
  const chosen = spec.metrics;
  const known = schemas.value;
  const metrics = useMemo(() => shownMetrics(chosen ?? [], known), [chosen, known]);
  return (
    <section class="panel fleet-panel" data-testid="fleet" data-panel={spec.id}>
      {!range.value.live && <NowNote text={words.now} />}
      <FleetBar spec={spec} answer={answer} search={search} isChoosing={isChoosing} onChange={set} />
      {isChoosing.value && <FleetChoice spec={spec} schemas={schemas.value} onChange={set} />}
      <FleetList
        spec={spec}
        selection={selection}
        metrics={metrics}
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

/** The metrics of a new panel, once the most common type is known; those of rules come last. */
function suggested(spec: Spec, schemas: readonly Schema[]): string[] | undefined {
  const [first] = schemas;
  const chosen = schemas.find(({ name }) => !name.startsWith(OF_RULES)) ?? first;
  return spec.metrics === undefined && chosen ? suggestedMetrics(chosen) : undefined;
}
