import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { BINARY, Oasis } from './harness/oasis.ts';

/** The page over TLS, with a certificate of `oasis ca` and with accounts. */

const PASSWORD = 'correct horse battery';

let folder: string;
let browser: Browser;
let oasis: Oasis;

function run(args: readonly string[], input = ''): void {
  execFileSync(BINARY, args, { input, env: { ...process.env, OASIS_ACCESS: join(folder, 'access') } });
}

/** The hash by which Chromium trusts a key without an authority. */
async function keyHash(certificate: string): Promise<string> {
  const { publicKey } = new X509Certificate(await readFile(certificate));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}

beforeAll(async () => {
  folder = temporaryFolder();
  const ca = join(folder, 'ca');
  run(['ca', 'init', '--ca-dir', ca]);
  run(['ca', 'issue', 'server', '127.0.0.1', '--ca-dir', ca]);
  const certificate = join(ca, 'server-127.0.0.1.pem');
  const key = join(ca, 'server-127.0.0.1.key');
  run(['user', 'add', 'ada', '--role', 'operator', '--password-file', '-'], PASSWORD);
  // No one is known without signing in, on this host neither.
  run(['user', 'set-roles', 'local']);
  const encrypted = ['--tls-certificate', certificate, '--tls-key', key];
  oasis = await Oasis.up(
    '--name',
    'plant-7',
    '--probe',
    'processor@20',
    ...encrypted,
    '--access',
    join(folder, 'access'),
  );
  browser = await launch({ trustedKey: await keyHash(certificate) });
});

afterAll(async () => {
  await browser.close();
  await oasis.stop();
});

it('shows live samples over https and wss after signing in, and keeps the session in a Secure cookie', async () => {
  expect(oasis.url).toMatch(/^https:/);
  const visit = await Visit.to(browser, oasis.url);
  await visit.page.getByTestId('sign-in-name').fill('ada');
  await visit.page.getByTestId('sign-in-password').fill(PASSWORD);
  await visit.page.getByTestId('sign-in-submit').click();
  await visit.seesSamples('processor', 5);
  await expect.poll(() => visit.page.getByTestId('door').textContent()).toBe('WebSocket oasis.v1');
  expect(await visit.part('processor', 'missing').textContent()).toBe('0');
  expect(await visit.page.evaluate(() => isSecureContext)).toBe(true);
  const cookies = await visit.page.context().cookies();
  expect(cookies.map(({ secure, httpOnly, sameSite }) => ({ secure, httpOnly, sameSite }))).toEqual([
    { secure: true, httpOnly: true, sameSite: 'Lax' },
  ]);
  // The session outlives a reload.
  await visit.page.reload();
  await visit.seesSamples('processor', 5);
  await visit.page.getByTestId('sign-out').click();
  await visit.page.getByTestId('sign-in').waitFor();
  expect(await visit.page.context().cookies()).toEqual([]);
  await visit.close();
});

it('is not opened by a browser that does not trust the certificate', async () => {
  const stranger = await sharedBrowser();
  const page = await stranger.newPage();
  await expect(page.goto(oasis.url)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
  await page.close();
});
