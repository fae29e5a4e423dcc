import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';

const NAME = '<img src=x onerror=alert(1)>';

let browser: Browser;
let oasis: Oasis;

beforeAll(async () => {
  [oasis, browser] = await Promise.all([Oasis.up('--name', NAME), launch()]);
});

afterAll(async () => {
  await browser.close();
  await oasis.stop();
});

it('shows hostile names as the text they are', async () => {
  const visit = await Visit.to(browser, oasis.url);
  await visit.seesSamples('processor', 2, 10_000);
  expect(await visit.page.getByTestId('node-name').textContent()).toBe(NAME);
  expect(await visit.part('processor', 'card-node').textContent()).toBe(`on ${NAME}`);
  expect(await visit.page.locator('img').count()).toBe(0);

  await visit.page.getByTestId('filter').fill('<IMG');
  expect(await visit.page.getByTestId('instance').count()).toBeGreaterThan(0);
  await visit.page.getByTestId('filter').fill('no such thing');
  expect(await visit.page.getByTestId('instance').count()).toBe(0);

  await visit.page.reload();
  await visit.seesSamples('processor', 2, 10_000);
  expect(visit.complaints).toEqual([]);
  await visit.screenshot('hostile');
  await visit.close();
});
