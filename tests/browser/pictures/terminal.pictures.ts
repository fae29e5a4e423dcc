import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { launch } from '../harness/browser.ts';
import { BINARY, Oasis } from '../harness/oasis.ts';
import { PlainNode } from '../harness/plain_node.ts';
import { Postgresql } from './postgresql.ts';
import { type Command, takeTerminal } from './terminal.ts';

/** One picture for each guide that is about the command line: its commands, and what they really print. */

const GUIDES = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));
const PROBES = ['--name', 'my-host', '--probe', 'processor@10', '--probe', 'memory', '--probe', 'heartbeat'];
const RECORDED_SAMPLES = 400;
/** What the DAC's own address is in the guides. */
const DOCUMENTED = '127.0.0.1:7070';
const INSTANCES = `oasis sql --archive ~/samples 'SELECT node, instance, samples, first, last FROM instances'`;
/** The guide's query of the database. */
const MINUTES = `SELECT date_trunc('minute', time) AS minute, max(idle_time) - min(idle_time) AS idle
FROM oasis.oasis_system_linux_processor_probe
WHERE node = 'plant-7' AND time > now() - interval '1 hour' GROUP BY 1 ORDER BY 1`;
/** The part of pdl/processor.pdl that the query reads. */
const PROCESSOR = {
  name: 'OASIS::System::LinuxProcessorProbe',
  uuid: 'b049990b-17aa-4ca2-8806-e89329963788',
  version: '1.1',
  metrics: [{ name: 'idle_time', type: 'uint64', unit: '{jiffy}', kind: 'counter', label: 'Idle' }],
};

interface Picture {
  /** The guide; its picture has the same name. */
  readonly guide: string;
  readonly columns?: number;
  readonly commands: readonly Command[];
  /** Makes what the commands need besides the archive `samples` and a DAC. */
  readonly prepare?: (folder: string) => Promise<Scene | undefined>;
}

/** What the commands of one picture have instead of what all have. */
interface Scene {
  readonly dac: Oasis;
  readonly environment: NodeJS.ProcessEnv;
}

const pictures: readonly Picture[] = [
  {
    guide: 'check-and-copy-an-archive',
    columns: 118,
    commands: [
      { run: 'oasis archive show --archive ~/samples' },
      { run: 'oasis archive check --archive ~/samples' },
      {
        run: `printf '\\377' | dd of=samples/0000000001.oseg bs=1 seek=9000 conv=notrunc status=none   # damage`,
      },
      { run: 'oasis archive check --archive ~/samples', status: 1 },
    ],
  },
  {
    guide: 'export-samples',
    commands: [
      { run: 'oasis export --archive ~/samples my-host/processor --from -1h -o processor.csv' },
      { run: 'oasis export --archive ~/samples -o tables/' },
      { run: 'oasis export --archive ~/samples --format mcap -o drive.mcap' },
      { run: 'head -n 3 processor.csv' },
    ],
  },
  {
    guide: 'follow-samples-in-the-terminal',
    columns: 118,
    commands: [
      { run: 'oasis list' },
      { run: 'oasis tail my-host/processor', until: 5 },
      { run: 'oasis tail my-host/processor --json | jq .metrics.idle_time', until: 4 },
    ],
  },
  {
    guide: 'get-notified-of-alarms',
    columns: 118,
    commands: [
      { run: 'oasis notify test pager' },
      { run: 'oasis notify test operators', status: 1 },
      { run: 'oasis notify list' },
    ],
    prepare: notifyPager,
  },
  {
    guide: 'import-recordings',
    commands: [
      { run: 'oasis import --archive ~/samples drive.mcap' },
      { run: 'oasis import --archive ~/samples --name bench old/' },
      { run: 'oasis import --archive ~/samples --name bench old/   # again' },
      { run: INSTANCES },
    ],
    async prepare(folder) {
      const samples = join(folder, 'samples');
      const mcap = ['--format', 'mcap', '-o', join(folder, 'drive.mcap')];
      await execute(BINARY, ['export', '--archive', samples, ...mcap, 'my-host/processor']);
      await rename(samples, join(folder, 'old'));
    },
  },
  {
    guide: 'keep-samples-in-postgresql',
    columns: 104,
    commands: [{ run: 'curl http://127.0.0.1:7070/api/v1/handlers' }, { run: `psql plant -c "${MINUTES}"` }],
    prepare: storeInPostgresql,
  },
  {
    guide: 'query-with-sql',
    commands: [
      { run: INSTANCES },
      { run: `oasis sql --archive ~/samples '.schema oasis_system_linux_processor_probe'` },
      {
        run: `oasis sql --archive ~/samples 'SELECT node, instance, max(time) AS time, idle_time FROM oasis_system_linux_processor_probe GROUP BY node, instance'`,
      },
    ],
  },
  {
    guide: 'scrape-with-prometheus',
    columns: 114,
    commands: [
      { run: 'curl http://127.0.0.1:7070/metrics', first: 6 },
      { run: `curl -s http://127.0.0.1:7070/metrics | grep 'instance="processor"'` },
    ],
  },
  {
    guide: 'stream-samples-with-curl',
    commands: [
      {
        run: `curl -N 'http://127.0.0.1:7070/api/v1/samples/stream?node=my-host&instance=processor&delivery=max_hz=2'`,
        until: 2,
      },
      {
        run: `curl -s 'http://127.0.0.1:7070/api/v1/samples?node=my-host&instance=processor&last=1' |\n  jq '.messages[].samples[].metrics'`,
      },
    ],
  },
];

const execute = promisify(execFile);

let browser: Browser;
let folder: string;
let live: Oasis;
let guides: string;
/** Stop the processes of a picture after it. */
let ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oasis-'));
  browser = await launch();
  const pages = (await readdir(GUIDES)).map((page) => readFile(join(GUIDES, page), 'utf8'));
  guides = (await Promise.all(pages)).join('').replace(/\s+/g, ' ');

  const recorded = await Oasis.up(...PROBES, '--archive', join(folder, 'samples'));
  await vi.waitFor(async () => expect(await recorded.received()).toBeGreaterThan(RECORDED_SAMPLES), 55_000);
  await recorded.stop();
  live = await Oasis.up(...PROBES);
  await vi.waitFor(async () => expect(await live.received()).toBeGreaterThan(50), 55_000);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await live.stop();
  await rm(folder, { recursive: true });
});

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

it.each(pictures)('$guide', async ({ guide, columns, commands, prepare }) => {
  for (const { run } of commands) expectDocumented(run);
  const home = join(folder, guide);
  await mkdir(join(home, 'bin'), { recursive: true });
  await symlink(BINARY, join(home, 'bin', 'oasis'));
  await cp(join(folder, 'samples'), join(home, 'samples'), {
    recursive: true,
    filter: (file) => basename(file) !== 'reserve',
  });
  const scene = (await prepare?.(home)) ?? { dac: live, environment: {} };
  await writeFile(join(home, '.curlrc'), `connect-to = "${DOCUMENTED}:${scene.dac.listen}"\n`);
  const environment = {
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    OASIS_URL: scene.dac.url,
    CURL_HOME: home,
    ...scene.environment,
  };
  await takeTerminal(browser, guide, { folder: home, environment, title: 'my-host', columns }, commands);
});

/** Commands, or at least the SQL in them, stand in a guide. */
function expectDocumented(command: string): void {
  if (!/^(oasis|curl|psql)\b/.test(command)) return;
  const [, quoted] = /['"](SELECT .*)['"]$/s.exec(command) ?? [];
  expect(guides).toContain((quoted ?? command.replace(/ +# .*/, '')).replace(/\s+/g, ' '));
}

/** Starts a database, a DAC that writes to it, and a node with some minutes of a processor. */
async function storeInPostgresql(home: string): Promise<Scene> {
  const database = await Postgresql.start();
  ends.push(database.stop);
  const environment = { PGHOST: database.host, PGUSER: 'postgres', PAGER: 'cat' };
  await execute('createdb', ['plant'], { env: { ...process.env, ...environment } });
  const configuration = join(home, 'oasis.toml');
  const url = `host=${database.host} user=postgres dbname=plant`;
  await writeFile(configuration, `[postgresql]\nurl = "${url}"\n`);
  const dac = await Oasis.dac({}, '--config', configuration);
  ends.push(() => dac.stop());

  const node = await PlainNode.start(dac.channel, 'plant-7', [
    { name: 'processor', schema: PROCESSOR, hertz: 10 },
  ]);
  ends.push(() => node.stop());
  const first = Date.now() - 5 * 60_000;
  const times = Array.from({ length: 3000 }, (_, index) => first + index * 100);
  const idle = times.map((time, index) => 840_000 + 8 * index + 300 * Math.sin(time / 40_000));
  node.flush('processor', times, [BigUint64Array.from(idle, (jiffies) => BigInt(Math.round(jiffies)))]);
  const stored = async () => (await fetch(`${dac.url}/api/v1/handlers`)).text();
  await vi.waitFor(async () => expect(await stored()).toContain('"rows":3000'), 20_000);
  return { dac, environment };
}

/** Starts a DAC with an alarm that stands, a pager that takes all, and a mail server that is away. */
async function notifyPager(home: string): Promise<Scene> {
  const pager = createServer((_, answer) => answer.writeHead(204).end());
  await new Promise<void>((resolve) => pager.listen(0, '127.0.0.1', resolve));
  ends.push(async () => void pager.close());
  const { port } = pager.address() as AddressInfo;
  const input = 'input cpu = "*/processor" : OASIS::System::LinuxProcessorProbe;';
  await writeFile(join(home, 'a.rules'), `${input}\nalarm Idle { raise cpu.idle_time >= 0; }\n`);
  const configuration = join(home, 'oasis.toml');
  const settings = [
    `[rules]\nfiles = ["${join(home, 'a.rules')}"]\ndirectory = "${join(home, 'state')}"`,
    `[notify.pager]\nkind = "webhook"\nurl = "http://127.0.0.1:${port}/"\nprivate = true`,
    `[notify.operators]\nkind = "mail"\nserver = "127.0.0.1"\nport = 1\ntls = "none"`,
    `from = "plant-3@example.org"\nto = ["ada@example.org"]`,
  ];
  await writeFile(configuration, settings.join('\n'));
  const dac = await Oasis.up(...PROBES, '--config', configuration);
  ends.push(() => dac.stop());
  const delivered = async () => (await fetch(`${dac.url}/api/v1/notifications`)).text();
  await vi.waitFor(async () => expect(await delivered()).toMatch(/"failing".*"delivered":1/), 20_000);
  return { dac, environment: {} };
}
