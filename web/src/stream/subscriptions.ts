import { keyOf, type Target } from '../wire/target.ts';
import type { Position } from './position.ts';
import type { ClientMessage, ServerMessage } from './protocol.ts';
import type { RegistryBook } from './registry_book.ts';
import { Watch } from './watch.ts';

/** Pause before the next attempt if the DAC refuses an instance that its registry lists: the registry is about to change. */
const RETRY_MS = 300;
/** After a longer interruption, charts read the missed samples from the archive: sending all of them would delay live ones. */
export const CATCH_UP_MS = 60_000;

type Distributed<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** A message to the DAC; it receives its number when it is sent. */
export type OutgoingMessage = Distributed<ClientMessage, 'id'>;

/** The DAC at the other end of the connection. */
export interface Peer {
  /** Returns the registry; undefined until it has arrived. */
  registry(): RegistryBook | undefined;
  /** Whether the DAC keeps samples in an archive; undefined until it has answered. */
  hasArchive(): boolean | undefined;
  /** Sends a message and returns its number. */
  send(message: OutgoingMessage): number;
  /** Called when the subscription of an instance starts. */
  onSubscribed(target: Target, now: number): void;
}

/** The watched instances, and their topics during a connection. */
export class Subscriptions {
  /** When to retry refused subscriptions. */
  retryAt = Number.POSITIVE_INFINITY;
  private readonly byKey = new Map<string, Watch>();
  private readonly byTopic = new Map<number, Watch>();
  /** Pending requests by number. Values are keys, so that an instance that is watched anew meanwhile gets the answer. */
  private readonly pending = new Map<number, string>();
  /** Duration of the last interruption in milliseconds. */
  private interruption = 0;

  constructor(private readonly peer: Peer) {}

  get isEmpty(): boolean {
    return this.byKey.size === 0;
  }

  watches(): Iterable<Watch> {
    return this.byKey.values();
  }

  of(target: Target): Watch | undefined {
    return this.byKey.get(keyOf(target));
  }

  /** Returns the watched instance of a topic. */
  ofTopic(topic: number): Watch | undefined {
    return this.byTopic.get(topic);
  }

  /** `before`: where the page of another DAC has left off. */
  watch(target: Target, before?: Position): void {
    if (this.of(target)) return;
    const watch = new Watch(target, before);
    this.byKey.set(watch.key, watch);
    this.subscribe(watch);
  }

  unwatch(target: Target): void {
    const watch = this.of(target);
    if (!watch) return;
    this.byKey.delete(watch.key);
    this.unsubscribe(watch);
  }

  tick(now: number): void {
    if (now >= this.retryAt) this.subscribeAll();
  }

  disconnected(): void {
    this.pending.clear();
    this.byTopic.clear();
    this.retryAt = Number.POSITIVE_INFINITY;
    for (const watch of this.byKey.values()) watch.disconnected();
  }

  /** Handles that the connection is back; subscriptions follow when the registry has arrived. */
  reconnected(now: number, interruption: number): void {
    this.interruption = interruption;
    for (const watch of this.byKey.values()) {
      watch.reconnected(now, interruption);
      // The newest samples come first, as on a page that has just been opened.
      if (interruption > CATCH_UP_MS && this.peer.hasArchive()) watch.restart();
    }
  }

  /** Handles that the DAC has no archive: what its memory has before the samples that were asked for comes with them. */
  archiveMissing(): void {
    for (const watch of this.byKey.values()) {
      if (!watch.hasOlderInLog) continue;
      this.unsubscribe(watch);
      watch.restart();
      this.subscribe(watch);
    }
  }

  registered(registry: RegistryBook): void {
    for (const watch of this.byKey.values()) {
      const entry = registry.entry(watch.target);
      if (!entry) continue;
      watch.updateEntry(entry);
      if (watch.topic === undefined) continue;
      // A name can return with another number or another layout.
      const { schema } = watch;
      if (entry.id !== watch.topic || entry.uuid !== schema?.uuid || entry.version !== schema.version) {
        this.unsubscribe(watch);
        watch.moved();
      }
    }
    this.subscribeAll();
  }

  subscribed(message: ServerMessage & { op: 'subscribed' }, schema: unknown, now: number): void {
    const { topic, epoch, offset, entry } = message;
    const watch = this.answered(message.id);
    watch?.subscribed(topic, epoch, offset, entry, schema, now);
    // Only the registry knows whether the node has lowered the rate.
    const known = this.peer.registry()?.entryOf(topic);
    if (known) watch?.updateEntry(known);
    if (watch?.topic === topic) {
      this.byTopic.set(topic, watch);
      this.peer.onSubscribed(watch.target, now);
    } else this.peer.send({ op: 'unsubscribe', topic });
  }

  failed(id: number, code: string, message: string, now: number): void {
    const watch = this.answered(id);
    if (!watch) return;
    if (code === 'archive_error') {
      // Live samples are still available.
      watch.moved();
      watch.setStatus('waiting');
      this.retryAt = now + RETRY_MS;
    } else if (code === 'unknown_instance' || code === 'node_offline') {
      watch.setStatus('absent');
      this.retryAt = now + RETRY_MS;
    } else {
      watch.setStatus('failed', message || code);
    }
  }

  /** Handles that the DAC ended a subscription: another topic has its name, or the archive cannot be read. */
  ended(topic: number, now: number): void {
    const watch = this.byTopic.get(topic);
    if (!watch) return;
    this.byTopic.delete(topic);
    watch.moved();
    watch.disconnected();
    this.retryAt = now + RETRY_MS;
  }

  /** Returns the instance whose request was answered, if it is still watched. */
  private answered(id: number): Watch | undefined {
    const key = this.pending.get(id);
    this.pending.delete(id);
    return key === undefined ? undefined : this.byKey.get(key);
  }

  private subscribeAll(): void {
    this.retryAt = Number.POSITIVE_INFINITY;
    for (const watch of this.byKey.values()) this.subscribe(watch);
  }

  private subscribe(watch: Watch): void {
    const known = this.peer.registry();
    if (!known || watch.topic !== undefined) return;
    if (watch.status === 'failed' || [...this.pending.values()].includes(watch.key)) return;
    const entry = known.entry(watch.target);
    if (!entry) {
      watch.setStatus('absent');
      return;
    }
    watch.updateEntry(entry);
    const resume = watch.position;
    const late = this.interruption > CATCH_UP_MS ? { overflow: 'latest' as const } : {};
    // The newest samples come first: charts read what is older from the archive. Without one, the DAC's memory has the past.
    const start =
      this.peer.hasArchive() === false ? { from: 'earliest' as const } : { last: watch.recentSamples };
    const place = resume === undefined ? start : { resume, ...late };
    watch.isFromNewest = 'last' in place;
    const id = this.peer.send({ op: 'subscribe', ...watch.target, ...place, ahead: true, gaps: true });
    this.pending.set(id, watch.key);
    watch.setStatus('waiting');
  }

  private unsubscribe(watch: Watch): void {
    if (watch.topic === undefined) return;
    this.byTopic.delete(watch.topic);
    this.peer.send({ op: 'unsubscribe', topic: watch.topic });
    watch.disconnected();
  }
}
