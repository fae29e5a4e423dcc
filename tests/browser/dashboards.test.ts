import { afterEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const PROBES = ['--probe', 'processor@20', '--probe', 'memory@20'];
const rig = new Rig(() => Oasis.up('--name', 'plant-7', ...PROBES));

const PROCESSOR = { node: '$node', instance: 'processor' };
const TEMPLATE = {
  oasis: 'layout',
  version: 1,
  panels: [
    { id: 'p1', kind: 'instance', target: PROCESSOR },
    { id: 'p2', kind: 'statistics', expressions: ['$node/processor.user_time'] },
  ],
};

const visits: Visit[] = [];
afterEach(async () => {
  for (const visit of visits.splice(0)) await visit.close();
});

async function visit(path: string): Promise<Visit> {
  const opened = await rig.visit(path);
  visits.push(opened);
  return opened;
}

async function put(name: string, body: object): Promise<void> {
  const answer = await fetch(`${rig.oasis.url}/api/v1/layouts/${name}`, {
    method: 'PUT',
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(204);
}

function tabs(of: Visit) {
  return of.page.locator('.dv-default-tab-content');
}

it('opens a dashboard by its address, marks changes, takes them back, and saves', async () => {
  const first = await visit('#watch=plant-7/processor');
  const part = (id: string) => first.page.getByTestId(id);
  await first.seesSamples('processor', 1);
  await expect.poll(() => tabs(first).count()).toBe(2);
  await first.page.keyboard.press('o');
  await part('layout-name').fill('night shift');
  await part('save-layout').click();
  await expect.poll(() => part('dashboard-name').textContent()).toBe('night shift');
  await first.page.goBack();
  await expect.poll(() => part('dashboard-name').count()).toBe(0);
  await first.seesSamples('processor', 1);
  await first.page.goForward();
  await expect.poll(() => part('dashboard-name').textContent()).toBe('night shift');
  expect(new URL(first.page.url()).pathname).toBe('/d/night%20shift');
  await first.page.keyboard.press('Escape');
  expect(await part('dashboard-changed').count()).toBe(0);
  await expect.poll(() => first.page.title()).toContain('night shift');

  const other = await visit('/d/night%20shift');
  await other.seesSamples('processor', 1);
  await expect.poll(() => tabs(other).count()).toBe(2);
  expect(await other.page.getByTestId('dashboard-changed').count()).toBe(0);

  await first.page.keyboard.press('b');
  await part('dashboard-changed').waitFor();
  await part('dashboard-undo').click();
  await expect.poll(() => tabs(first).count()).toBe(2);
  await expect.poll(() => part('dashboard-changed').count()).toBe(0);

  await first.page.keyboard.press('b');
  await part('dashboard-save').click();
  await expect.poll(() => part('dashboard-changed').count()).toBe(0);

  // The other person has the version before.
  await other.page.keyboard.press('g');
  await other.page.getByTestId('dashboard-save').click();
  await expect.poll(() => other.page.getByTestId('dashboard-conflict').textContent()).toContain('revision 2');
  await other.page.getByTestId('conflict-replace').click();
  await expect.poll(() => other.page.getByTestId('dashboard-conflict').count()).toBe(0);
  await expect.poll(() => other.page.getByTestId('restore-version').count()).toBe(3);
  await other.page.getByTestId('restore-version').last().click();
  await expect.poll(() => tabs(other).count()).toBe(2);
  const revisions = async () => {
    const { versions } = await (await fetch(`${rig.oasis.url}/api/v1/layouts/night%20shift/versions`)).json();
    return versions.map(({ revision }: { revision: number }) => revision);
  };
  await expect.poll(revisions).toEqual([4, 3, 2, 1]);
  // The browser reports the 412.
  expect(other.complaints.filter((text) => !text.includes('412'))).toEqual([]);
  expect(first.complaints).toEqual([]);
});

it('says which dashboards there are if the one of the address is none', async () => {
  await put('list', TEMPLATE);
  const page = await (await rig.browser.newContext()).newPage();
  await page.goto(`${rig.oasis.url}/d/nothing`);
  await expect.poll(() => page.getByTestId('missing-dashboard').textContent()).toContain('nothing');
  await page.getByRole('link', { name: 'list' }).click();
  await expect.poll(() => page.getByTestId('dashboard-name').textContent()).toBe('list');
  await page.context().close();
});

it('shows a template for the node of the address, and for one that is chosen', async () => {
  const second = await Oasis.node(rig.oasis.channel, '--name', 'mill', ...PROBES);
  try {
    await put('plant', TEMPLATE);
    const page = await visit('/d/plant?node=plant-7');
    const part = (id: string) => page.page.getByTestId(id);
    await page.seesSamples('processor', 1);
    await expect
      .poll(() => part('dashboard-node').locator('option').allTextContents())
      .toEqual(['mill', 'plant-7']);
    await part('dashboard-node').selectOption('mill');
    await expect.poll(() => new URL(page.page.url()).search).toBe('?node=mill');
    await expect
      .poll(() => page.page.locator('[data-node=mill], .card').first().textContent())
      .toContain('mill');
    expect(await part('dashboard-changed').count()).toBe(0);
    await page.page.keyboard.press('b');
    await part('dashboard-save').click();
    await expect.poll(() => part('dashboard-changed').count()).toBe(0);
    const saved = await (await fetch(`${rig.oasis.url}/api/v1/layouts/plant`)).json();
    expect(saved.panels[0].target).toEqual(PROCESSOR);
    expect(saved.panels[1].expressions).toEqual(['$node/processor.user_time']);
    expect(page.complaints).toEqual([]);
  } finally {
    await second.stop();
  }
});

it('cycles through the dashboards of the address of a kiosk, and skips one that is gone', async () => {
  await put('first', TEMPLATE);
  await put('second', { ...TEMPLATE, panels: [{ id: 'p1', kind: 'text', text: '# The second one' }] });
  const kiosk = await visit('/d/first?node=plant-7&kiosk&cycle=gone&cycle=second&every=5');
  await kiosk.seesSamples('processor', 1);
  const title = kiosk.page.getByRole('heading', { name: 'The second one' });
  await title.waitFor({ timeout: 30_000 });
  await kiosk.seesSamples('processor', 1);
  expect(await title.count()).toBe(0);
  expect(new URL(kiosk.page.url()).pathname).toBe('/d/first');
  // The browser reports the answer for the dashboard that is gone.
  expect(kiosk.complaints.filter((text) => !text.includes('404'))).toEqual([]);
});

it('offers no changes with ?view, and shows the panels alone with ?kiosk', async () => {
  await put('wall', TEMPLATE);
  const view = await visit('/d/wall?node=plant-7&view');
  await view.seesSamples('processor', 1);
  expect(await view.page.getByTestId('dashboard-name').count()).toBe(1);
  expect(await view.page.locator('.toolbar').count()).toBe(0);
  expect(await view.page.locator('.commands:visible').count()).toBe(0);
  for (const key of ['a', 'o', 'r', 'n', 'x', 'b', 'Control+k']) await view.page.keyboard.press(key);
  expect(await view.page.locator('dialog').count()).toBe(0);
  await expect.poll(() => tabs(view).count()).toBe(2);

  const kiosk = await visit('/d/wall?node=plant-7&kiosk');
  await kiosk.seesSamples('processor', 1);
  expect(await kiosk.page.locator('header.header').count()).toBe(0);
  await expect
    .poll(() => kiosk.page.evaluate(() => document.documentElement.classList.contains('is-idle')))
    .toBe(true);
  await kiosk.page.mouse.move(300, 300);
  await expect.poll(() => kiosk.page.evaluate(() => getComputedStyle(document.body).cursor)).not.toBe('none');
  expect([...view.complaints, ...kiosk.complaints]).toEqual([]);
});
