import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Locator } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() =>
  Oasis.up(
    ...['--archive', temporaryFolder()],
    ...['--probe', 'processor@20', '--probe', 'memory', '--probe', 'heartbeat'],
  ),
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

function part(testId: string): Locator {
  return visit.page.getByTestId(testId);
}

const keyboard = () => visit.page.keyboard;

/** Opens the palette and types; waits for the first result with a text. */
async function find(typed: string, result: string): Promise<void> {
  await keyboard().press('Control+k');
  await part('palette-field').fill(typed);
  await expect.poll(chosen).toContain(result);
}

/** The text of the result that Enter would take. */
async function chosen(): Promise<string> {
  const option = visit.page.locator('[role=option][aria-selected=true]');
  return (await option.count()) === 1 ? ((await option.textContent()) ?? '') : '';
}

it('opens an instance and a metric that are not watched', async () => {
  expect(await visit.card('heartbeat').count()).toBe(0);
  await find('heartb', 'heartbeat');
  await keyboard().press('Enter');
  await expect.poll(() => visit.card('heartbeat').count()).toBe(1);
  await find('memory available', 'memory.');
  await keyboard().press('Enter');
  const tab = visit.page.locator('.dv-active-group .dv-active-tab');
  await expect.poll(() => tab.textContent()).toBe('memory · physical_memory_avail');
  expect(await part('palette').count()).toBe(0);
});

it('opens from a text field, moves with arrows, and gives the focus back', async () => {
  await part('filter').focus();
  await keyboard().press('Control+k');
  const field = part('palette-field');
  await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  await expect.poll(chosen).not.toBe('');
  const first = await chosen();
  await keyboard().press('ArrowDown');
  await expect.poll(chosen).not.toBe(first);
  await keyboard().press('ArrowUp');
  await expect.poll(chosen).toBe(first);
  await keyboard().press('ArrowUp');
  await expect.poll(chosen).not.toBe(first);
  const named = await field.getAttribute('aria-activedescendant');
  expect(await visit.page.locator(`[id="${named}"]`).getAttribute('aria-selected')).toBe('true');
  await keyboard().press('Escape');
  await expect.poll(() => part('palette').count()).toBe(0);
  await expect
    .poll(() => part('filter').evaluate((element) => element === document.activeElement))
    .toBe(true);
});

it('asks before it disables an instance, and says how the command ended', async () => {
  await find('disable processor', 'Disable processor');
  await keyboard().press('Enter');
  await expect.poll(chosen).toContain('Yes');
  await keyboard().press('Escape');
  await expect.poll(() => part('palette-field').getAttribute('aria-label')).toContain('Find');
  await part('palette-field').fill('disable processor');
  await expect.poll(chosen).toContain('Disable processor');
  await keyboard().press('Enter');
  await expect.poll(chosen).toContain('Yes');
  await keyboard().press('Enter');
  await expect.poll(() => part('notice').textContent()).toMatch(/^Disable processor on .+: done$/);
  await expect.poll(() => visit.card('processor').textContent()).toContain('Disabled');
  await find('enable processor', 'Enable processor');
  await keyboard().press('Enter');
  await expect.poll(() => visit.card('processor').textContent()).toContain('Live');
});

it('has more actions of an instance, such as its rate', async () => {
  await find('processor LinuxProcessorProbe', 'LinuxProcessorProbe');
  await keyboard().press('ArrowRight');
  await part('palette-field').fill('rate');
  await expect.poll(chosen).toContain('Set the rate');
  await keyboard().press('Enter');
  await part('palette-field').fill('7');
  await expect.poll(chosen).toContain('Sample processor at 7 Hz');
  await keyboard().press('Enter');
  await expect.poll(() => visit.part('processor', 'hertz').textContent()).toContain('7 Hz');
});

it('runs commands of the page and of the DAC, and remembers them', async () => {
  await find('store everything', 'Store everything');
  await keyboard().press('Enter');
  await expect.poll(() => part('notice').textContent()).toContain('done');
  await find('moment', 'Go to a moment');
  await keyboard().press('Enter');
  await expect.poll(() => part('moment').count()).toBe(1);
  await keyboard().press('Escape');
  await expect.poll(() => part('moment').count()).toBe(0);
  await keyboard().press('Control+k');
  await expect.poll(chosen).toContain('Go to a moment');
  await keyboard().press('Escape');
});

it('starts and stops a test run by its name', async () => {
  await find('start a test run', 'Start a test run');
  await keyboard().press('Enter');
  await part('palette-field').fill('cold start');
  await expect.poll(chosen).toContain('Start cold start');
  await keyboard().press('Enter');
  await expect.poll(() => part('notice').textContent()).toContain('done');
  await find('stop cold', 'Stop test run cold start');
  await keyboard().press('Enter');
  await expect.poll(chosen).toContain('Yes');
  await keyboard().press('Enter');
  await expect.poll(() => part('notice').textContent()).toContain('Stop test run cold start: done');
});

it('explains panels and finds topics of the reference', async () => {
  await part('panel-help').first().click();
  await expect.poll(() => part('topic').textContent()).toContain('Newest sample');
  await keyboard().press('Escape');
  await expect.poll(() => part('topic').count()).toBe(0);
  await keyboard().press('h');
  await expect.poll(() => part('topic').textContent()).toContain('Opens by itself');
  await keyboard().press('Escape');
  await expect.poll(() => part('topic').count()).toBe(0);
  await find('help ledger', 'Help: Ledger');
  await keyboard().press('Enter');
  await expect.poll(() => part('topic').textContent()).toContain('how many samples its probe took');
});

it('shows hints once', async () => {
  await expect.poll(() => part('hint').textContent()).toContain('Ctrl+K');
  await part('hint-next').click();
  await expect.poll(() => part('hint').textContent()).toContain('Drag');
  await part('hint-close').click();
  await visit.page.reload();
  await visit.seesSamples('processor', 1);
  expect(await part('hint').count()).toBe(0);
});

it('shows local time or UTC, and links say so', async () => {
  const url = visit.page.url();
  await visit.close();
  visit = await rig.visit('', {
    timezoneId: 'Asia/Kolkata',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await visit.page.goto(url);
  await visit.seesSamples('processor', 1);
  const clock = async () => /\d\d:(\d\d)/.exec((await part('ends').textContent()) ?? '')?.[1];
  const minute = () => String(new Date().getUTCMinutes()).padStart(2, '0');
  await expect.poll(() => part('time-zone').textContent()).toBe('Asia/Calcutta');
  await part('time-zone').click();
  await expect.poll(() => part('time-zone').textContent()).toBe('UTC');
  await expect.poll(async () => (await part('ends').textContent())?.includes(`:${minute()}:`)).toBe(true);
  expect(await clock()).toBeDefined();
  await keyboard().press('s');
  await expect.poll(() => part('notice').textContent()).toContain('Copied');
  const link = await visit.page.evaluate(() => navigator.clipboard.readText());
  await visit.close();
  visit = await rig.visit(`/${new URL(link).hash}`, { timezoneId: 'Asia/Kolkata' });
  await visit.seesSamples('processor', 1);
  await expect.poll(() => part('time-zone').textContent()).toBe('UTC');
});

it('has a form, or names a command, for every change that the HTTP API offers', async () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/reference/page.md', import.meta.url)), 'utf8');
  const table = page.split('### Forms for everything')[1].split('\n## ')[0];
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...row.split('|')[1].matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const { paths } = (await (await fetch(`${rig.oasis.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const changes = Object.entries(paths)
    .filter(([, methods]) => ['post', 'put', 'patch', 'delete'].some((method) => method in methods))
    .map(([path]) => path.replace('/api/v1/', ''));
  expect(changes.length).toBeGreaterThan(20);
  const isNamed = (path: string) => named.some((name) => path === name || path.startsWith(`${name}/`));
  expect(changes.filter((path) => !isNamed(path))).toEqual([]);
});
