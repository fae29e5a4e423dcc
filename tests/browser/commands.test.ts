import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() =>
  Oasis.up('--probe', 'processor@20', '--probe', 'memory', '--probe', 'heartbeat@20'),
);
let visit: Visit;

beforeEach(async () => {
  visit = await rig.visit();
  await visit.seesSamples('processor', 1);
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

it('refuses an invalid rate without a request', async () => {
  for (const wrong of ['0', '1001', 'much', '']) {
    await visit.part('processor', 'hertz-input').fill(wrong);
    await visit.part('processor', 'hertz-set').click();
    expect(await visit.part('processor', 'command-status').getAttribute('data-status')).toBe('failed');
  }
  await visit.part('processor', 'hertz-input').fill('2.5');
  await visit.part('processor', 'hertz-input').press('Enter');
  await expect.poll(() => visit.part('processor', 'hertz').textContent()).toBe('of 2.5 Hz set');
});

it('disables and enables an instance, and takes a sample on request', async () => {
  await visit.part('memory', 'disable').click();
  await expect.poll(() => visit.part('memory', 'card-state').getAttribute('data-state')).toBe('disabled');
  const before = await visit.part('memory', 'sequence').textContent();
  await visit.part('memory', 'enable').click();
  await expect.poll(() => visit.part('memory', 'card-state').getAttribute('data-state')).toBe('live');
  await visit.part('memory', 'sample-now').click();
  await expect.poll(() => visit.part('memory', 'command-status').getAttribute('data-status')).toBe('done');
  await expect.poll(() => visit.part('memory', 'sequence').textContent()).not.toBe(before);
});

it('lets a rate follow the demand of readers until a command sets one', async () => {
  const part = (testId: string) => visit.part('memory', testId);
  await visit.seesSamples('memory', 1);
  await part('demand-min').fill('50');
  await part('demand-max').fill('20');
  await part('demand-on').click();
  expect(await part('command-status').getAttribute('data-status')).toBe('failed');
  await part('demand-min').fill('2');
  await part('demand-on').click();
  // This page is a reader that requests every sample.
  await expect.poll(() => part('demand').textContent()).toBe('Follows demand, 2 to 20 Hz: 20 Hz requested');
  await expect.poll(() => part('hertz').textContent()).toBe('of 20 Hz set');
  await part('hertz-preset-1').click();
  await expect.poll(() => part('demand-on').count()).toBe(1);
  await expect.poll(() => part('hertz').textContent()).toBe('of 1 Hz set');
});

it('works without a mouse', async () => {
  const instance = visit.page.locator('[data-testid=instance][data-instance=heartbeat]');
  await instance.focus();
  await visit.page.keyboard.press('Enter');
  await visit.seesSamples('heartbeat', 1);
  expect(await instance.getAttribute('aria-pressed')).toBe('true');
  await visit.page.keyboard.press('Space');
  await expect.poll(() => visit.card('heartbeat').count()).toBe(0);
});
