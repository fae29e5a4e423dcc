import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { alarmSource } from '../../alarms/book.ts';
import { Waiting } from '../../components/waiting.tsx';
import { alarmedMetrics } from '../../state/alarmed_metrics.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { openTogether } from '../../state/panels.ts';
import { cellsOf } from '../../state/store.ts';
import { planPanels } from './plan.ts';

/** How long the panels wait for the alarms, which decide about their order. */
const ALARMS_TIMEOUT_MS = 400;

/** Waits for an instance's schema, then becomes the panels that suit it, all of them to be seen. */
export function AutoPanel({ spec: { id, target } }: { spec: SpecOf<'auto'> }) {
  const { schema } = cellsOf(target).status.value ?? {};
  const isLate = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      isLate.value = true;
    }, ALARMS_TIMEOUT_MS);
    return () => clearTimeout(timer);
  }, [isLate]);
  const isReady = alarmSource.value.kind !== 'waiting' || isLate.value;
  useEffect(() => {
    if (schema && isReady) openTogether(id, planPanels(target, schema, alarmedMetrics(target, schema)));
  }, [id, target, schema, isReady]);
  return <Waiting target={target} />;
}
