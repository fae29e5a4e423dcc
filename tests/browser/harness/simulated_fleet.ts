import { randomUUID } from 'node:crypto';
import { PlainNode } from './plain_node.ts';

/** A DAC gives up a node that is silent for 5 s. */
const PING_MS = 3000;
/** Nodes that connect at the same time. */
const MAX_CONNECTING_NODES = 20;

/** Many nodes with a sample a second of each of their instances, spread over the second. */
export class SimulatedFleet {
  static readonly SCHEMA = {
    name: 'Fleet::Motor',
    uuid: randomUUID(),
    version: '1.0',
    metrics: [
      { name: 'load', type: 'real64', unit: '%', warn: { above: 90 } },
      { name: 'temperature', type: 'real64', unit: 'Cel' },
      { name: 'speed', type: 'real64', unit: 'Hz', label: 'Speed' },
    ],
  };

  private sending: ReturnType<typeof setInterval> | undefined;
  private tick = 0;

  private constructor(
    readonly nodes: PlainNode[],
    private readonly names: readonly string[],
  ) {}

  static async start(
    channel: string,
    nodes: readonly string[],
    each: number,
    hertz = 1,
  ): Promise<SimulatedFleet> {
    const names = Array.from({ length: each }, (_, index) => `motor-${String(index).padStart(2, '0')}`);
    const instances = names.map((name) => ({ name, schema: SimulatedFleet.SCHEMA, hertz }));
    const started: PlainNode[] = [];
    for (let first = 0; first < nodes.length; first += MAX_CONNECTING_NODES) {
      const some = nodes.slice(first, first + MAX_CONNECTING_NODES);
      started.push(
        ...(await Promise.all(some.map((name) => PlainNode.start(channel, name, instances, PING_MS)))),
      );
    }
    return new SimulatedFleet(started, names);
  }

  /** One sample of each instance of a node; its load is the number of the node. */
  flush(index: number, time = Date.now()): void {
    const node = this.nodes[index];
    for (const [place, name] of this.names.entries()) {
      const wave = Math.sin((this.tick + 7 * index + place) / 10);
      const columns = [index % 100, 40 + 10 * wave + (index % 7), 50 + wave].map((value) =>
        Float64Array.of(value),
      );
      node?.flush(name, [time], columns);
    }
  }

  /** Sends the samples of each second, a node after the other. */
  run(): void {
    const parts = Math.min(50, this.nodes.length);
    let part = 0;
    this.sending = setInterval(() => {
      for (let index = part; index < this.nodes.length; index += parts) this.flush(index);
      part = (part + 1) % parts;
      if (part === 0) this.tick++;
    }, 1000 / parts);
  }

  async stop(): Promise<void> {
    clearInterval(this.sending);
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
