import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../components/icon.tsx';
import { Toggle } from '../../components/toggle.tsx';
import { formatChange, formatInteger, formatReal } from '../../format/number.ts';
import { formatSpan } from '../../format/time.ts';
import { formatUnit } from '../../format/unit.ts';
import { activeDock } from '../../state/active_dock.ts';
import {
  type ComparedInstance,
  type ComparedRow,
  type Comparison,
  type Figures,
  perMinute,
} from '../../state/comparison.ts';
import { clock } from '../../state/now.ts';
import { openPanel, revealed } from '../../state/panels.ts';
import type { TestRun } from '../../state/test_runs.ts';
import { strings } from '../../strings/strings.ts';
import { testRunStrings } from '../../strings/test_runs.ts';
import { keyOf, type Target } from '../../wire/target.ts';

const words = testRunStrings.testRuns;
const { unknown } = strings.connection;

/** Two test runs, instance by instance, metric by metric. */
export function ComparisonTable(props: { comparison: Comparison; onSwap: () => void }) {
  const { comparison, onSwap } = props;
  const isPerMinute = useSignal(false);
  const { runs, instances, hasMore } = isPerMinute.value ? perMinute(comparison, clock()) : comparison;
  const table = useRef<HTMLTableElement>(null);
  const options = useRef<HTMLDivElement>(null);
  // The list above it may be long.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another comparison is gone to as well
  useEffect(() => {
    table.current?.focus({ preventScroll: true });
    options.current?.scrollIntoView({ block: 'start' });
  }, [comparison]);
  return (
    <>
      <div class="panel-options" ref={options}>
        <button type="button" class="button" data-testid="comparison-swap" onClick={onSwap}>
          {words.swap}
        </button>
        <Toggle
          label={words.perMinute}
          isOn={isPerMinute.value}
          testId="comparison-per-minute"
          onChange={(isOn) => {
            isPerMinute.value = isOn;
          }}
        />
      </div>
      <table class="ledger comparison" data-testid="comparison" ref={table} tabIndex={-1}>
        <thead>
          <tr>
            <th scope="col" class="is-text">
              {words.metric}
            </th>
            {runs.map((run) => (
              <th key={run.id} scope="col" title={words.figuresTip}>
                <bdi>{run.name}</bdi>
                <span class="ledger-node">{formatSpan(lengthOf(run))}</span>
              </th>
            ))}
            <th scope="col" title={words.changeTip}>
              {words.change}
            </th>
          </tr>
        </thead>
        {instances.map((instance) => (
          <Instance key={keyOf(instance)} compared={instance} runs={runs} />
        ))}
      </table>
      {instances.length === 0 && <p class="hint">{words.nothingStored}</p>}
      {hasMore && <p class="hint">{words.more}</p>}
    </>
  );
}

/** In whole seconds; one that goes on ends now. */
function lengthOf({ started, stopped = clock() }: TestRun): number {
  return Math.max(1000, Math.round((stopped - started) / 1000) * 1000);
}

type Runs = Comparison['runs'];

function Instance({ compared, runs }: { compared: ComparedInstance; runs: Runs }) {
  const { node, instance, rows, constants } = compared;
  return (
    <tbody data-testid="compared" data-node={node} data-instance={instance}>
      <tr>
        <th scope="rowgroup" colSpan={4} class="is-text">
          <bdi>{node}</bdi>/<bdi>{instance}</bdi>
        </th>
      </tr>
      {rows.map((row) => (
        <Row key={`${row.of} ${row.name}`} row={row} target={{ node, instance }} runs={runs} />
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

function Row({ row, target, runs }: { row: ComparedRow; target: Target; runs: Runs }) {
  const { of, name, unit, sides, change } = row;
  return (
    <tr data-testid="compared-row" data-of={of} data-name={name}>
      <th scope="row">
        {of === 'metric' ? <Breakable name={name} /> : words.compared[of](name)}
        <span class="ledger-node">{formatUnit(unit)}</span>
        {of === 'metric' && (
          <IconButton
            icon="curve"
            label={words.curves(name)}
            testId="compared-curves"
            onClick={() => openCurves(target, name, runs)}
          />
        )}
      </th>
      {sides.map((side, index) => (
        <td key={index === 0 ? 'first' : 'second'}>{side ? figures(side) : unknown}</td>
      ))}
      <td>{change === undefined ? '' : formatChange(change)}</td>
    </tr>
  );
}

/** Opens a panel with the curves of both test runs, from their beginnings. */
function openCurves(target: Target, metric: string, runs: Runs): void {
  const spec = openPanel({
    kind: 'overlay',
    target,
    metric,
    runs: runs.map(({ name, started, stopped }) => ({ name, from: started, to: stopped ?? clock() })),
  });
  activeDock()?.focus(spec.id);
  revealed.value = { id: spec.id };
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
