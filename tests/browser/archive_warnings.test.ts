import { expect, it } from 'vitest';
import { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';
import { shown } from './harness/shown.ts';

const folder = temporaryFolder();
const rig = new Rig(() => Oasis.up('--archive', folder));

/** The page reads the state of the archive so often. */
const REREAD_MS = 5000;
const EARLY = {
  instances: '*',
  code: 'size_before_age',
  detail:
    'at the present rate the 10.0 GiB of the retention rule "*" have room for 8.0 hours only: raise its bytes',
};
const HOSTILE = {
  instances: '*',
  code: 'of-a-newer-dac',
  detail: `<img src=x onerror=alert(1)>\u202e${'x'.repeat(300)}`,
};

it('warns in the header before the archive evicts samples, and the ledger says what to do', async () => {
  const visit = await Visit.to(rig.browser, 'about:blank');
  await visit.page.clock.install();
  let answer: object = { condition: 'storing', detail: null, warnings: [EARLY, HOSTILE] };
  await visit.page.route('**/api/v1/archive', (route) => route.fulfill({ json: answer }));
  await visit.page.goto(rig.oasis.url);
  const header = visit.page.getByTestId('archive-warning');
  await expect.poll(() => header.textContent()).toBe('The archive will evict samples early (and 1 more)');
  expect(await header.getAttribute('title')).toContain('8.0 hours only: raise its bytes');
  await visit.page.getByTestId('open-ledger').click();
  const lines = visit.page.getByTestId('ledger-archive-warning');
  await expect
    .poll(() => lines.allTextContents())
    .toEqual([EARLY, HOSTILE].map(({ detail }) => `The archive will evict samples: ${shown(detail)}.`));
  const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await visit.screenshot('archive-warnings');
  // A part that does not work at all goes before one that will have a problem.
  answer = { condition: 'disk_full', detail: 'No space left on device', warnings: [EARLY] };
  await visit.page.clock.fastForward(REREAD_MS);
  await expect.poll(() => header.count()).toBe(0);
  answer = { condition: 'storing', detail: null, warnings: [] };
  await visit.page.clock.fastForward(REREAD_MS);
  await expect.poll(() => lines.count()).toBe(0);
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
