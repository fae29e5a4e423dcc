import { formatReal } from '../format/number.ts';
import { formatUnit } from '../format/unit.ts';
import { nameOf } from '../state/names.ts';
import type { ComparedMetric, Comparison, MetricFigures } from '../state/test_runs.ts';
import { strings } from '../strings.ts';

const words = strings.testRuns;
const { unknown } = strings.connection;

/** Two test runs, metric by metric. */
export function ComparisonTable({ comparison }: { comparison: Comparison }) {
  const [one, other] = comparison.runs;
  return (
    <>
      <table class="ledger" data-testid="comparison">
        <thead>
          <tr>
            <th scope="col" class="is-text">
              {words.metric}
            </th>
            {[one, other].map((run) => (
              <th key={run.id} scope="col" title={words.figuresTip}>
                <bdi>{run.name}</bdi>
              </th>
            ))}
            <th scope="col" title={words.differenceTip}>
              {words.difference}
            </th>
          </tr>
        </thead>
        <tbody>
          {comparison.metrics.map((metric) => (
            <Row key={`${metric.node} ${metric.instance} ${metric.metric}`} metric={metric} />
          ))}
        </tbody>
      </table>
      {comparison.metrics.length === 0 && <p class="hint">{words.nothingStored}</p>}
      {comparison.hasMore && <p class="hint">{words.more}</p>}
    </>
  );
}

function Row({ metric }: { metric: ComparedMetric }) {
  const [one, other] = metric.values;
  const isCounter = metric.values.some((of) => of?.counted);
  const unit = formatUnit(isCounter ? `${metric.unit ?? ''}/s` : metric.unit);
  const change = one && other ? middle(one) - middle(other) : Number.NaN;
  return (
    <tr data-testid="compared" data-metric={metric.metric}>
      <th scope="row">
        {nameOf(metric)} {'\u00b7'} {metric.metric}
        <span class="ledger-node">{unit}</span>
      </th>
      <td>{figures(one)}</td>
      <td>{figures(other)}</td>
      <td>{Number.isFinite(change) ? formatReal(change) : unknown}</td>
    </tr>
  );
}

/** What stands for all of a time: the value of a counter says nothing. */
function middle(of: MetricFigures): number {
  return of.counted ? of.counted.rate : of.mean;
}

function figures(of: MetricFigures | undefined): string {
  if (!of || of.count === 0) return unknown;
  if (of.counted) return words.counted(formatReal(of.counted.rate), formatReal(of.counted.increase));
  return `${formatReal(of.mean)} (${formatReal(of.min)} \u2013 ${formatReal(of.max)})`;
}
