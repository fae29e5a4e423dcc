import { expect, it } from 'vitest';
import { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';
import { shown } from './harness/shown.ts';

const rig = new Rig(() => Oasis.up());

/** The page reads handlers so often. */
const REREAD_MS = 5000;
const HOSTILE = `<img src=x onerror=alert(1)>\u202e${'x'.repeat(300)}`;

it('lists all handlers of the DAC, with hostile names and details as text', async () => {
  const visit = await Visit.to(rig.browser, 'about:blank');
  await visit.page.clock.install();
  let handlers: object[] = [
    { name: 'archive', condition: 'running', detail: null, restarts: 0, state: { condition: 'storing' } },
    { name: HOSTILE, condition: 'backing_off', detail: `${HOSTILE}\nsecond`, restarts: 2, state: {} },
    { name: 'from-a-newer-dac', condition: 'sleeping', state: null },
    { name: 'from-an-older-dac', state: { condition: 'failing', detail: 'connection refused' } },
  ];
  await visit.page.route('**/api/v1/handlers', (route) => route.fulfill({ json: { handlers } }));
  await visit.page.goto(rig.oasis.url);
  await visit.page.getByTestId('open-ledger').click();
  const lines = visit.page.getByTestId('handler');
  await expect
    .poll(() => lines.allTextContents())
    .toEqual([
      'archiveRunning, storing',
      `${shown(HOSTILE)}Waiting to restart2 restarts: ${shown(HOSTILE)}`,
      'from-a-newer-dacsleeping',
      'from-an-older-dacfailingconnection refused',
    ]);
  const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await visit.screenshot('handlers');
  handlers = [{ name: 'archive', condition: 'failed', detail: 'disk full', restarts: 1, state: {} }];
  await visit.page.clock.fastForward(REREAD_MS);
  await expect.poll(() => lines.allTextContents()).toEqual(['archiveFailed1 restart: disk full']);
  expect(await lines.getAttribute('data-condition')).toBe('failed');
  handlers = [];
  await visit.page.clock.fastForward(REREAD_MS);
  await expect.poll(() => visit.page.getByTestId('handlers').count()).toBe(0);
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
