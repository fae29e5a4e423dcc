import { type ReadonlySignal, useComputed } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { useRoom, widthInDigits } from '../../components/use_room.ts';
import type { ShownSample } from '../../components/use_shown.ts';
import { fitNumber } from '../../format/fit.ts';
import { formatHertz } from '../../format/name.ts';
import { formatInteger, formatRough } from '../../format/number.ts';
import { formatAge, formatClock, formatInstant, formatSince } from '../../format/time.ts';
import { countedSince, toneOfLoss, unexplainedOf } from '../../state/counted.ts';
import { ageOf, takenAt } from '../../state/freshness.ts';
import type { InstanceCells } from '../../state/store.ts';
import { type InstanceEntry, isRateUnknown } from '../../stream/protocol.ts';
import { strings } from '../../strings/strings.ts';

const words = strings.card;
/** Size of the letters of notes (--tiny), in rem. */
const NOTE_REM = 0.7857;
/** Width of a count in a note, in letters. */
const COUNT_WIDTH = 6;
const { unknown } = strings.connection;

/** The four figures that show how current and complete the values are. */
export function Gauges({ cells, shown }: { cells: InstanceCells; shown: ReadonlySignal<ShownSample> }) {
  const isPast = useComputed(() => shown.value.at !== undefined).value;
  // All four are as wide as the first.
  const first = useRef<HTMLElement>(null);
  const room = { figure: useRoom(first).value, note: useRoom(first, NOTE_REM).value };
  if (isPast) return <PastGauges cells={cells} shown={shown} figure={first} room={room} />;
  return (
    <dl class="gauges">
      <RateGauge cells={cells} figure={first} room={room} />
      <AgeGauge cells={cells} room={room} />
      <SequenceGauge cells={cells} room={room} />
      <LossGauge cells={cells} room={room} />
    </dl>
  );
}

/** Digits that fit into a figure, and into the note below it. */
interface Room {
  readonly figure: number;
  readonly note: number;
}

/** A note, or what it says without words where it has no room: a number that is cut would be another one. */
function note(room: Room, full: string, short: string): string {
  return widthInDigits(full) <= room.note ? full : short;
}

/** The same four of a paused page: age and number of the sample that is shown. Rate and losses are known of now only. */
function PastGauges(props: {
  cells: InstanceCells;
  shown: ReadonlySignal<ShownSample>;
  figure: RefObject<HTMLElement>;
  room: Room;
}) {
  const { cells, shown, figure, room } = props;
  const { at = 0, sample, state } = shown.value;
  // Until the answer arrives the sample is of another moment.
  const known = state === 'ready' ? sample : undefined;
  const age = known && formatAge(at - takenAt(cells, known.time));
  const sequence = known && formatInteger(known.sequence);
  return (
    <dl class="gauges is-past">
      <div class="gauge" title={words.notOfThePast}>
        <dt>{`${words.rate} ${words.rateUnit}`}</dt>
        <dd class="gauge-figure" ref={figure}>
          <span class="gauge-value" data-testid="rate">
            {unknown}
          </span>
        </dd>
        <dd class="gauge-note" />
      </div>
      <div class="gauge" title={words.ageThenTip}>
        <dt>{words.age}</dt>
        <dd class="gauge-figure" title={age}>
          <span class="gauge-value" data-testid="age">
            {age === undefined ? unknown : fitAge(age, room.figure)}
          </span>
        </dd>
        <dd class="gauge-note">{known && takenNote(room, known.time)}</dd>
      </div>
      <div class="gauge" title={words.sequenceThenTip}>
        <dt>{words.sequence}</dt>
        <dd class="gauge-figure" title={sequence}>
          <span class="gauge-value" data-testid="sequence">
            {known && sequence ? fitNumber(known.sequence, sequence, room.figure) : unknown}
          </span>
        </dd>
        <dd class="gauge-note" />
      </div>
      <div class="gauge" title={words.notOfThePast}>
        <dt>{words.loss}</dt>
        <dd class="gauge-figure">
          <span class="gauge-value" data-testid="missing">
            {unknown}
          </span>
        </dd>
        <dd class="gauge-note" />
      </div>
    </dl>
  );
}

function RateGauge(props: { cells: InstanceCells; figure: RefObject<HTMLElement>; room: Room }) {
  const { cells, figure, room } = props;
  const rate = cells.flow.value?.rate;
  return (
    <div class="gauge" title={words.rateTip}>
      <dt>{`${words.rate} ${words.rateUnit}`}</dt>
      <dd class="gauge-figure" ref={figure} title={rate === undefined ? undefined : formatRough(rate)}>
        <span class="gauge-value" data-testid="rate">
          {rate === undefined ? unknown : fitNumber(rate, formatRough(rate), room.figure)}
        </span>
      </dd>
      <dd class="gauge-note" data-testid="hertz">
        {configuredRate(cells.entry.value, room)}
      </dd>
    </div>
  );
}

function takenNote(room: Room, time: number): string {
  return note(room, words.taken(formatClock(time)), formatClock(time));
}

function configuredRate(entry: InstanceEntry | undefined, room: Room): string {
  if (!entry) return '';
  if (entry.hertz !== null) {
    const hertz = formatHertz(entry.hertz);
    return note(room, words.configured(hertz), `${hertz} Hz`);
  }
  return isRateUnknown(entry) ? words.configuredUnknown : words.configuredEvent;
}

function AgeGauge({ cells, room }: { cells: InstanceCells; room: Room }) {
  const age = ageOf(cells);
  // By the node's own clock, as in the node's log files.
  const taken = cells.sample.value?.time;
  return (
    <div class="gauge" title={words.ageTip}>
      <dt>{words.age}</dt>
      <dd class="gauge-figure" title={age === undefined ? undefined : formatAge(age)}>
        <span class="gauge-value" data-testid="age">
          {age === undefined ? unknown : fitAge(formatAge(age), room.figure)}
        </span>
      </dd>
      <dd class="gauge-note" title={taken === undefined ? undefined : words.taken(formatClock(taken))}>
        {taken !== undefined && takenNote(room, taken)}
      </dd>
    </div>
  );
}

/** Drops the smaller of two units if only one fits. */
function fitAge(age: string, room: number): string {
  return age.length <= room ? age : age.split(' ').slice(0, 2).join(' ');
}

function SequenceGauge({ cells, room }: { cells: InstanceCells; room: Room }) {
  const sequence = cells.sample.value?.sequence;
  const count = cells.loss.value?.received ?? 0;
  const received = words.received(formatInteger(count));
  return (
    <div class="gauge" title={words.sequenceTip}>
      <dt>{words.sequence}</dt>
      <dd class="gauge-figure" title={sequence === undefined ? undefined : formatInteger(sequence)}>
        <span class="gauge-value" data-testid="sequence">
          {sequence === undefined ? unknown : fitNumber(sequence, formatInteger(sequence), room.figure)}
        </span>
      </dd>
      <dd class="gauge-note" title={received} data-testid="received">
        {note(room, received, fitNumber(count, formatInteger(count), room.note))}
      </dd>
    </div>
  );
}

/** What is missing by the DAC's ledger, and if that is so what this page did not receive besides. */
function LossGauge({ cells, room }: { cells: InstanceCells; room: Room }) {
  const counts = cells.counts.value;
  const began = countedSince(cells);
  const tip = words.lossTip(began === undefined ? '' : formatInstant(began));
  return (
    <div class={`gauge ${toneOfLoss(cells)}`} title={counts ? tip : words.lossUnknown}>
      <dt>{words.loss}</dt>
      <dd class="gauge-figure" title={counts && `${formatInteger(counts.missing)}\n${tip}`}>
        <span class="gauge-value" data-testid="missing">
          {counts ? fitNumber(counts.missing, formatInteger(counts.missing), room.figure) : unknown}
        </span>
      </dd>
      <LossNote cells={cells} began={began} room={room} />
    </div>
  );
}

/** The most important word on the number: how much is unexplained, is not here, was kept back; or since when it counts. */
function LossNote(props: { cells: InstanceCells; began: number | undefined; room: Room }) {
  const { cells, began, room } = props;
  const counts = cells.counts.value;
  const { notHere = 0, since = 0 } = cells.loss.value ?? {};
  const unexplained = unexplainedOf(cells);
  if (unexplained > 0)
    return (
      <dd class="gauge-note" title={words.unexplained(formatInteger(unexplained))} data-testid="unexplained">
        {note(room, words.unexplained(formatInteger(unexplained)), formatInteger(unexplained))}
      </dd>
    );
  if (notHere > 0)
    return (
      <dd
        class="gauge-note"
        title={words.notHereTip(formatInteger(notHere), formatInstant(since))}
        data-testid="not-here"
      >
        {words.notHere(fitNumber(notHere, formatInteger(notHere), COUNT_WIDTH))}
      </dd>
    );
  if (counts && counts.keptBack > 0)
    return (
      <dd class="gauge-note" title={words.keptBackTip} data-testid="kept-back">
        {words.keptBack(fitNumber(counts.keptBack, formatInteger(counts.keptBack), COUNT_WIDTH))}
      </dd>
    );
  return (
    <dd class="gauge-note" data-testid="missing-since">
      {began !== undefined && words.lossSince(formatSince(began))}
    </dd>
  );
}
