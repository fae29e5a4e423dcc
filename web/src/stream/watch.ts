import {
  type Batch,
  DecodeError,
  decodeBatch,
  type MetricType,
  parseSchema,
  type Schema,
  SchemaError,
  type Value,
} from '@oasis/wire';
import type { StoredTimes } from '../past/stored.ts';
import type { GapCause, GapMark, Interruption } from '../series/causes.ts';
import { Intervals, LATE_FACTOR, type Pace, SLACK_MS } from '../series/pace.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { withoutPlaceholders } from './absent.ts';
import { AlarmWatch } from './alarms.ts';
import { withoutBlobs } from './blobs.ts';
import { CounterRates } from './counters.ts';
import { Delays, MAX_DOOR_MS } from './delays.ts';
import { History } from './history.ts';
import { type Gap, type LossView, logName, SequenceLedger } from './ledger.ts';
import { type Interrupted, Memory } from './memory.ts';
import { type Position, resumeAt } from './position.ts';
import { type InstanceEntry, isRateUnknown, PERIODIC, PUSHED } from './protocol.ts';
import { RateMeter } from './rate.ts';
import type { FlowView, HopTimes, SampleView, WatchStatus } from './view.ts';

const TWO_32 = 2 ** 32;
/** The offset of a batch that a node with a backlog has sent ahead of its turn. */
const NO_OFFSET = 2n ** 64n - 1n;

/** How long after a batch from the DAC's log the next one may come: on a slow connection they come in pieces. */
const PIECES_MS = 2000;

/** What a chart shows of the past when a page continues what another one has watched, milliseconds. */
const LOOK_BACK_MS = 60_000;
/** Samples of that time: at most, and if the rate is unknown. */
const MOST_LOOKED_BACK = 6000;
const USUAL_LOOKED_BACK = 1000;
const LEAST_LOOKED_BACK = 100;

/** One watched instance: its position in the log, its ledger, its newest sample, its samples in memory. */
export class Watch {
  readonly key: string;
  status: WatchStatus['status'] = 'waiting';
  problem: string | undefined;
  schema: Schema | undefined;
  topic: number | undefined;
  sample: SampleView | undefined;
  memory: Memory | undefined;
  alarms: AlarmWatch | undefined;
  readonly rate = new RateMeter();
  readonly history = new History();
  readonly ledger = new SequenceLedger();

  /** The number of the instance at the DAC whose counts the page has. */
  countedAs: number | undefined;

  /** The parts that the page does not have yet. */
  readonly dirty = { status: true, sample: false, flow: true, loss: true };

  private types: readonly MetricType[] = [];
  private counters: CounterRates | undefined;
  private epoch: string | undefined;
  private nextOffset = 0;
  /** Whether the subscription asked for the newest samples only. */
  isFromNewest = false;
  /** The offset at which it began. */
  private firstOffset = 0;
  /** Time of the newest sample that came in its turn. The sample that the page shows may be newer. */
  private newestInOrder: number | undefined;
  /** Whether the sample that the page shows came before its turn. */
  private isSampleAhead = false;
  /** The newest sample, if its run is known. */
  private last: { run: string; sequence: number } | undefined;
  /** The run in the registry, if a batch has shown that it is over. */
  private endedRun: string | undefined;
  private hops: HopTimes | undefined;
  pace: Pace = null;
  private readonly intervals = new Intervals();
  private readonly delays = new Delays();
  /** When the newest batch arrived, if the DAC had it for long: it came from the DAC's log. */
  private pastAt: number | undefined;
  private isReplay = false;
  /** The run of the node's process in the newest registry. */
  private run: string | undefined;
  private isPaceNew = true;
  /** Whether its node is there and the probe enabled. */
  isTaking = true;
  /** Cause of the present silence, if known. */
  private silenceCause: Interruption | undefined;
  private shown: { second: number; rate: number | undefined } = { second: 0, rate: undefined };

  /** `before`: where the page of another DAC has left off. */
  constructor(
    readonly target: Target,
    private before?: Position,
  ) {
    this.key = keyOf(target);
  }

  /** The position to resume at after an interruption: of this DAC, and if possible of any other one that has the sample. */
  get position(): string | undefined {
    if (this.epoch === undefined) return this.lookBack;
    const { last } = this;
    const portable = last === undefined ? '' : ` ${last.run}@${last.sequence + 1}`;
    return `${this.epoch}:${this.nextOffset}${portable}`;
  }

  /** The newest sample, for the page of another DAC. */
  get newestPosition(): Position | undefined {
    const { target, last, epoch, nextOffset } = this;
    if (last === undefined || epoch === undefined) return this.before;
    return { ...target, ...last, epoch, offset: nextOffset };
  }

  /** A place somewhat before that where another page has left off, so that charts have a past. */
  private get lookBack(): string | undefined {
    return this.before && resumeAt(this.before, this.recentSamples);
  }

  /** Number of the newest samples to begin with: those of a minute, if they are not too many. */
  get recentSamples(): number {
    const { pace } = this;
    const samples = typeof pace === 'number' ? Math.ceil((pace * LOOK_BACK_MS) / 1000) : USUAL_LOOKED_BACK;
    return Math.min(MOST_LOOKED_BACK, Math.max(LEAST_LOOKED_BACK, samples));
  }

  /** Whether the page began with the newest samples, and the DAC may have older ones in memory. */
  get hasOlderInLog(): boolean {
    return this.isFromNewest && this.topic !== undefined && this.firstOffset > 0;
  }

  /** Forgets all samples but the one on the card. The next ones are the newest, as on a page that has just been opened. */
  restart(): void {
    this.moved();
    this.last = undefined;
    this.before = undefined;
    this.memory = this.schema && new Memory(this.schema);
    this.ledger.restart();
    this.intervals.clear();
    this.rate.reset();
    this.isPaceNew = true;
  }

  setStatus(status: WatchStatus['status'], problem?: string): void {
    if (this.status === status && this.problem === problem) return;
    this.status = status;
    this.problem = problem;
    this.dirty.status = true;
  }

  subscribed(
    topic: number,
    epoch: string,
    offset: number,
    entry: InstanceEntry,
    schema: unknown,
    now: number,
  ): void {
    if (!this.changeType(schema)) return;
    this.topic = topic;
    this.firstOffset = offset;
    this.startEpoch(epoch, offset, now);
    this.updateEntry(entry);
    this.status = 'live';
    this.problem = undefined;
    this.dirty.status = true;
  }

  /** The next batches have this type. Returns whether it can be read. */
  changeType(schema: unknown): boolean {
    const before = this.schema;
    try {
      this.schema = parseSchema(schema);
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      this.setStatus('failed', error.message);
      return false;
    }
    // After an interruption the type is usually unchanged, and memory continues.
    if (!this.memory || before?.uuid !== this.schema.uuid || before.version !== this.schema.version)
      this.remember(this.schema);
    this.types = this.schema.metrics.map((metric) => metric.type);
    this.counters = new CounterRates(this.schema.metrics);
    return true;
  }

  /** Offsets count in this epoch from here on. */
  startEpoch(epoch: string, offset: number, now: number): void {
    if (this.epoch === epoch) return;
    // The newest samples may begin in an earlier life of the DAC: charts read that from the archive.
    if (this.epoch !== undefined && this.isFromNewest) this.restart();
    else if (this.epoch !== undefined) this.epochChanged(now);
    this.epoch = epoch;
    this.nextOffset = offset;
    if (this.topic !== undefined) this.ledger.startLog(logName(epoch, this.topic));
  }

  /** Handles the newest registry entry of the instance. */
  updateEntry(entry: InstanceEntry): void {
    this.ledger.setRun(entry.run);
    // A recording may be replayed again at another speed.
    if (entry.run !== this.run) this.intervals.clear();
    this.run = entry.run;
    this.ledger.setRecorder(entry.recorder !== null);
    this.ledger.setReplay(entry.replay);
    this.isReplay = entry.replay;
    this.setPace(paceOf(entry));
    this.isTaking = entry.state === 'online' && entry.enabled;
    if (entry.state !== 'online') this.silenceCause = 'node_offline';
    else if (!entry.enabled) this.silenceCause = 'disabled';
  }

  private setPace(pace: Pace): void {
    if (pace === this.pace) return;
    this.pace = pace;
    this.isPaceNew = true;
    this.rate.reset();
    this.dirty.flow = true;
  }

  gap(cause: string): void {
    // `subscribed` has handled a change of the epoch already.
    if (cause !== 'epoch_changed') this.ledger.announceGap(cause);
  }

  /** What is missing before the next batch, as the DAC's ledger has it. */
  gapsBefore(gaps: readonly Gap[]): void {
    this.ledger.reportGaps(gaps);
  }

  /** The name belongs to another log now, in which the position is meaningless. */
  moved(): void {
    this.epoch = undefined;
  }

  reconnected(now: number, duration: number): void {
    this.ledger.reconnected(now, duration);
    this.history.addGap(now, 0, 'reconnected');
    this.dirty.loss = true;
    this.dirty.flow = true;
  }

  disconnected(): void {
    this.topic = undefined;
    this.setStatus('waiting');
  }

  /**
   * Handles an encoded batch. `lag` is browser clock minus node clock and converts the times of the samples to the
   * browser's clock; `dacLag` is the same for the DAC.
   */
  batch(bytes: Uint8Array, now: number, lag: number, dacLag: number): void {
    try {
      const batch = withoutPlaceholders(decodeBatch(bytes, this.types), this.schema?.metrics ?? []);
      this.addBatch(batch, now, lag, dacLag);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      this.setStatus('failed', error.message);
    }
  }

  /** Handles a decoded batch; see {@link batch}. */
  addBatch(received: Batch, now: number, lag: number, dacLag: number): void {
    const batch = withoutBlobs(received, this.schema?.metrics ?? []);
    if (batch.offset === NO_OFFSET) {
      this.showAhead(batch, now, lag, dacLag);
      return;
    }
    const first = Number(batch.firstSequence);
    const times = millis(batch.times);
    const last = batch.count - 1;
    this.takeOver(first);
    const before = this.ledger.view();
    const newest = this.memory?.store.newest;
    const apart = newest !== undefined && times[0] > newest ? times[0] - newest : undefined;
    const isContinued = this.ledger.add(first, batch.count, batch.droppedBefore, times[0] + lag, apart);
    if (!isContinued) {
      this.rate.reset();
      this.markGaps(before.events[0], times[0] + lag);
    }
    const known = batch.count - (this.ledger.view().received - before.received);
    this.memory?.add(batch, times, known, this.interruptions(before, isContinued, times, known, lag));
    this.memory?.addFrames(received, times, known);
    if (this.isTaking) this.silenceCause = undefined;
    this.isPaceNew = false;
    this.noteDelay(batch, times[0], { now, lag, dacLag });
    this.countSeconds(times, lag);
    this.alarms?.add(batch, times, lag, now);
    this.rate.add(times[last], batch.count, now);
    const values = this.valuesOf(batch, last);
    const rates = this.counters?.add(times[last], values) ?? [];
    this.newestInOrder = times[last];
    if (!this.isBehindShown(first + last, times[last])) {
      this.isSampleAhead = false;
      this.show(batch, times[last], values, rates, { now, lag, dacLag });
    }
    this.nextOffset = Number(batch.offset) + batch.count;
    this.rememberLast(first + last);
    if (this.status === 'failed') this.setStatus('live');
    this.dirty.sample = true;
    this.dirty.flow = true;
    this.dirty.loss = true;
  }

  /**
   * The first batch after another page has left off: if it begins later, the samples between are missing. One that begins earlier
   * is a past that this page has not shown.
   */
  private takeOver(first: number): void {
    const { before, run } = this;
    this.before = undefined;
    if (before === undefined || before.run !== run || first <= before.sequence + 1) return;
    this.ledger.continueAfter(before.sequence);
  }

  /** Shows the newest sample of a node with a backlog. It counts, and enters the charts, when its turn comes. */
  private showAhead(batch: Batch, now: number, lag: number, dacLag: number): void {
    const last = batch.count - 1;
    const time = millis(batch.times)[last];
    if (this.sample !== undefined && time < this.sample.time) return;
    this.isSampleAhead = true;
    this.show(batch, time, this.valuesOf(batch, last), [], { now, lag, dacLag });
    this.dirty.sample = true;
    this.dirty.flow = true;
  }

  private noteDelay(
    batch: Batch,
    first: number,
    { now, lag, dacLag }: { now: number; lag: number; dacLag: number },
  ): void {
    const inDac = Number(batch.dacTime) / 1e6 + dacLag;
    this.delays.add(inDac - (first + lag), now - inDac);
    this.pastAt = now - inDac > MAX_DOOR_MS ? now : undefined;
  }

  /** A sample of a backlog does not replace a newer one that was shown ahead of it. */
  private isBehindShown(sequence: number, time: number): boolean {
    const { sample, isSampleAhead } = this;
    return isSampleAhead && sample !== undefined && sequence < sample.sequence && time < sample.time;
  }

  private show(
    batch: Batch,
    time: number,
    values: SampleView['values'],
    rates: SampleView['rates'],
    { now, lag, dacLag }: { now: number; lag: number; dacLag: number },
  ): void {
    const sent = Number(batch.nodeTime) / 1e6;
    const inDac = Number(batch.dacTime) / 1e6 + dacLag;
    this.hops = { inNode: sent - time, toDac: inDac - (sent + lag), toBrowser: now - inDac };
    const sequence = Number(batch.firstSequence) + batch.count - 1;
    this.sample = { key: this.key, sequence, time, state: batch.state, values, rates };
  }

  private valuesOf(batch: Batch, index: number): (Value | undefined)[] {
    return batch.metrics.map((column, metric) => valueAt(column, index, this.types[metric]));
  }

  /** The registry may tell of a new run later than its first batch comes: until then its samples have no portable position. */
  private rememberLast(sequence: number): void {
    const { run, last } = this;
    if (last !== undefined && last.run === run && sequence <= last.sequence) this.endedRun = run;
    this.last = run === undefined || run === this.endedRun ? undefined : { run, sequence };
  }

  /** Marks changes of rate and strip, which change without samples, too. */
  review(now: number, lag: number): void {
    const second = Math.floor(now / 1000);
    if (second !== this.shown.second || this.rateAt(now, lag) !== this.shown.rate) this.dirty.flow = true;
  }

  /** Whether the page receives what the DAC has kept. Of the time after that nothing is known here yet. */
  private isCatchingUp(now: number): boolean {
    const { pastAt, status } = this;
    return status === 'live' && pastAt !== undefined && now - pastAt < PIECES_MS;
  }

  /** Returns the samples a second: none while the probe is silent, stopped or gone, else unknown without live samples. */
  private rateAt(now: number, lag: number): number | undefined {
    if (this.isCatchingUp(now)) return undefined;
    const lasting = this.lastingGap(now, lag);
    if (!lasting) return this.rate.rate(now);
    return lasting.cause === 'reconnected' ? undefined : 0;
  }

  /**
   * Returns the time since the newest sample if the probe is silent, stopped or gone, by the node's clock; by the rule
   * of silences that are over. `stored`: the newest sample in the archive.
   */
  lastingGap(now: number, lag: number, stored?: number): GapMark | undefined {
    const newest = this.memory?.store.newest ?? stored;
    // The samples of a replay are not of now.
    if (newest === undefined || this.isReplay || this.isCatchingUp(now)) return undefined;
    const to = now - lag;
    const age = to - newest;
    if (!(this.isTaking ? this.isSilent(newest, age) : age > this.leastStop())) return undefined;
    return { from: newest, to, cause: this.lastingCause, count: 0, isLasting: true };
  }

  private get lastingCause(): Interruption {
    if (this.isTaking && this.status === 'waiting') return 'reconnected';
    return (this.isTaking ? undefined : this.silenceCause) ?? 'silent';
  }

  private isSilent(newest: number, age: number): boolean {
    // At a new rate it is unknown when the next sample is due.
    return !this.isPaceNew && this.intervals.isSilent(newest, age - this.delays.longest, this.pace);
  }

  /** How old the newest sample is at least if a probe that takes none has missed one, milliseconds. */
  private leastStop(): number {
    const usual = this.expectedRate === null ? (this.intervals.newest ?? 0) : 1000 / this.expectedRate;
    return LATE_FACTOR * usual + SLACK_MS;
  }

  /** Expected samples per second, if known. */
  get expectedRate(): number | null {
    return typeof this.pace === 'number' ? this.pace : null;
  }

  /** Returns rate, history and hops. `lag` is browser clock minus node clock, `stored` the time span in the archive. */
  flow(now: number, lag: number, stored?: StoredTimes): FlowView {
    const rate = this.rateAt(now, lag);
    this.shown = { second: Math.floor(now / 1000), rate };
    const { hops, memory } = this;
    const remembered = memory?.store.oldest;
    const oldest = stored === undefined ? remembered : Math.min(stored.oldest, remembered ?? stored.oldest);
    const newest = this.newestInOrder ?? stored?.newest;
    const lasting = this.lastingGap(now, lag, stored?.newest);
    return {
      key: this.key,
      rate,
      history: this.history.view(now),
      oldest,
      newest,
      hops,
      isCatchingUp: this.isCatchingUp(now),
      ...(lasting && { lasting: { ...lasting, from: lasting.from + lag, to: now } }),
    };
  }

  private remember(schema: Schema): void {
    this.memory = new Memory(schema);
    this.alarms = new AlarmWatch(this.key, schema);
  }

  private epochChanged(now: number): void {
    this.ledger.epochChanged(now);
    this.history.addGap(now, 0, 'epoch_changed');
    this.dirty.loss = true;
    this.dirty.flow = true;
  }

  /** Returns where the samples of a batch from `known` on do not continue the line of those before, and reports silences. */
  private interruptions(
    before: LossView,
    isContinued: boolean,
    times: Float64Array,
    known: number,
    lag: number,
  ): Interrupted[] {
    const fresh = known === 0 ? times : times.subarray(known);
    if (fresh.length === 0) return [];
    const newest = this.memory?.store.newest;
    const usual = this.intervals.newest;
    const silences = this.intervals.add(newest, fresh, this.pace).filter((at) => at > 0 || !this.isPaceNew);
    // A disabled probe is known to have taken no samples, however short that was, and whatever its kind.
    const isDisabled = this.silenceCause === 'disabled' && newest !== undefined;
    if (isDisabled && !silences.includes(0) && fresh[0] - newest > LATE_FACTOR * (usual ?? 0))
      silences.unshift(0);
    // The time without samples is not part of the rate after it.
    if (silences.length > 0) this.rate.reset();
    const found = silences.map((at): Interrupted => {
      const cause = (at === 0 ? this.silenceCause : undefined) ?? 'silent';
      return { at, cause, count: 0 };
    });
    const gaps = isContinued ? [] : this.lossBefore(before);
    for (const { at, cause } of found) {
      if (gaps.length > 0 && at === 0) continue;
      const previous = at > 0 ? fresh[at - 1] : (newest ?? fresh[0]);
      this.ledger.interrupted(fresh[at] + lag, cause, fresh[at] - previous);
      this.history.addGap(fresh[at] + lag, 0, cause);
    }
    return gaps.length > 0 ? [...gaps, ...found.filter(({ at }) => at > 0)] : found;
  }

  /** Returns the gaps before a batch that does not continue the sequence numbers, one for each cause. */
  private lossBefore(before: LossView): Interrupted[] {
    const { events } = this.ledger.view();
    const known = events.indexOf(before.events[0]);
    const fresh = known < 0 ? events : events.slice(0, known);
    const [newest] = fresh;
    // Samples before the start of a recording do not fill the time from its end to its next start.
    if (newest?.cause === 'not_recorded' && fresh.some(({ cause }) => cause === 'node_restart'))
      return [{ at: 0, cause: 'node_restart', count: 0 }];
    const counts = new Map<GapCause, number>();
    for (const { cause, count } of fresh) counts.set(cause, (counts.get(cause) ?? 0) + count);
    // A restart that lost nothing is a gap only if there is no other.
    const missing = [...counts].filter(([, count]) => count > 0);
    const shown = missing.length > 0 ? missing : [...counts];
    return shown.map(([cause, count]) => ({ at: 0, cause, count }));
  }

  /** Counts samples by second; most batches lie within one second and are counted at once. */
  private countSeconds(times: Float64Array, lag: number): void {
    const second = (index: number) => Math.floor((times[index] + lag) / 1000);
    const last = times.length - 1;
    if (second(0) === second(last)) {
      this.history.addSamples(times[last] + lag, times.length);
      return;
    }
    for (let index = 0; index <= last; index++) this.history.addSamples(times[index] + lag, 1);
  }

  private markGaps(newestBefore: unknown, at: number): void {
    for (const event of this.ledger.view().events) {
      if (event === newestBefore) return;
      this.history.addGap(at, event.count, event.cause);
    }
  }
}

function paceOf(entry: InstanceEntry): Pace {
  // A flight recorder sends around triggers only.
  if (entry.kind === PUSHED) return entry.recorder ? null : 'steady';
  if (entry.kind !== PERIODIC) return null;
  return isRateUnknown(entry) ? 'unknown' : entry.pace;
}

function valueAt(
  column: ReturnType<typeof decodeBatch>['metrics'][number],
  index: number,
  type: MetricType,
): Value | undefined {
  const value = column[index];
  return type === 'boolean' && value !== undefined ? value === 1 : value;
}

/** Converts nanoseconds to milliseconds without a BigInt for each sample; the error is below a microsecond. */
function millis(times: BigInt64Array): Float64Array {
  // A column that is a view of the message can start at any multiple of 8.
  const halves = new Uint32Array(times.buffer, times.byteOffset, times.length * 2);
  const result = new Float64Array(times.length);
  for (let index = 0; index < result.length; index++) {
    result[index] = ((halves[2 * index + 1] | 0) * TWO_32 + halves[2 * index]) / 1e6;
  }
  return result;
}
