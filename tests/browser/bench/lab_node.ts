import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const BINARY =
  process.env.OASIS_LAB_BIN ?? fileURLToPath(new URL('../../../target/release/oasis-lab', import.meta.url));

/** A node in a process of its own, with a processor probe that is flushed on request. */
export class LabNode {
  static readonly NAME = 'plant';
  static readonly INSTANCE = 'processor of the measured host';
  static readonly METRICS: readonly string[] = [
    'idle_time',
    'system_time',
    'user_time',
    'nice_time',
    'iowait_time',
    'irq_time',
    'soft_irq_time',
  ];

  private constructor(private readonly child: ChildProcess) {}

  static async start(channel: string): Promise<LabNode> {
    const child = spawn(BINARY, ['node', channel], { stdio: ['pipe', 'pipe', 'inherit'] });
    const failed = Promise.race([once(child, 'error'), once(child, 'exit')]).then(([why]) => {
      throw new Error(`${BINARY} node ended: ${why}`);
    });
    await Promise.race([once(createInterface(child.stdout), 'line'), failed]);
    failed.catch(() => undefined);
    return new LabNode(child);
  }

  publish(hertz: number, seconds: number): void {
    this.child.stdin?.write(`run ${hertz} ${1000 * seconds}\n`);
  }

  /** Ends the process at once, although it has more to publish. */
  async stop(): Promise<void> {
    const exit = once(this.child, 'exit');
    this.child.kill();
    await exit;
  }
}
