import { formatHertz } from '../format/name.ts';
import { formatInteger, formatRough } from '../format/number.ts';
import { formatAge, formatClock } from '../format/time.ts';
import { ageOf } from '../state/freshness.ts';
import type { InstanceCells } from '../state/store.ts';
import { strings } from '../strings.ts';

const words = strings.card;
const { unknown } = strings.connection;

/** The four figures that say whether the values below can be trusted. */
export function Gauges({ cells }: { cells: InstanceCells }) {
  return (
    <dl class="gauges">
      <RateGauge cells={cells} />
      <AgeGauge cells={cells} />
      <SequenceGauge cells={cells} />
      <LossGauge cells={cells} />
    </dl>
  );
}

function RateGauge({ cells }: { cells: InstanceCells }) {
  const rate = cells.flow.value?.rate;
  const hertz = cells.entry.value?.hertz;
  return (
    <div class="gauge" title={words.rateTip}>
      <dt>{words.rate}</dt>
      <dd>
        <span class="gauge-value" data-testid="rate">
          {rate === undefined ? unknown : formatRough(rate)}
        </span>
        <span class="gauge-unit">{words.rateUnit}</span>
      </dd>
      <dd class="gauge-note" data-testid="hertz">
        {hertz === null || hertz === undefined ? words.configuredEvent : words.configured(formatHertz(hertz))}
      </dd>
    </div>
  );
}

function AgeGauge({ cells }: { cells: InstanceCells }) {
  const age = ageOf(cells);
  // By the node's own clock, as the node's log files have it.
  const taken = cells.sample.value?.time;
  return (
    <div class="gauge" title={words.ageTip}>
      <dt>{words.age}</dt>
      <dd>
        <span class="gauge-value" data-testid="age">
          {age === undefined ? unknown : formatAge(age)}
        </span>
      </dd>
      <dd class="gauge-note">{taken !== undefined && words.taken(formatClock(taken))}</dd>
    </div>
  );
}

function SequenceGauge({ cells }: { cells: InstanceCells }) {
  const sequence = cells.sample.value?.sequence;
  return (
    <div class="gauge" title={words.sequenceTip}>
      <dt>{words.sequence}</dt>
      <dd>
        <span class="gauge-value" data-testid="sequence">
          {sequence === undefined ? unknown : formatInteger(sequence)}
        </span>
      </dd>
      <dd class="gauge-note" data-testid="received">
        {words.received(formatInteger(cells.loss.value?.received ?? 0))}
      </dd>
    </div>
  );
}

function LossGauge({ cells }: { cells: InstanceCells }) {
  const loss = cells.loss.value;
  const missing = loss?.missing ?? 0;
  const unexplained = loss?.unexplained ?? 0;
  const tone = unexplained > 0 ? 'is-bad' : missing > 0 ? 'is-warn' : '';
  return (
    <div class={`gauge ${tone}`} title={words.lossTip}>
      <dt>{words.loss}</dt>
      <dd>
        <span class="gauge-value" data-testid="missing">
          {formatInteger(missing)}
        </span>
      </dd>
      <dd class="gauge-note" data-testid="unexplained">
        {words.unexplained(formatInteger(unexplained))}
      </dd>
    </div>
  );
}
