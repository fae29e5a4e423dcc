import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatChange, formatInteger, formatReal } from '../format/number.ts';
import { formatUnit } from '../format/unit.ts';
import type { ComparedInstance, ComparedRow, Comparison, Figures } from '../state/comparison.ts';
import { testRunStrings } from '../strings/test_runs.ts';
import { strings } from '../strings.ts';

const words = testRunStrings.testRuns;
const { unknown } = strings.connection;

/** Two test runs, instance by instance, metric by metric. */
export function ComparisonTable({ comparison }: { comparison: Comparison }) {
  const { runs, instances, hasMore } = comparison;
  const table = useRef<HTMLTableElement>(null);
  // The list above it may be long.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another comparison is gone to as well
  useEffect(() => {
    table.current?.focus({ preventScroll: true });
    table.current?.scrollIntoView({ block: 'start' });
  }, [comparison]);
  return (
    <>
      <table class="ledger comparison" data-testid="comparison" ref={table} tabIndex={-1}>
        <thead>
          <tr>
            <th scope="col" class="is-text">
              {words.metric}
            </th>
            {runs.map((run) => (
              <th key={run.id} scope="col" title={words.figuresTip}>
                <bdi>{run.name}</bdi>
              </th>
            ))}
            <th scope="col" title={words.changeTip}>
              {words.change}
            </th>
          </tr>
        </thead>
        {instances.map((instance) => (
          <Instance key={JSON.stringify([instance.node, instance.instance])} compared={instance} />
        ))}
      </table>
      {instances.length === 0 && <p class="hint">{words.nothingStored}</p>}
      {hasMore && <p class="hint">{words.more}</p>}
    </>
  );
}

function Instance({ compared }: { compared: ComparedInstance }) {
  const { node, instance, rows, constants } = compared;
  return (
    <tbody data-testid="compared" data-node={node} data-instance={instance}>
      <tr>
        <th scope="rowgroup" colSpan={4} class="is-text">
          <bdi>{node}</bdi>/<bdi>{instance}</bdi>
        </th>
      </tr>
      {rows.map((row) => (
        <Row key={`${row.of} ${row.name}`} row={row} />
      ))}
      {constants.length > 0 && (
        <tr>
          <td colSpan={4} class="is-text" data-testid="compared-constant">
            {words.constant}{' '}
            {constants
              .map(({ name, unit, value }) =>
                [name, figure(value), formatUnit(unit)].filter(Boolean).join(' '),
              )
              .join(', ')}
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Row({ row }: { row: ComparedRow }) {
  const { of, name, unit, sides, change } = row;
  return (
    <tr data-testid="compared-row" data-of={of} data-name={name}>
      <th scope="row">
        {of === 'metric' ? <Breakable name={name} /> : words.compared[of](name)}
        <span class="ledger-node">{formatUnit(unit)}</span>
      </th>
      {sides.map((side, index) => (
        <td key={index === 0 ? 'first' : 'second'}>{side ? figures(side) : unknown}</td>
      ))}
      <td>{change === undefined ? '' : formatChange(change)}</td>
    </tr>
  );
}

/** Breaks a name after an underscore if it does not fit into one line. */
function Breakable({ name }: { name: string }) {
  const parts = name.split(/(?<=_)/);
  return (
    <>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}

function figures({ value, range, increase }: Figures): string {
  if (increase !== undefined) return words.counted(figure(value), figure(increase));
  return range ? `${figure(value)} (${range.map(figure).join('\u00a0\u2013 ')})` : figure(value);
}

function figure(value: number): string {
  return Number.isInteger(value) ? formatInteger(value) : formatReal(value);
}
