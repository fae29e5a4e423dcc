import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { dropFile } from './harness/drop_file.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const TABLE = `time,speed [m/s],gear
2024-05-01T10:00:00Z,1.5,1
2024-05-01T10:00:10Z,2.5,2
2024-05-01T10:00:20Z,,2
`;

const rig = new Rig(() => Oasis.dac({}, '--archive', join(temporaryFolder(), 'archive')));

/** Opens the dialog by the command palette, which offers it once the page knows its user and the archive. */
async function openByPalette(visit: Visit): Promise<void> {
  const option = visit.page.locator('[role=option][aria-selected=true]', { hasText: 'Import a recording' });
  const offered = async () => {
    await visit.page.keyboard.press('Control+k');
    await visit.page.getByTestId('palette-field').fill('import a recording');
    const isThere = await option.waitFor({ timeout: 2000 }).then(
      () => true,
      () => false,
    );
    if (!isThere) await visit.page.keyboard.press('Escape');
    return isThere;
  };
  await expect.poll(offered, { timeout: 20_000 }).toBe(true);
  await visit.page.keyboard.press('Enter');
}

it('describes a dropped file, imports it when that is confirmed, and shows its time', async () => {
  const visit = await rig.visit();
  const part = (testId: string) => visit.page.getByTestId(testId);
  await part('filter').waitFor({ state: 'attached' });
  await dropFile(visit, 'drive.csv', TABLE);
  await part('import-description').waitFor();
  expect(await part('import-description').textContent()).toMatch(
    /CSV, 1 series, 3 samples.*2024-05-01 10:00:00Z – 2024-05-01 10:00:20Z.*speed \[m\/s\].*1 values absent/s,
  );
  await visit.screenshot('import-described');
  await part('import-node').fill('car');
  await part('import-store').click();
  await part('import-show').waitFor();
  expect(await part('import-step').textContent()).toBe('3 samples imported');
  await visit.screenshot('import-stored');
  await part('import-show').click();
  await part('import').waitFor({ state: 'detached' });
  await expect.poll(() => visit.page.url(), { timeout: 20_000 }).toContain('car/drive');
  await visit.screenshot('import-shown');
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

it('takes a file of the file picker on a phone, and shows why it is refused', async () => {
  const visit = await rig.visit('', { colorScheme: 'light', viewport: { width: 390, height: 740 } });
  const part = (testId: string) => visit.page.getByTestId(testId);
  await part('filter').waitFor({ state: 'attached' });
  await openByPalette(visit);
  const name = `${'a very long name of a file '.repeat(8)}<img src=x>.dat`;
  await part('import-files').setInputFiles({ name, mimeType: '', buffer: Buffer.from('a text\n') });
  await expect.poll(() => part('import-problem').textContent(), { timeout: 20_000 }).toContain('is unknown');
  expect(await part('import-name').textContent()).toBe(name);
  await visit.screenshot('import-refused-phone');
  const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await part('import-cancel').click();
  await part('import-files').setInputFiles({
    name: 'drive.csv',
    mimeType: '',
    buffer: Buffer.from(TABLE),
  });
  await part('import-description').waitFor();
  await visit.screenshot('import-described-phone');
  await visit.close();
});

it('reads a file whose content does not say its times as the user says, and names the field in the error', async () => {
  const visit = await rig.visit();
  const part = (testId: string) => visit.page.getByTestId(testId);
  await part('filter').waitFor({ state: 'attached' });
  await dropFile(visit, 'bench.csv', 'speed [m/s];load\n1,5;2,5\n2,5;3,5\nbroken\n');
  await expect
    .poll(() => part('import-problem').textContent(), { timeout: 20_000 })
    .toContain('“Column of times”');
  await part('import-options').locator('summary').click();
  await part('import-rate').fill('10');
  await part('import-start').fill('2024-05-01T10:00:00');
  await part('import-read').click();
  await part('import-description').waitFor();
  expect(await part('import-description').textContent()).toMatch(
    /1 series, 2 samples, 2024-05-01 10:00:00Z|2024-05-01 10:00:00Z – 2024-05-01 10:00:00\.100Z/,
  );
  await visit.screenshot('import-options');
  await part('import-store').click();
  await expect
    .poll(() => part('import-problem').textContent(), { timeout: 20_000 })
    .toContain('“Leave out defective records”');
  await part('import-partial').check();
  await part('import-store').click();
  await part('import-show').waitFor();
  expect(await part('import-step').textContent()).toBe('2 samples imported');
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
