import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

it('shows a live value as the first thing', async () => {
  const oasis = await Oasis.up();
  const visit = await Visit.to(browser, oasis.url);
  await visit.seesSamples('processor', 1);
  expect(await visit.part('processor', 'value').first().textContent()).toMatch(/\d/);
  await expect.poll(() => visit.part('memory', 'card-state').textContent()).toBe('Live');
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await oasis.stop();
});

it('remembers the watched instances, with and without the address', async () => {
  const oasis = await Oasis.up('--name', 'plant-7');
  const visit = await Visit.to(browser, oasis.url);
  await visit.seesSamples('processor', 1);
  await visit.part('processor', 'unwatch').click();
  await visit.page.locator('[data-testid=instance][data-instance=heartbeat]').click();
  await visit.seesSamples('heartbeat', 1);
  const watched = () =>
    visit.page
      .getByTestId('card')
      .evaluateAll((cards) => cards.map((card) => card.getAttribute('data-instance')));
  expect(await watched()).toEqual(['memory', 'heartbeat']);

  await visit.page.reload();
  await visit.seesSamples('heartbeat', 1);
  expect(await watched()).toEqual(['memory', 'heartbeat']);

  await visit.page.goto('about:blank');
  await visit.page.goto(oasis.url);
  await visit.seesSamples('heartbeat', 1);
  expect(await watched()).toEqual(['memory', 'heartbeat']);
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await oasis.stop();
});
