import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const PASSWORD = 'correct horse battery';
const folder = temporaryFolder();
const config = join(folder, 'oasis.toml');
// No server answers there: the page only shows its button.
writeFileSync(
  config,
  '[access.oidc]\nissuer = "http://127.0.0.1:1"\nclient_id = "oasis"\nlabel = "Plant login"\n',
);

const rig = new Rig(() =>
  Oasis.up('--config', config, '--access', join(folder, 'access'), '--local', 'token', '--name', 'plant-7'),
);

it('signs in by a link once, and manages users, tokens and roles', async () => {
  const link = rig.oasis.signInLink;
  const visit = await rig.visit(link.slice(rig.oasis.url.length));
  const { page } = visit;
  // The code is gone from the address.
  await page.getByTestId('open-accounts').click();
  expect(page.url()).not.toContain('sign-in');
  const dialog = page.getByTestId('accounts');

  await dialog.getByTestId('accounts-roles').click();
  await dialog.getByTestId('role-name').fill('fitter');
  await dialog.getByTestId('role-target').fill('plant-*/mem*');
  await expect.poll(() => dialog.getByTestId('role-preview').textContent()).toContain('Sees 1 of');
  await visit.screenshot('accounts-roles');
  await dialog.getByTestId('role-save').click();
  await expect.poll(() => dialog.locator('[data-role=fitter]').textContent()).toContain('read plant-*/mem*');

  await dialog.getByTestId('accounts-users').click();
  await dialog.getByTestId('user-name').fill('ada');
  await dialog.getByTestId('user-password').fill('short');
  await dialog.getByTestId('user-add').click();
  await expect.poll(() => dialog.getByTestId('accounts-problem').textContent()).toContain('at least 12');
  await dialog.getByTestId('user-password').fill(PASSWORD);
  await dialog.getByTestId('user-roles').getByLabel('viewer').uncheck();
  await dialog.getByTestId('user-roles').getByLabel('fitter').check();
  await dialog.getByTestId('user-add').click();
  const ada = dialog.locator('[data-user=ada]');
  await expect.poll(() => ada.textContent()).toContain('fitter');
  await visit.screenshot('accounts-users');

  await dialog.getByTestId('accounts-tokens').click();
  await dialog.getByTestId('token-name').fill('kiosk');
  await dialog.getByTestId('token-embed').check();
  await dialog.getByTestId('token-scope').fill('read plant-7/*');
  await dialog.getByTestId('token-create').click();
  await expect.poll(() => dialog.getByTestId('token-secret').textContent()).toMatch(/^oasis_[0-9a-f]{8}_/);
  await visit.screenshot('accounts-token');
  await dialog.getByTestId('token-done').click();
  expect(await dialog.getByTestId('token-secret').count()).toBe(0);
  await dialog.getByTestId('token-revoke').click();
  await dialog.getByTestId('token-revoke-sure').click();
  await expect.poll(() => dialog.getByTestId('token-line').count()).toBe(0);

  // Nothing is wider than the screen.
  for (const [width, height] of [
    [390, 844],
    [1366, 768],
    [3840, 2160],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const tab of ['users', 'tokens', 'roles']) {
      await dialog.getByTestId(`accounts-${tab}`).click();
      await visit.screenshot(`accounts-${tab}-${width}`);
      const wide = await dialog.evaluate((element) => element.scrollWidth - element.clientWidth);
      expect(wide).toBeLessThanOrEqual(0);
    }
  }
  // The browser reports the refused password.
  expect(visit.complaints.filter((text) => !text.includes('422'))).toEqual([]);

  // Another person signs in with the password, sees what its role permits, and changes the password.
  const other = await rig.visit();
  await other.page.getByTestId('sign-in-name').fill('ada');
  await other.page.getByTestId('sign-in-password').fill(PASSWORD);
  expect(await other.page.getByTestId('sign-in-provider').textContent()).toBe('Plant login');
  await other.screenshot('sign-in-provider');
  await other.page.getByTestId('sign-in-submit').click();
  await other.page.getByTestId('change-password').click();
  expect(await other.page.getByTestId('open-accounts').count()).toBe(0);
  await other.page.getByTestId('password-present').fill(PASSWORD);
  for (const field of ['password-new', 'password-again']) {
    await other.page.getByTestId(field).fill(`${PASSWORD} 2`);
  }
  await other.screenshot('change-password');
  await other.page.getByTestId('password-change').click();
  await other.page.getByTestId('sign-in').waitFor();
  await other.page.getByTestId('sign-in-name').fill('ada');
  await other.page.getByTestId('sign-in-password').fill(`${PASSWORD} 2`);
  await other.page.getByTestId('sign-in-submit').click();
  await other.page.getByTestId('sign-out').waitFor();

  // An administrator ends the session; the page asks to sign in again.
  await dialog.getByTestId('dialog-close').click();
  await page.getByTestId('open-accounts').click();
  await ada.getByTestId('user-end-sessions').click();
  await other.page.getByTestId('sign-in').waitFor();
  await other.close();
  await visit.close();
});

it('says why a link or a provider does not sign in', async () => {
  for (const [fragment, reason] of [
    ['/#sign-in=used', 'make another one'],
    ['/#sign-in-failed=provider_down', 'does not answer'],
    ['/#sign-in-failed=other', 'has failed'],
  ] as const) {
    const visit = await rig.visit(fragment);
    await expect.poll(() => visit.page.getByTestId('sign-in-problem').textContent()).toContain(reason);
    await visit.close();
  }
});
