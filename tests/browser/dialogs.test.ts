import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up('--name', 'plant'));
let visit: Visit;

beforeAll(async () => {
  visit = await rig.visit();
  await visit.seesSamples('processor', 1);
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

const part = (testId: string) => visit.page.getByTestId(testId);
const focused = () => visit.page.evaluate(() => document.activeElement?.getAttribute('data-testid'));

it.each([
  ['open-add', 'add', 'kind-chart'],
  ['open-layout', 'layout', 'layout-name'],
  ['open-note', 'note', 'note-text'],
  ['open-accounts', 'accounts', 'user-name'],
])('begins the dialog of %s at its first field, and gives the focus back', async (button, dialog, first) => {
  await part(button).click();
  await expect.poll(focused).toBe(first);
  await visit.page.keyboard.press('Escape');
  await expect.poll(() => part(dialog).count()).toBe(0);
  expect(await focused()).toBe(button);
});

it('says what a panel lacks before it can be added', async () => {
  await part('open-add').click();
  await expect.poll(() => part('add-first').textContent()).toBe('Select at least one metric.');
  await part('kind-map').check({ force: true });
  await expect
    .poll(() => part('add-nothing').textContent())
    .toBe('No instance has a latitude and a longitude.');
  await part('kind-xy').check({ force: true });
  await expect.poll(() => part('add-first').textContent()).toBe('Type both expressions first.');
  await visit.page.keyboard.press('Escape');
  await expect.poll(() => part('add').count()).toBe(0);
});

it('takes no empty note', async () => {
  await visit.page.keyboard.press('n');
  expect(await part('note-add').isDisabled()).toBe(true);
  await part('note-text').fill('valve open');
  expect(await part('note-add').isDisabled()).toBe(false);
  await visit.page.keyboard.press('Escape');
});
