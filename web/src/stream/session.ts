import { type Batch, DecodeError, decodeHeader } from '@oasis/wire';
import type { Fleets } from '../fleet/fleets.ts';
import type { FleetRequest } from '../fleet/query.ts';
import { ArchiveReader } from '../past/archive_reader.ts';
import type { StoredTimes } from '../past/stored.ts';
import type { Target } from '../wire/target.ts';
import { Commands } from './commands.ts';
import { CountBook } from './dac_counts.ts';
import { Disables } from './disables.ts';
import type { DoorName, LossReason } from './doors/door.ts';
import type { GapEvent } from './ledger.ts';
import { Link } from './link.ts';
import type { Position } from './position.ts';
import { type CommandRequest, parseServerMessage, type ServerMessage } from './protocol.ts';
import { RegistryBook } from './registry_book.ts';
import { type OutgoingMessage, Subscriptions } from './subscriptions.ts';
import { Traffic } from './traffic.ts';
import type { CountsView, Snapshot } from './view.ts';
import { Views } from './views.ts';
import type { Watch } from './watch.ts';

/** Interval for updates of rates and strips while nothing arrives. */
const REVIEW_MS = 250;
/** Pause between changes of the registry for the page, which draws its list anew for each. */
const REGISTRY_MS = 250;
/** Remembered schemas. The DAC remembers as many before it sends one again. */
const SCHEMAS = 1000;

export type Action =
  | { readonly do: 'connect'; readonly isFirst: boolean }
  | { readonly do: 'send'; readonly text: string }
  /** An HTTP request below the page's address; the answer carries the number. */
  | { readonly do: 'request'; readonly id: number; readonly path: string }
  | { readonly do: 'cancel'; readonly id: number }
  | { readonly do: 'close' };

/**
 * The conversation with a DAC, without I/O: events and the time go in, actions and snapshots come out. It reconnects by
 * itself, and resumes each watched instance at its position.
 */
export class Session {
  private readonly archive: ArchiveReader = new ArchiveReader(
    {
      request: (path) => this.request(path),
      cancel: (id) => this.actions.push({ do: 'cancel', id }),
    },
    (target) => this.subscriptions.of(target)?.pace ?? null,
  );
  private fleets: Fleets | undefined;
  /** Answers for the panels. */
  readonly views: Views;
  private readonly link: Link;
  private readonly commands = new Commands();
  private readonly traffic = new Traffic();
  private readonly subscriptions = new Subscriptions({
    registry: () => (this.link.phase === 'connected' && this.isRegistryKnown ? this.registry : undefined),
    hasArchive: () => this.archive.hasArchive,
    send: (message) => this.send(message),
    onSubscribed: (target, now) => {
      this.archive.lookUp(target, now);
      this.commandsRequest ??= this.request('api/v1/commands');
    },
  });
  private readonly disables = new Disables();
  /** The request for the commands that the DAC remembers, while it is pending. */
  private commandsRequest: number | undefined;
  private actions: Action[] = [];
  private readonly registry = new RegistryBook();
  /** What the DAC counts of each instance. */
  private readonly counts = new CountBook();
  /** Whether the registry is that of the present connection. */
  private isRegistryKnown = false;
  private registryAt = 0;
  /** Schemas by their hashes, which the DAC sends once in a connection. */
  private readonly schemas = new Map<string, unknown>();
  private door: DoorName = 'websocket';
  private server = '';
  private epoch = '';
  private nextId = 1;
  private lostAt: number | undefined;
  private reviewAt = 0;
  private hadArchive = false;

  constructor(random: () => number = Math.random) {
    this.link = new Link(random);
    const fleets = () => this.fleets;
    this.views = new Views({
      watch: (target) => this.subscriptions.of(target),
      lag: (node) => this.lagOf(node),
      explain: (target, gaps) => {
        const lag = this.lagOf(target.node) - this.dacLag;
        return this.disables.explain(target, gaps, ({ from, to }) => [from + lag, to + lag]);
      },
      archive: this.archive,
      get fleets() {
        return fleets();
      },
    });
  }

  // Requests of the page.

  /** `before`: where the page of another DAC has left off. */
  watch(target: Target, before?: Position): void {
    this.subscriptions.watch(target, before);
  }

  /** Where the page of another DAC can continue. */
  positions(): Position[] {
    return [...this.subscriptions.watches()].flatMap((watch) => watch.newestPosition ?? []);
  }

  unwatch(target: Target): void {
    this.subscriptions.unwatch(target);
    this.archive.forget(target);
  }

  /** Reads fleets from now on: their code is loaded when a panel shows one. */
  readFleets(make: (send: (message: FleetRequest) => number) => Fleets): void {
    this.fleets ??= make((message) => this.send(message));
    if (this.link.phase === 'connected') this.openFleets();
  }

  command(target: Target, request: CommandRequest, now: number): void {
    if (this.link.phase !== 'connected') {
      this.commands.refuse(target, request, 'connection_lost', now);
      return;
    }
    const id = this.send({ op: 'command', ...target, ...request });
    this.commands.sent(id, target, request, now);
  }

  // Events of the connection.

  text(data: string, now: number): void {
    if (this.hasSlept(now)) return;
    this.link.received(now);
    this.traffic.add(data.length);
    const message = parseServerMessage(data);
    if (message) this.handle(message, now);
  }

  binary(bytes: Uint8Array, now: number): void {
    if (this.hasSlept(now)) return;
    this.link.received(now);
    this.traffic.add(bytes.length);
    try {
      const watch = this.subscriptions.ofTopic(decodeHeader(bytes).topic);
      watch?.batch(bytes, now, this.lagOf(watch.target.node), this.dacLag);
    } catch (error) {
      // A batch without a valid header belongs to no instance; the next one may be valid.
      if (!(error instanceof DecodeError)) throw error;
    }
  }

  /** Ends a connection that has slept, as on a phone: what waits in its socket is old, and a new one begins with the newest samples. */
  private hasSlept(now: number): boolean {
    if (!this.link.isAsleep(now)) return false;
    this.actions.push({ do: 'close' });
    this.closed('silent', undefined, now);
    return true;
  }

  /** Handles a batch that a door has decoded; `bytes` is its size on the wire. */
  batch(topic: number, batch: Batch, bytes: number, now: number): void {
    this.link.received(now);
    this.traffic.add(bytes);
    const watch = this.subscriptions.ofTopic(topic);
    watch?.addBatch(batch, now, this.lagOf(watch.target.node), this.dacLag);
  }

  /** Handles the answer to an HTTP request; the status is 0 if there was none. */
  answered(id: number, answer: unknown, status: number, now: number): void {
    if (id !== this.commandsRequest) {
      const before = this.archive.hasArchive;
      this.archive.answered(id, answer, status, now);
      if (before === undefined && this.archive.hasArchive === false) this.subscriptions.archiveMissing();
    } else {
      this.commandsRequest = undefined;
      this.disables.read(answer);
      for (const { dirty } of this.subscriptions.watches()) dirty.loss = true;
    }
  }

  /** Sets the door that leads to the DAC. */
  setDoor(door: DoorName): void {
    this.door = door;
    this.link.isDirty = true;
  }

  closed(reason: LossReason, code: number | undefined, now: number): void {
    // A page that slept has missed more than the time since the socket was closed.
    if (this.link.phase === 'connected') this.lostAt = this.link.isAsleep(now) ? this.link.heardAt : now;
    this.link.lost(reason, code, now);
    this.commands.disconnected(now);
    this.subscriptions.disconnected();
    this.fleets?.disconnected();
  }

  tick(now: number): void {
    const step = this.link.nextStep(now);
    if (step === 'connect') {
      this.actions.push({ do: 'connect', isFirst: this.link.attempts === 0 });
      this.link.connecting(now);
    } else if (step === 'ping') {
      this.link.pinged(this.send({ op: 'ping', client_time: Math.round(now * 1e6) }), now);
    } else if (step === 'give-up') {
      this.actions.push({ do: 'close' });
      this.closed('silent', undefined, now);
    }
    this.commands.tick(now);
    if (this.link.phase === 'connected') this.archive.tick(now);
    this.subscriptions.tick(now);
    this.fleets?.tick(now);
    if (now >= this.reviewAt) {
      this.reviewAt = now + REVIEW_MS;
      for (const watch of this.subscriptions.watches()) watch.review(now, this.lagOf(watch.target.node));
    }
  }

  /** Returns when to call {@link tick} next, or when a snapshot can contain something new. */
  nextTick(): number {
    const isWaiting = this.isRegistryKnown && this.registry.hasChanged;
    const registry = isWaiting ? this.registryAt : Number.POSITIVE_INFINITY;
    return Math.min(this.nextDuty(), this.views.nextDue(), registry);
  }

  /** The same for a page that is not ready for a snapshot. */
  nextDuty(): number {
    const review = this.subscriptions.isEmpty ? Number.POSITIVE_INFINITY : this.reviewAt;
    const reading = this.link.phase === 'connected' ? this.archive.nextDue() : Number.POSITIVE_INFINITY;
    const fleets = this.fleets?.nextDue() ?? Number.POSITIVE_INFINITY;
    return Math.min(this.link.nextDue(), this.subscriptions.retryAt, fleets, review, reading);
  }

  drainActions(): Action[] {
    const actions = this.actions;
    this.actions = [];
    return actions;
  }

  /** Returns the changes since the last snapshot, or undefined. */
  drainSnapshot(now: number): Snapshot | undefined {
    const snapshot: Snapshot = {};
    if (this.link.isDirty) {
      const { phase, reason, code, since, attempts, clock } = this.link;
      const { server, epoch, door } = this;
      snapshot.connection = { phase, reason, code, since, attempts, server, epoch, door, clock: clock.best };
      this.link.isDirty = false;
    }
    if (this.isRegistryDue(now)) {
      snapshot.registry = this.registry.drain();
      this.registryAt = now + REGISTRY_MS;
    }
    for (const watch of this.subscriptions.watches()) {
      const { target } = watch;
      const [lag, stored] = [this.lagOf(target.node), this.archive.timesOf(target)];
      const explain = (events: readonly GapEvent[]) =>
        this.disables.explain(target, events, ({ at, duration = 0 }) => {
          const to = at - this.dacLag;
          return [to - duration, to];
        });
      addParts(snapshot, watch, { now, lag, stored, explain });
    }
    const counts = this.drainCounts();
    if (counts.length > 0) snapshot.counts = counts;
    const commands = this.commands.drain();
    if (commands.length > 0) snapshot.commands = commands;
    const alarms = [...this.subscriptions.watches()].flatMap((watch) => watch.alarms?.drain(now) ?? []);
    if (alarms.length > 0) snapshot.alarms = alarms;
    if (this.archive.isThere !== this.hadArchive) {
      this.hadArchive = this.archive.isThere;
      snapshot.hasArchive = this.hadArchive;
    }
    const traffic = this.traffic.drain(now);
    if (traffic) snapshot.traffic = traffic;
    const views = this.views.drain(now);
    if (views.length > 0) snapshot.views = views;
    return Object.keys(snapshot).length > 0 ? snapshot : undefined;
  }

  /** Returns what the DAC counts of the watched instances, as far as it is new. */
  private drainCounts(): CountsView[] {
    const watched = [...this.subscriptions.watches()].flatMap((watch) => {
      const id = this.registry.entry(watch.target)?.id;
      return id === undefined ? [] : [{ watch, id, isNew: watch.countedAs !== id }];
    });
    const found = this.counts.drain(watched);
    return watched.flatMap(({ watch, id }) => {
      const counts = found.get(id);
      if (!counts) return [];
      watch.countedAs = id;
      return [{ key: watch.key, ...counts }];
    });
  }

  private handle(message: ServerMessage, now: number): void {
    switch (message.op) {
      case 'welcome':
        this.welcomed(message.server, message.epoch, now);
        break;
      case 'registry_delta':
        if (message.delta.from === 0) this.isRegistryKnown = false;
        this.registry.apply(message.delta);
        if (this.registry.isComplete) this.registered();
        break;
      case 'statistics':
        for (const [node, statistics] of message.nodes) this.registry.applyStatistics(node, statistics);
        this.counts.apply(message.instances);
        if (this.isRegistryKnown) this.subscriptions.registered(this.registry);
        break;
      case 'schema':
        if (this.schemas.size >= SCHEMAS) this.schemas.clear();
        this.schemas.set(message.hash, message.schema);
        break;
      case 'subscribed':
        if (message.counts) this.counts.apply([message.counts]);
        this.subscriptions.subscribed(message, message.schema ?? this.schemas.get(message.schemaHash), now);
        break;
      case 'gap':
        this.subscriptions.ofTopic(message.topic)?.gap(message.cause);
        break;
      case 'gaps_before':
        this.subscriptions.ofTopic(message.topic)?.gapsBefore(message.gaps);
        break;
      case 'result':
        // The registry reports the change.
        this.commands.done(message.id, now);
        break;
      case 'pong':
        this.link.ponged(message.id, message.dacTime / 1e6, now);
        break;
      case 'fleet':
        this.fleets?.accepted(message.id, message.fleet);
        break;
      case 'fleet_rows':
        this.fleets?.rows(message.fleet, message.fields, now);
        break;
      case 'error':
        this.failed(message, now);
        break;
      case 'epoch':
        this.subscriptions.ofTopic(message.topic)?.startEpoch(message.epoch, message.offset, now);
        break;
      case 'type_changed':
        this.subscriptions.ofTopic(message.topic)?.changeType(message.schema);
        break;
      case 'unsubscribed':
        // A requested end needs no further step.
        if (message.id === undefined) this.subscriptions.ended(message.topic, now);
        break;
    }
  }

  private welcomed(server: string, epoch: string, now: number): void {
    this.link.welcomed(now);
    this.server = server;
    if (this.epoch !== '' && this.epoch !== epoch) this.archive.reset();
    this.epoch = epoch;
    this.schemas.clear();
    this.counts.clear();
    if (this.lostAt !== undefined) this.subscriptions.reconnected(now, now - this.lostAt);
    this.lostAt = undefined;
    // The registry is outdated; subscriptions wait for what has changed.
    this.isRegistryKnown = false;
    const resume = this.registry.position === undefined ? {} : { resume: this.registry.position };
    this.send({ op: 'watch', deltas: true, statistics: true, causes: true, schemas: 'once', ...resume });
    this.openFleets();
  }

  private openFleets(): void {
    // The other doors carry samples only.
    this.fleets?.opened(this.door === 'websocket');
  }

  private registered(): void {
    this.isRegistryKnown = true;
    this.subscriptions.registered(this.registry);
  }

  /** Whether the page gets the changes of the registry now. An incomplete one would look as if instances were gone. */
  private isRegistryDue(now: number): boolean {
    return this.isRegistryKnown && this.registry.hasChanged && now >= this.registryAt;
  }

  private failed(message: ServerMessage & { op: 'error' }, now: number): void {
    if (message.id === undefined || this.commands.failed(message.id, message.code, message.message, now))
      return;
    if (this.fleets?.failed(message.id, message.message, now)) return;
    this.subscriptions.failed(message.id, message.code, message.message, now);
  }

  /** Browser clock minus node clock: converts the time of a sample to the browser's clock. */
  private lagOf(node: string): number {
    return (this.registry.clockOffset(node) ?? 0) / 1e6 + this.dacLag;
  }

  /** Browser clock minus DAC clock. */
  private get dacLag(): number {
    return -(this.link.clock.best?.offset ?? 0);
  }

  private request(path: string): number {
    const id = this.nextId++;
    this.actions.push({ do: 'request', id, path });
    return id;
  }

  private send(message: OutgoingMessage): number {
    const id = this.nextId++;
    const { op, ...fields } = message;
    this.actions.push({ do: 'send', text: JSON.stringify({ op, id, ...fields }) });
    return id;
  }
}

function addParts(
  snapshot: Snapshot,
  watch: Watch,
  {
    now,
    lag,
    stored,
    explain,
  }: {
    now: number;
    lag: number;
    stored: StoredTimes | undefined;
    explain: (events: readonly GapEvent[]) => readonly GapEvent[];
  },
): void {
  const { dirty, key } = watch;
  if (dirty.status) {
    snapshot.watches ??= [];
    snapshot.watches.push({ key, status: watch.status, problem: watch.problem, schema: watch.schema });
  }
  if (dirty.sample && watch.sample) {
    snapshot.samples ??= [];
    snapshot.samples.push(watch.sample);
  }
  if (dirty.flow) {
    snapshot.flows ??= [];
    snapshot.flows.push(watch.flow(now, lag, stored));
  }
  if (dirty.loss) {
    snapshot.losses ??= [];
    const view = watch.ledger.view();
    snapshot.losses.push({ key, ...view, events: explain(view.events) });
  }
  dirty.status = dirty.sample = dirty.flow = dirty.loss = false;
}
