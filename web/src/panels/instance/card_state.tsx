import { useComputed } from '@preact/signals';
import { Dot, type Tone } from '../../components/dot.tsx';
import { type CardStateName, cardState } from '../../state/freshness.ts';
import type { InstanceCells } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import { strings } from '../../strings/strings.ts';

const TONES: Record<CardStateName, Tone> = {
  lost: 'idle',
  waiting: 'idle',
  absent: 'bad',
  failed: 'bad',
  offline: 'bad',
  disabled: 'idle',
  armed: 'idle',
  empty: 'idle',
  stopped: 'warn',
  replay: 'idle',
  lagging: 'warn',
  live: 'good',
};

export function CardState({ cells }: { cells: InstanceCells }) {
  // Computed, so that a tick of the clock redraws only a changed state.
  const name = useComputed(() => cardState(cells)).value;
  const probeState = useComputed(() => cells.sample.value?.state ?? 0).value;
  const problem = cells.status.value?.problem;
  const tone = TONES[name];
  return (
    <div class="card-state">
      {probeState !== 0 && <span class="pill pill-warn">{strings.card.probeState(probeState)}</span>}
      <span
        class={`pill pill-${tone}`}
        title={problem ?? strings.card.stateTip[name]}
        role="status"
        data-testid="card-state"
        data-state={name}
      >
        <Dot tone={tone} />
        {range.value.live ? strings.card.state[name] : strings.card.nowState(strings.card.state[name])}
      </span>
    </div>
  );
}
