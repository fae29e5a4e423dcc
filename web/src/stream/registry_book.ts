import { keyOf, type Target } from '../wire/target.ts';
import type {
  InstanceEntry,
  InstanceFacts,
  NodeEntry,
  NodeFacts,
  NodeStatistics,
  RegistryDelta,
} from './protocol.ts';
import type { RegistryChange } from './view.ts';

const UNKNOWN: NodeStatistics = { clock_offset_ns: null, round_trip_ns: null, overhead: null };

/**
 * The registry as the DAC's changes make it. Work is done for changed entries only: there may be 20,000. An instance is
 * online if its node is, in the run that registered the instance; so a node that comes and goes is one change on the wire.
 */
export class RegistryBook {
  /** Where the DAC continues; undefined before the first change. */
  position: string | undefined;
  /** Whether the picture is complete. */
  isComplete = false;
  private readonly nodes = new Map<string, NodeFacts>();
  private readonly statistics = new Map<string, NodeStatistics>();
  private readonly instances = new Map<number, InstanceFacts>();
  private readonly ids = new Map<string, number>();
  private readonly idsOfNode = new Map<string, Set<number>>();
  private readonly changedNodes = new Set<string>();
  private readonly changedInstances = new Set<number>();
  private isWhole = true;

  apply(delta: RegistryDelta): void {
    if (delta.from === 0) this.forget();
    this.position = delta.position;
    for (const name of delta.goneNodes) {
      this.nodes.delete(name);
      this.changeNode(name);
    }
    for (const id of delta.goneInstances) this.remove(id);
    for (const facts of delta.nodes) {
      this.nodes.set(facts.name, facts);
      this.changeNode(facts.name);
    }
    for (const facts of delta.instances) this.add(facts);
    this.isComplete = !delta.more;
  }

  /** Applies the statistics of a node: its clock, and which rates it has lowered. */
  applyStatistics(name: string, statistics: NodeStatistics): void {
    const lowered = [this.statistics.get(name), statistics].flatMap((known) =>
      Object.keys(known?.overhead?.lowered ?? {}),
    );
    this.statistics.set(name, statistics);
    this.changedNodes.add(name);
    for (const instance of lowered) {
      const id = this.ids.get(keyOf({ node: name, instance }));
      if (id !== undefined) this.changedInstances.add(id);
    }
  }

  clockOffset(node: string): number | null {
    return this.statistics.get(node)?.clock_offset_ns ?? null;
  }

  /** Returns the entry of an instance. */
  entry(target: Target): InstanceEntry | undefined {
    const id = this.ids.get(keyOf(target));
    return id === undefined ? undefined : this.entryOf(id);
  }

  /** Returns the entry of a topic. */
  entryOf(id: number): InstanceEntry | undefined {
    const facts = this.instances.get(id);
    if (!facts) return undefined;
    const node = this.nodes.get(facts.node);
    const lowered = this.statistics.get(facts.node)?.overhead?.lowered[facts.instance];
    // Field by field: there may be 20,000, and to spread an object takes several times as long.
    return {
      id: facts.id,
      node: facts.node,
      instance: facts.instance,
      type: facts.type,
      uuid: facts.uuid,
      version: facts.version,
      state: node?.online && node.run === facts.run ? 'online' : 'offline',
      enabled: facts.enabled,
      hertz: facts.hertz,
      pace: facts.recorder || facts.hertz === null ? null : (lowered ?? facts.hertz),
      demand: facts.demand,
      kind: facts.kind,
      recorder: facts.recorder,
      replay: node?.replay ?? false,
      run: facts.run,
      labels: facts.labels,
      settings: facts.settings,
    };
  }

  get hasChanged(): boolean {
    return this.isWhole || this.changedNodes.size > 0 || this.changedInstances.size > 0;
  }

  /** Returns the changes since the last call. */
  drain(): RegistryChange {
    const { isWhole } = this;
    const { found: nodes, gone: goneNodes } = split(this.changedNodes, (name) => this.nodeEntry(name));
    const { found: instances, gone: goneInstances } = split(this.changedInstances, (id) => this.entryOf(id));
    this.isWhole = false;
    this.changedNodes.clear();
    this.changedInstances.clear();
    return { isWhole, nodes, instances, goneNodes, goneInstances };
  }

  private nodeEntry(name: string): NodeEntry | undefined {
    const facts = this.nodes.get(name);
    if (!facts) return undefined;
    const statistics = this.statistics.get(name) ?? UNKNOWN;
    return {
      name: facts.name,
      host: facts.host,
      software: facts.software,
      state: facts.online ? 'online' : 'offline',
      since: facts.since,
      run: facts.run,
      replay: facts.replay,
      path: facts.path,
      labels: facts.labels,
      clock_offset_ns: statistics.clock_offset_ns,
      round_trip_ns: statistics.round_trip_ns,
      overhead: statistics.overhead,
    };
  }

  private forget(): void {
    this.nodes.clear();
    this.instances.clear();
    this.ids.clear();
    this.idsOfNode.clear();
    this.changedNodes.clear();
    this.changedInstances.clear();
    this.isWhole = true;
  }

  private changeNode(name: string): void {
    this.changedNodes.add(name);
    if (!this.nodes.has(name)) this.statistics.delete(name);
    for (const id of this.idsOfNode.get(name) ?? []) this.changedInstances.add(id);
  }

  private add(facts: InstanceFacts): void {
    this.instances.set(facts.id, facts);
    this.ids.set(keyOf(facts), facts.id);
    let own = this.idsOfNode.get(facts.node);
    if (!own) {
      own = new Set();
      this.idsOfNode.set(facts.node, own);
    }
    own.add(facts.id);
    this.changedInstances.add(facts.id);
  }

  private remove(id: number): void {
    const facts = this.instances.get(id);
    if (!facts) return;
    this.instances.delete(id);
    // Another topic may have the name now.
    if (this.ids.get(keyOf(facts)) === id) this.ids.delete(keyOf(facts));
    this.idsOfNode.get(facts.node)?.delete(id);
    this.changedInstances.add(id);
  }
}

function split<K, T>(keys: ReadonlySet<K>, find: (key: K) => T | undefined): { found: T[]; gone: K[] } {
  const found: T[] = [];
  const gone: K[] = [];
  for (const key of keys) {
    const entry = find(key);
    if (entry === undefined) gone.push(key);
    else found.push(entry);
  }
  return { found, gone };
}
