import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';

const execute = promisify(execFile);
const INSTALLED = '/usr/lib/postgresql';
/** PostgreSQL refuses to run as root. */
const USER = 'postgres';

/** A PostgreSQL server with a folder of its own, on a local socket (`make postgresql` installs it). */
export class Postgresql {
  private constructor(
    /** The folder of its socket. */
    readonly host: string,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<Postgresql> {
    const folder = await mkdtemp(join(tmpdir(), 'oasis-'));
    const data = join(folder, 'data');
    await mkdir(data);
    await chmod(folder, 0o755);
    const owner = await otherUser();
    if (owner) await chown(data, owner.uid, owner.gid);
    const [version] = (await readdir(INSTALLED)).sort().reverse();
    const program = (name: string) => join(INSTALLED, version, 'bin', name);

    const options = { ...owner, cwd: data };
    const shape = ['--no-sync', '--auth=trust', '--encoding=UTF8', '--locale=C', `--username=${USER}`];
    await execute(program('initdb'), [...shape, '-D', data], options);
    const settings = ['-c', 'fsync=off', '-c', 'listen_addresses='];
    const server = spawn(program('postgres'), ['-D', data, '-k', data, ...settings], {
      ...options,
      stdio: 'ignore',
    });
    await vi.waitFor(() => execute(program('pg_isready'), ['-q', '-h', data]), 20_000);
    return new Postgresql(data, async () => {
      const exit = once(server, 'exit');
      server.kill('SIGINT');
      await exit;
      await rm(folder, { recursive: true });
    });
  }
}

async function otherUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (which: string) => Number((await execute('id', [which, USER])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}
