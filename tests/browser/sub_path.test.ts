import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { sharedBrowser } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { LOADED, Oasis } from './harness/oasis.ts';

/** Two DACs below `/a/` and `/b/` of one nginx, with the settings of the guide. */

const GUIDE = fileURLToPath(new URL('../../docs/guides/secure.md', import.meta.url));
const PATHS = ['a', 'b'] as const;

const dacs: Oasis[] = [];
let nginx: ChildProcess;
let host: string;
let context: BrowserContext;
const complaints: string[] = [];

beforeAll(async () => {
  for (const name of PATHS) {
    const folder = temporaryFolder();
    const config = join(folder, 'oasis.toml');
    writeFileSync(config, '[doors]\ntrusted_proxies = ["127.0.0.2"]\n');
    const access = join(folder, 'access');
    const options = ['--name', `plant-${name}`, '--probe', 'processor@20', '--probe', 'memory@5'];
    dacs.push(
      await Oasis.up('--config', config, '--access', access, '--local', 'token', '--no-archive', ...options),
    );
  }
  const port = await freePort();
  host = `http://127.0.0.1:${port}`;
  const folder = temporaryFolder();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr;
events {}
http {
access_log off; ${temporary.join(' ')}
${serverOfGuide(port)}
}
`,
  );
  nginx = spawn('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await vi.waitFor(() => fetch(`${host}/a/alive`), LOADED);
  context = await (await sharedBrowser()).newContext({ viewport: { width: 1440, height: 900 } });
});

afterAll(async () => {
  await context?.close();
  const exit = once(nginx, 'exit');
  nginx.kill();
  await exit;
  for (const dac of dacs) await dac.stop();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The blocks of the guide as one server without TLS in front of the DACs. */
function serverOfGuide(port: number): string {
  const [whole = '', paths = ''] = [...readFileSync(GUIDE, 'utf8').matchAll(/```nginx\n(.*?)```/gs)].map(
    ([, block]) => block,
  );
  const changes: [RegExp, string][] = [
    [/location \/ \{.*?\n {4}\}/s, paths],
    [/listen 443 ssl/, `listen 127.0.0.1:${port}`],
    [/ {4}ssl_.*\n/g, ''],
    [/dac\.example\.org/, '127.0.0.1'],
    [/http:\/\/127\.0\.0\.1:7070/, dacs[0].url.replace(/\/$/, '')],
    [/http:\/\/127\.0\.0\.1:7080/, dacs[1].url.replace(/\/$/, '')],
  ];
  return changes.reduce((server, [from, to]) => {
    expect(server).toMatch(from);
    return server.replace(from, to);
  }, whole);
}

/** Opens the page of a DAC, and keeps what it complains about. */
async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${path}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`${path}: ${error}`));
  await page.goto(`${host}/${path}`);
  return page;
}

const sequence = (page: Page) => page.getByTestId('sequence').first();

async function moves(page: Page): Promise<void> {
  const before = await sequence(page).textContent();
  await expect.poll(() => sequence(page).textContent()).not.toBe(before);
}

it('keeps sessions, layouts and doors of two DACs below one host apart', async () => {
  const [one, two] = await Promise.all(
    PATHS.map((name, index) => open(`${name}/#${new URL(dacs[index].signInLink).hash.slice(1)}`)),
  );
  for (const [index, page] of [one, two].entries())
    await expect
      .poll(() => page.getByTestId('node').allTextContents())
      .toEqual([expect.stringContaining(`plant-${PATHS[index]}`)]);
  // Each session has a cookie below its own path, although both have the same name.
  const cookies = await context.cookies();
  expect(cookies.map(({ path }) => path).sort()).toEqual(['/a/', '/b/']);
  expect(new Set(cookies.map(({ name }) => name)).size).toBe(1);
  const secrets = new Map(cookies.map(({ path, value }) => [path, value]));
  const sent: string[] = [];
  context.on('request', async (request) => {
    const { pathname } = new URL(request.url());
    const { cookie = '' } = await request.allHeaders();
    for (const [path, secret] of secrets)
      if (cookie.includes(secret) && !pathname.startsWith(path))
        sent.push(`${pathname} has the cookie of ${path}`);
  });

  for (const page of [one, two]) {
    await expect.poll(() => page.getByTestId('door').textContent()).toBe('WebSocket oasis.v1');
    await moves(page);
  }
  // Another layout in each, which is there again after a reload of the bare address.
  const watched = (page: Page) =>
    page
      .locator('[data-testid=instance][aria-pressed=true]')
      .evaluateAll((all) => all.map((instance) => (instance as HTMLElement).dataset.instance).sort());
  const isChosen = (page: Page, name: string) =>
    page.locator(`[data-testid=instance][data-instance=${name}]`).getAttribute('aria-pressed');
  for (const [page, other] of [
    [one, 'memory'],
    [two, 'processor'],
  ] as const) {
    if ((await isChosen(page, other)) === 'true') {
      await page.locator(`[data-testid=instance][data-instance=${other}]`).click();
      await expect.poll(() => isChosen(page, other)).toBe('false');
    }
  }
  await expect
    .poll(() => one.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('oasis.layout'))))
    .toEqual(expect.arrayContaining(['oasis.layout /a/', 'oasis.layout /b/']));
  const before = [await watched(one), await watched(two)];
  expect(before[0]).not.toEqual(before[1]);
  for (const [index, page] of [one, two].entries()) {
    await page.goto('about:blank');
    await page.goto(`${host}/${PATHS[index]}/`);
    await expect.poll(() => watched(page)).toEqual(before[index]);
  }
  // A command needs the session and its token for changes.
  const hertz = two.getByTestId('hertz-input').first();
  await hertz.fill('10');
  await hertz.press('Enter');
  await expect.poll(() => two.getByTestId('hertz').first().textContent()).toBe('of 10 Hz set');

  // Each door works below a path, and the choice is that of one DAC.
  await one.getByTestId('open-ledger').click();
  for (const name of ['Poll', 'Long poll', 'Streaming', 'Server-sent events']) {
    await one.getByTestId('door-choice').selectOption({ label: name });
    await expect.poll(() => one.getByTestId('door').textContent()).toBe(name);
    await moves(one);
  }
  await two.reload();
  await expect.poll(() => two.getByTestId('door').textContent()).toBe('WebSocket oasis.v1');

  // A dashboard has an address below the path.
  const layout = { oasis: 'layout', version: 1, panels: [], range: { live: true, span: 60_000 } };
  const status = await one.evaluate(async (body) => {
    const renewed = await fetch('api/v1/session/csrf', { method: 'POST' });
    const { csrf_token } = await renewed.json();
    const headers = { 'x-csrf-token': csrf_token };
    return (await fetch('api/v1/layouts/wall', { method: 'PUT', headers, body: JSON.stringify(body) }))
      .status;
  }, layout);
  expect(status).toBe(204);
  await one.goto(`${host}/a/d/wall`);
  await expect.poll(() => one.getByTestId('dashboard-name').textContent()).toBe('wall');
  await two.goto(`${host}/b/d/wall`);
  await expect.poll(() => two.getByTestId('dashboard-name').count()).toBe(0);

  // The end of one session is not the end of the two.
  await two.goto(`${host}/b/`);
  await moves(two);
  expect(await two.evaluate(() => fetch('api/v1/nodes').then(({ status }) => status))).toBe(200);
  expect(await two.evaluate(() => fetch('../a/api/v1/nodes').then(({ status }) => status))).toBe(200);
  const signedOut = await one.evaluate(async () => {
    const { csrf_token } = await (await fetch('../api/v1/session/csrf', { method: 'POST' })).json();
    return (await fetch('../api/v1/session', { method: 'DELETE', headers: { 'x-csrf-token': csrf_token } }))
      .status;
  });
  expect(signedOut).toBe(204);
  expect((await context.cookies()).map(({ path }) => path)).toEqual(['/b/']);
  expect(await two.evaluate(() => fetch('../a/api/v1/nodes').then(({ status }) => status))).toBe(401);
  await two.reload();
  await moves(two);
  expect(sent).toEqual([]);
  expect(complaints.filter((text) => !/401|403|404/.test(text))).toEqual([]);
});
