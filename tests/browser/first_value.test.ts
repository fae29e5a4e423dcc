import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() =>
  Oasis.up(...['--name', 'plant-7', '--probe', 'processor', '--probe', 'memory', '--probe', 'heartbeat@20']),
);

it('shows a live value as the first thing', async () => {
  const visit = await rig.visit();
  await visit.seesSamples('processor', 1);
  expect(await visit.part('processor', 'value').first().textContent()).toMatch(/\d/);
  await expect.poll(() => visit.part('memory', 'card-state').textContent()).toBe('Live');
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

it('remembers the watched instances, with and without the address', async () => {
  const visit = await rig.visit();
  await visit.seesSamples('processor', 1);
  await visit.part('processor', 'unwatch').click();
  await visit.page.locator('[data-testid=instance][data-instance=heartbeat]').click();
  await visit.seesSamples('heartbeat', 1);
  // The browser keeps the layout a moment later.
  await expect
    .poll(() => visit.page.evaluate(() => localStorage.getItem('oasis.layout')))
    .toMatch(/^(?!.*processor).*heartbeat/s);
  const watched = () =>
    visit.page
      .getByTestId('card')
      .evaluateAll((cards) => cards.map((card) => card.getAttribute('data-instance')));
  expect(await watched()).toEqual(['memory', 'heartbeat']);

  await visit.page.reload();
  await visit.seesSamples('heartbeat', 1);
  expect(await watched()).toEqual(['memory', 'heartbeat']);

  await visit.page.goto('about:blank');
  await visit.page.goto(rig.oasis.url);
  await visit.seesSamples('heartbeat', 1);
  expect(await watched()).toEqual(['memory', 'heartbeat']);
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
