import { afterEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() =>
  Oasis.up(
    ...['--name', 'plant-7', '--archive', temporaryFolder()],
    ...['--probe', 'processor', '--probe', 'memory@20'],
  ),
);
let visit: Visit;

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

const part = (testId: string) => visit.page.getByTestId(testId);
const says = () => part('unknown').textContent();

async function post(path: string, body: object): Promise<void> {
  const answer = await fetch(`${rig.oasis.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.ok).toBe(true);
}

it('says that a link names an unknown node, and shows the one that is meant', async () => {
  visit = await rig.visit('/?node=plant-8');
  await expect.poll(says).toContain('There is no node plant-8');
  await part('unknown-meant').click();
  await expect.poll(() => part('card').first().getAttribute('data-node')).toBe('plant-7');
  await expect.poll(() => part('unknown').count()).toBe(0);
  expect(visit.page.url()).not.toContain('plant-8');
});

it('begins with the node and the instance that a link names', async () => {
  visit = await rig.visit('/?node=plant-7&instance=memory');
  await visit.seesSamples('memory', 1);
  expect(await part('card').count()).toBe(1);
  expect(await part('unknown').count()).toBe(0);
});

it('says so of a watched instance, and leads to all nodes with one click', async () => {
  visit = await rig.visit('/#watch=plant-7/processr,plant-7/memory');
  await expect.poll(says).toContain('plant-7 has no instance processr');
  expect(await part('unknown-meant').first().textContent()).toBe('processor');
  await part('unknown-all').click();
  await expect.poll(() => part('fleet-count').textContent()).toContain('1 of 1 nodes');
  await expect.poll(() => part('unknown').count()).toBe(0);
  // Known names stay.
  expect(await visit.card('memory').count()).toBe(1);
});

it('shows the time of a test run, and says that there is none of a name', async () => {
  await post('test-runs', { name: 'soak-1' });
  await post('test-runs/1/stop', {});
  visit = await rig.visit('/?run=soak-1');
  await expect.poll(() => part('live').getAttribute('data-live')).toBe('false');
  await visit.page.goto(`${rig.oasis.url}/?run=soak-2`);
  await expect.poll(says).toContain('There is no test run soak-2');
  expect(await part('unknown-meant').textContent()).toBe('soak-1');
  await part('unknown-meant').click();
  await expect.poll(() => part('unknown').count()).toBe(0);
});

it('offers dashboards with names like one that does not exist', async () => {
  const layout = { oasis: 'layout', version: 1, panels: [{ id: 'p1', kind: 'ledger' }] };
  const answer = await fetch(`${rig.oasis.url}/api/v1/layouts/overview`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'if-none-match': '*' },
    body: JSON.stringify(layout),
  });
  expect(answer.ok).toBe(true);
  visit = await rig.visit('/d/overvew');
  await expect.poll(() => part('missing-meant').textContent()).toContain('overview');
  // The browser reports the refused request.
  visit.complaints.length = 0;
});

it('marks the unknown node of a dashboard for any node', async () => {
  const target = { node: '$node', instance: 'memory' };
  const layout = { oasis: 'layout', version: 1, panels: [{ id: 'p1', kind: 'instance', target }] };
  await fetch(`${rig.oasis.url}/api/v1/layouts/any`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'if-none-match': '*' },
    body: JSON.stringify({ ...layout, node: 'plant-7' }),
  });
  visit = await rig.visit('/d/any?node=plant-77');
  await expect.poll(says).toContain('There is no node plant-77');
  await expect.poll(() => part('dashboard-node').textContent()).toContain('plant-77 (unknown)');
  await part('unknown-meant').click();
  await visit.seesSamples('memory', 1);
  await expect.poll(() => part('unknown').count()).toBe(0);
});
