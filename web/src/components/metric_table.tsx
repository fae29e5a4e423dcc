import { isStruct, isVector, type Metric, type Value } from '@oasis/wire';
import { formatUnit } from '../format/unit.ts';
import type { InstanceCells } from '../state/store.ts';
import type { PerSecond } from '../stream/counters.ts';
import type { SampleView } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { CompoundValue } from './compound_value.tsx';
import { RateNote, ScalarValue } from './scalar_value.tsx';

const words = strings.card;

/** The newest sample, a row a metric, built from the schema that came with the subscription. */
export function MetricTable({ cells }: { cells: InstanceCells }) {
  const schema = cells.status.value?.schema;
  if (!schema) return <div class="metrics-empty">{cells.status.value?.problem ?? words.noSample}</div>;
  if (schema.metrics.length === 0) return <div class="metrics-empty">{words.noMetrics}</div>;
  return (
    <div class="metrics-scroll">
      <table class="metrics" data-testid="metrics">
        <thead>
          <tr>
            <th scope="col">{words.metric}</th>
            <th scope="col" class="num">
              {words.value}
            </th>
            <th scope="col">{words.unit}</th>
            <th scope="col" class="num">
              {schema.metrics.some(isCounting) ? words.perSecond : words.aboutColumn}
            </th>
          </tr>
        </thead>
        <Rows metrics={schema.metrics} cells={cells} />
      </table>
    </div>
  );
}

function isCounting(metric: Metric): boolean {
  return metric.kind === 'counter';
}

/** Apart from the head, so that a sample draws only this. */
function Rows({ metrics, cells }: { metrics: readonly Metric[]; cells: InstanceCells }) {
  const sample: SampleView | undefined = cells.sample.value;
  return (
    <tbody>
      {metrics.map((metric, index) => (
        <Row key={metric.name} metric={metric} value={sample?.values[index]} rate={sample?.rates[index]} />
      ))}
    </tbody>
  );
}

function Row({ metric, value, rate }: { metric: Metric; value: Value | undefined; rate: PerSecond }) {
  const isCompound = isVector(metric.type) || isStruct(metric.type);
  return (
    <tr data-testid="metric" data-metric={metric.name}>
      <th scope="row" title={metric.doc ?? metric.name}>
        <span class="metric-name">{metric.label ?? metric.name}</span>
      </th>
      {isCompound ? (
        <td class="compound" colSpan={3} data-testid="value">
          {value !== undefined && (
            <CompoundValue type={metric.type} value={value} rate={rate} meaning={metric} />
          )}
        </td>
      ) : (
        <>
          <td class={metric.type === 'string' ? 'value value-text' : 'value'} data-testid="value">
            {value !== undefined && <ScalarValue type={metric.type} value={value} meaning={metric} />}
          </td>
          <td class="unit">{formatUnit(metric.unit)}</td>
          <td class="note" data-testid="per-second">
            <RateNote metric={metric} value={value} rate={rate} />
          </td>
        </>
      )}
    </tr>
  );
}
