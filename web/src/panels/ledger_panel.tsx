import { useComputed, useSignalEffect } from '@preact/signals';
import { formatInteger, formatRough } from '../format/number.ts';
import { formatAge } from '../format/time.ts';
import { formatBytes } from '../format/unit.ts';
import { followDacLedger } from '../state/dac_ledger.ts';
import { ageOf } from '../state/freshness.ts';
import { shownTargets } from '../state/panels.ts';
import { cellsOf, connection, traffic } from '../state/store.ts';
import type { GapCause } from '../stream/ledger.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { SamplePath } from './sample_path.tsx';
import { useVisible } from './visible.ts';

const words = strings.ledger;
const { unknown } = strings.connection;

/** The books of page and DAC: what came, what is missing and why, and how long each hop takes. */
export function LedgerPanel() {
  const isVisible = useVisible();
  const isAsking = useComputed(() => isVisible.value && connection.value.phase === 'connected');
  useSignalEffect(() => (isAsking.value ? followDacLedger() : undefined));
  const { clock, door } = connection.value;
  const { bytesPerSecond, messagesPerSecond, bytes } = traffic.value;
  const facts: [string, string][] = [
    [words.door, strings.connection.doors[door]],
    [words.bandwidth, `${formatBytes(bytesPerSecond)}/s`],
    [words.messages, `${formatRough(messagesPerSecond)}/s`],
    [words.total, formatBytes(bytes)],
    [words.offset, clock ? `${clock.offset.toFixed(2)} ms` : unknown],
    [words.roundTrip, clock ? `${clock.roundTrip.toFixed(2)} ms` : unknown],
  ];
  return (
    <section class="panel" data-testid="ledger">
      <dl class="facts-row">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div class="table-scroll" tabIndex={0}>
        <table class="ledger">
          <thead>
            <tr>
              {words.columns.map(([name, tip]) => (
                <th key={name} scope="col" title={tip}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          {shownTargets.value.map((target) => (
            <tbody key={keyOf(target)}>
              <Row target={target} />
              <SamplePath target={target} columns={words.columns.length} />
            </tbody>
          ))}
        </table>
      </div>
    </section>
  );
}

function Row({ target }: { target: Target }) {
  const cells = cellsOf(target);
  const loss = cells.loss.value;
  const flow = cells.flow.value;
  const age = ageOf(cells);
  const offset = cells.node.value?.clock_offset_ns;
  const causes = Object.entries(loss?.causes ?? {}) as [GapCause, number][];
  const unexplained = loss?.unexplained ?? 0;
  return (
    <tr data-testid="ledger-row" data-instance={target.instance}>
      <th scope="row" title={target.node}>
        {target.instance}
        <span class="ledger-node">{target.node}</span>
      </th>
      <td>{formatInteger(loss?.received ?? 0)}</td>
      <td class={unexplained > 0 ? 'is-bad' : (loss?.missing ?? 0) > 0 ? 'is-warn' : ''}>
        {formatInteger(loss?.missing ?? 0)}
      </td>
      <td class="ledger-causes">
        {causes.length === 0
          ? unknown
          : causes
              .map(([cause, count]) => `${formatInteger(count)}: ${strings.gaps.cause[cause]}`)
              .join('; ')}
      </td>
      <td>{flow?.rate === undefined ? unknown : `${formatRough(flow.rate)}/s`}</td>
      <td>{age === undefined ? unknown : formatAge(age)}</td>
      <td>{milliseconds(flow?.hops?.toDac)}</td>
      <td>{milliseconds(flow?.hops?.toBrowser)}</td>
      <td>{milliseconds(offset === undefined || offset === null ? undefined : offset / 1e6)}</td>
    </tr>
  );
}

function milliseconds(value: number | undefined): string {
  if (value === undefined) return unknown;
  return Math.abs(value) < 1000 ? `${value.toFixed(2).replace('-', '\u2212')} ms` : formatAge(value);
}
