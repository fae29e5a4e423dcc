import { useComputed, useSignalEffect } from '@preact/signals';
import { NowNote } from '../../components/moment_note.tsx';
import { TargetText } from '../../components/name_text.tsx';
import { useVisible } from '../../components/visible.ts';
import { formatInteger, formatRough } from '../../format/number.ts';
import { formatAge, formatInstant } from '../../format/time.ts';
import { formatBytes } from '../../format/unit.ts';
import { chooseDoor } from '../../state/actions.ts';
import { archiveTrouble, archiveWarnings } from '../../state/archive_condition.ts';
import { toneOfLoss } from '../../state/counted.ts';
import { healthProblems, problemsBesides } from '../../state/dac_health.ts';
import { followDacLedger, ledgerCauses, ledgerFilter, ledgerTargets } from '../../state/dac_ledger.ts';
import { chosenDoor } from '../../state/door_choice.ts';
import { openFleet } from '../../state/fleet.ts';
import { ageOf } from '../../state/freshness.ts';
import { followHandlers } from '../../state/handlers.ts';
import { shownTargets } from '../../state/panels.ts';
import { cellsOf, connection, registry, traffic } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import { expectedAge } from '../../stream/age_model.ts';
import { beganAt } from '../../stream/dac_counts.ts';
import { DOORS, type DoorName } from '../../stream/doors/door.ts';
import type { NodeEntry } from '../../stream/protocol.ts';
import { strings } from '../../strings/strings.ts';
import { keyOf, type Target } from '../../wire/target.ts';
import { HandlerList } from './handler_list.tsx';
import { SamplePath } from './sample_path.tsx';

const words = strings.ledger;
const { unknown } = strings.connection;
/** When this page was opened. */
const OPENED = performance.timeOrigin;

/** The ledgers of page and DAC: received and missing samples with causes, and the time of each hop. */
export function LedgerPanel() {
  const isVisible = useVisible();
  const isAsking = useComputed(() => isVisible.value && connection.value.phase === 'connected');
  useSignalEffect(() => (isAsking.value ? followDacLedger() : undefined));
  useSignalEffect(() => (isAsking.value ? followHandlers() : undefined));
  const { clock, door, epoch } = connection.value;
  const { bytesPerSecond, messagesPerSecond, bytes } = traffic.value;
  const began = beganAt(epoch);
  const facts: [string, string][] = [
    [words.door, strings.connection.doors[door]],
    [words.bandwidth, `${formatBytes(bytesPerSecond)}/s`],
    [words.messages, `${formatRough(messagesPerSecond)}/s`],
    [words.total, formatBytes(bytes)],
    [
      words.offset,
      clock ? words.within(milliseconds(clock.offset), milliseconds(clock.roundTrip / 2)) : unknown,
    ],
    [words.roundTrip, milliseconds(clock?.roundTrip)],
  ];
  return (
    <section class="panel" data-testid="ledger">
      {!range.value.live && <NowNote />}
      {archiveTrouble.value && (
        <p class="card-problem" data-testid="ledger-archive-trouble">
          {strings.connection.archiveTrouble(archiveTrouble.value.condition)} {archiveTrouble.value.detail}
        </p>
      )}
      {problemsBesides(archiveTrouble.value !== undefined, healthProblems.value).map(({ reason }) => (
        <p key={reason} class="card-problem" data-testid="ledger-health-problem">
          {reason}
        </p>
      ))}
      {archiveWarnings.value.map(({ detail }) => (
        <p key={detail} class="card-problem card-warning" data-testid="ledger-archive-warning">
          {words.archiveWarning(detail)}
        </p>
      ))}
      <HandlerList />
      <dl class="facts-row">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div>
          <dt>{strings.connection.chooseDoor}</dt>
          <dd>
            <DoorSelect />
          </dd>
        </div>
      </dl>
      <p class="hint" data-testid="ledger-scopes">
        {words.scopes(began === undefined ? '' : formatInstant(began), formatInstant(OPENED))}
      </p>
      <Filter />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div class="table-scroll" tabIndex={0}>
        <table class="ledger">
          <thead>
            <tr>
              {words.columns.map(([name, tip, kind]) => (
                <th key={name} scope="col" class={kind} title={tip}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          {ledgerTargets.value.map((target) => (
            <tbody key={keyOf(target)}>
              <Row target={target} />
              <SamplePath target={target} columns={words.columns.length} />
            </tbody>
          ))}
        </table>
        {ledgerTargets.value.length === 0 && (
          <p class="hint">{shownTargets.value.length === 0 ? strings.control.nothing : words.nothing}</p>
        )}
      </div>
    </section>
  );
}

/** The filter by name and by cause. */
function Filter() {
  const { name, cause } = ledgerFilter.value;
  return (
    <div class="panel-bar">
      <input
        class="input"
        type="search"
        placeholder={words.filter}
        aria-label={words.filter}
        data-testid="ledger-filter"
        value={name}
        onInput={(event) => {
          ledgerFilter.value = { ...ledgerFilter.peek(), name: event.currentTarget.value };
        }}
      />
      <button
        type="button"
        class="button"
        title={strings.tree.fleetTip(registry.value?.nodes.length ?? 0)}
        data-testid="ledger-fleet"
        onClick={openFleet}
      >
        {strings.tree.fleet}
      </button>
      <select
        class="input"
        aria-label={words.causeFilter}
        data-testid="ledger-cause-filter"
        value={cause}
        onChange={(event) => {
          ledgerFilter.value = { ...ledgerFilter.peek(), cause: event.currentTarget.value };
        }}
      >
        <option value="">{words.anyCause}</option>
        {ledgerCauses.value.map((known) => (
          <option key={known} value={known}>
            {words.causeChoice(known)}
          </option>
        ))}
      </select>
    </div>
  );
}

function causesIn(causes: readonly (readonly [cause: string, count: number])[]): string[] {
  return causes.map(([cause, count]) => `${formatInteger(count)}: ${strings.gaps.describe(cause, count)}`);
}

function Row({ target }: { target: Target }) {
  const cells = cellsOf(target);
  const [counts, here] = [cells.counts.value, cells.loss.value];
  const flow = cells.flow.value;
  const age = ageOf(cells);
  const hops = flow?.hops;
  const expected = expectedOnArrival(flow?.rate, cells.node.value);
  const causes = causesIn(counts?.causes ?? []);
  if (counts && counts.keptBack > 0) causes.push(words.keptBack(formatInteger(counts.keptBack)));
  return (
    <tr data-testid="ledger-row" data-instance={target.instance}>
      <th scope="row">
        <TargetText target={target} />
      </th>
      <td class={toneOfLoss(cells)} data-testid="ledger-missing">
        {counts ? formatInteger(counts.missing) : unknown}
      </td>
      <td class="ledger-causes" data-testid="ledger-causes">
        {causes.length === 0 ? unknown : causes.join('; ')}
      </td>
      <td data-testid="ledger-received">{formatInteger(here?.received ?? 0)}</td>
      <td
        class={here && here.notHere > 0 ? 'is-warn' : ''}
        title={causesIn([...(here?.causesHere ?? [])]).join('\n')}
        data-testid="ledger-not-here"
      >
        {formatInteger(here?.notHere ?? 0)}
      </td>
      <td>{flow?.rate === undefined ? unknown : `${formatRough(flow.rate)}/s`}</td>
      <td>{age === undefined ? unknown : formatAge(age)}</td>
      <td data-testid="hop-node">{milliseconds(hops?.inNode)}</td>
      <td data-testid="hop-dac">{milliseconds(hops?.toDac)}</td>
      <td data-testid="hop-page">{milliseconds(hops?.toBrowser)}</td>
      <td data-testid="arrival">
        {milliseconds(hops && hops.inNode + hops.toDac + hops.toBrowser)}
        {expected !== undefined && <span class="ledger-node">{words.expected(milliseconds(expected))}</span>}
      </td>
      <td data-testid="node-clock">{clockOf(cells.node.value)}</td>
    </tr>
  );
}

/** Returns the age to expect of a sample on its arrival, if its rate and both round trips are known; milliseconds. */
function expectedOnArrival(rate: number | undefined, node: NodeEntry | undefined): number | undefined {
  const { clock, door } = connection.value;
  if (!rate || !clock || typeof node?.round_trip_ns !== 'number') return undefined;
  return expectedAge({ door, rate, toDac: node.round_trip_ns / 2e6, toPage: clock.roundTrip / 2 });
}

/** Returns the clock offset of a node and its uncertainty, which is half of the round trip. */
function clockOf(node: NodeEntry | undefined): string {
  if (typeof node?.clock_offset_ns !== 'number') return unknown;
  const offset = milliseconds(node.clock_offset_ns / 1e6);
  return node.round_trip_ns === null ? offset : words.within(offset, milliseconds(node.round_trip_ns / 2e6));
}

function milliseconds(value: number | undefined): string {
  if (value === undefined) return unknown;
  return Math.abs(value) < 1000 ? `${value.toFixed(2).replace('-', '\u2212')} ms` : formatAge(value);
}

const BEST = '';
const doorWords = strings.connection;

/** Chooses the door by hand, or leaves it to the page. */
function DoorSelect() {
  return (
    <select
      class="input"
      aria-label={doorWords.chooseDoor}
      data-testid="door-choice"
      value={chosenDoor.value ?? BEST}
      onChange={({ currentTarget }) =>
        chooseDoor(currentTarget.value === BEST ? undefined : (currentTarget.value as DoorName))
      }
    >
      <option value={BEST}>{doorWords.bestDoor}</option>
      {DOORS.map((door) => (
        <option key={door} value={door}>
          {doorWords.doors[door]}
        </option>
      ))}
    </select>
  );
}
