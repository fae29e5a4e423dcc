import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const folder = temporaryFolder();
const script = fileURLToPath(new URL('../openid/provider.mjs', import.meta.url));
const provider = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'ignore'] });
const lines = createInterface(provider.stdout)[Symbol.asyncIterator]();
afterAll(() => provider.kill());

const rig = new Rig(async () => {
  const issuer = String((await lines.next()).value);
  const config = join(folder, 'oasis.toml');
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'a secret of provider and client that is long enough', { mode: 0o600 });
  writeFileSync(
    config,
    `[access.oidc]
issuer = "${issuer}"
client_id = "oasis"
client_secret_file = "${secret}"
label = "Sign in with your plant account"
[access.oidc.roles]
fitters = ["operator"]
`,
  );
  const access = join(folder, 'access');
  const oasis = await Oasis.up(
    '--config',
    config,
    '--access',
    access,
    '--local',
    'token',
    '--name',
    'plant-7',
  );
  provider.stdin.write(`${oasis.url}/sign-in/oidc/callback\n`);
  expect((await lines.next()).value).toBe('ready');
  return oasis;
});

it('signs in by a certified provider, from the button to the samples', async () => {
  const visit = await rig.visit();
  await visit.page.getByTestId('sign-in-provider').click();
  await expect.poll(() => visit.page.getByTestId('sign-out').textContent()).toContain('ada');
  expect(visit.page.url()).not.toContain('code=');
  await visit.seesSamples('processor', 1);
  expect(await visit.page.getByTestId('open-accounts').count()).toBe(0);
  // The cookie of the session is not for scripts, and that of the flow is gone.
  // Cookies of the provider are on the same host.
  const all = await visit.page.context().cookies(rig.oasis.url);
  const cookies = all.filter(({ name }) => name.startsWith('oasis'));
  expect(
    cookies.map(({ name, httpOnly, sameSite }) => [name.replace(/\d+/, 'PORT'), httpOnly, sameSite]),
  ).toEqual([['oasis-session-PORT', true, 'Lax']]);
  await visit.page.getByTestId('sign-out').click();
  await visit.page.getByTestId('sign-in').waitFor();
  await visit.close();
});
