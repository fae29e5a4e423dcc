import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stateFolder, temporaryFolder } from './folder.ts';

/** The binary under test. */
export const BINARY =
  process.env.OASIS_BIN ?? fileURLToPath(new URL('../../../target/debug/oasis', import.meta.url));

/** Timeout for hooks, where `expect.poll` is not available; suffices on a busy machine. */
export const LOADED = { timeout: 60_000 };

const ANY_PORT = '127.0.0.1:0';

const running = new Set<ChildProcess>();

/** Ends all processes that run. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }),
  );
}

export interface Addresses {
  readonly listen?: string;
  readonly channel?: string;
}

interface Ready {
  readonly http?: string;
  readonly channel?: string;
  readonly node?: string;
  readonly sign_in?: string;
}

/** An OASIS process that has reported that it is ready. */
export class Oasis {
  private constructor(
    private readonly child: ChildProcess,
    private readonly ready: Ready,
    private readonly errors: string[],
  ) {}

  static up(...args: string[]): Promise<Oasis> {
    const kept = args.includes('--archive') || args.includes('--config') ? [] : ['--no-archive'];
    return Oasis.start(['up', '--listen', ANY_PORT, '--channel-listen', ANY_PORT, ...kept, ...args]);
  }

  /** A DAC with the simulated plant of the demo. */
  static demo(): Promise<Oasis> {
    return Oasis.start(['demo', '--listen', ANY_PORT, '--channel-listen', ANY_PORT]);
  }

  static dac(at: Addresses = {}, ...args: string[]): Promise<Oasis> {
    return Oasis.start([
      'dac',
      '--listen',
      at.listen ?? ANY_PORT,
      '--channel-listen',
      at.channel ?? ANY_PORT,
      ...args,
    ]);
  }

  /** A DAC that evaluates no rules: then the page compares limits itself. */
  static dacWithoutRules(...args: string[]): Promise<Oasis> {
    const config = join(temporaryFolder(), 'oasis.toml');
    writeFileSync(config, '[rules]\nenabled = false\n');
    return Oasis.dac({}, '--config', config, ...args);
  }

  /** A TEM that is no DAC. */
  static tem(...args: string[]): Promise<Oasis> {
    return Oasis.start(['tem', '--listen', ANY_PORT, ...args]);
  }

  /** A relay of other DACs. */
  static relay(at: Addresses = {}, ...args: string[]): Promise<Oasis> {
    return Oasis.start(['relay', '--listen', at.listen ?? ANY_PORT, ...args]);
  }

  static node(channel: string, ...args: string[]): Promise<Oasis> {
    return Oasis.start(['node', '--dac', channel, ...args]);
  }

  /** A node that finds its DAC by a TEM. */
  static nodeByTem(tem: string, ...args: string[]): Promise<Oasis> {
    return Oasis.start(['node', '--tem', tem, ...args]);
  }

  get url(): string {
    return this.ready.http ?? fail('this process serves no page');
  }

  /** Number of the process. */
  get pid(): number {
    return this.child.pid ?? fail('this process does not run');
  }

  /** Address of page and API. */
  get listen(): string {
    return new URL(this.url).host;
  }

  /** The link that signs in once, with `--local token`. */
  get signInLink(): string {
    return this.ready.sign_in ?? fail('this process needs no sign-in');
  }

  /** Host and port of the data channel. */
  get channel(): string {
    return this.ready.channel ?? fail('this process takes no nodes');
  }

  /** Samples that the DAC has received, of all instances or those of a node. */
  async received(node?: string): Promise<number> {
    const ledger = await (await fetch(`${this.url}/api/v1/ledger`)).json();
    const { instances } = ledger as { instances: { node: string; ledger: { received: number } }[] };
    const counted = instances.filter((instance) => node === undefined || instance.node === node);
    return counted.reduce((sum, { ledger }) => sum + ledger.received, 0);
  }

  /** Text on standard error. */
  get log(): string {
    return this.errors.join('');
  }

  /** Ends the process with SIGKILL and waits for its exit. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Lets the process do nothing any more, as on a host that hangs. */
  suspend(): void {
    this.child.kill('SIGSTOP');
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill(signal);
    // A suspended process takes no other signal.
    this.child.kill('SIGCONT');
    await exit;
  }

  private static async start(args: readonly string[]): Promise<Oasis> {
    const state = stateFolder();
    const child = spawn(BINARY, [...args, '--ready-json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, XDG_STATE_HOME: state, XDG_DATA_HOME: state },
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const errors: string[] = [];
    child.stderr.on('data', (chunk) => errors.push(String(chunk)));
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`oasis ${args.join(' ')} ended with ${code}: ${errors.join('')}`);
    });
    // The promise outlives the start; a later exit is handled by the test.
    failed.catch(() => {});
    const line = once(createInterface(child.stdout), 'line').then(
      ([text]) => JSON.parse(String(text)) as Ready,
    );
    return new Oasis(child, await Promise.race([line, failed]), errors);
  }
}

function fail(message: string): never {
  throw new Error(message);
}
