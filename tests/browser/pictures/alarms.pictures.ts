import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { launch, Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { takePicture } from './picture.ts';
import { grid, layoutLink } from './plant.ts';

/** The pump of examples/pump, which has overheated twice. */

const PUMP = fileURLToPath(new URL('../../../target/debug/pump', import.meta.url));
const RULES = fileURLToPath(new URL('../../../examples/pump/pump.rules', import.meta.url));
const TARGET = { node: 'plant-7', instance: 'pump' };
const SECOND_MS = 1000;
/** Where `expect.poll` waits for less. */
const LOADED = { timeout: 30 * SECOND_MS };
/** An episode takes some half a minute. */
const EPISODE = { timeout: 60 * SECOND_MS, interval: 200 };

let browser: Browser;
let dac: Oasis;
let pump: ChildProcess;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oasis-'));
  const config = join(folder, 'oasis.toml');
  await writeFile(
    config,
    `[archive]\ndirectory = ${JSON.stringify(join(folder, 'samples'))}\n[rules]\nfiles = [${JSON.stringify(RULES)}]\n`,
  );
  [dac, browser] = await Promise.all([Oasis.dac({}, '--config', config), launch()]);
  pump = spawn(PUMP, [dac.channel], { stdio: ['pipe', 'ignore', 'inherit'] });
  await pause(12);
  await overheat();
  await act({ action: 'acknowledge', comment: 'valve stuck, on my way' });
  await pause(14);
  pressEnter();
  await reaches('normal');
  await pause(8);
  await overheat();
  await pause(12);
}, 180_000);

afterAll(async () => {
  await browser.close();
  pump.kill();
  await once(pump, 'exit');
  await dac.stop();
  await rm(folder, { recursive: true });
});

/** What the pump needs to heat up and to cool down cannot be made shorter. */
const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * SECOND_MS));
const pressEnter = () => pump.stdin?.write('\n');

async function overheat(): Promise<void> {
  pressEnter();
  await reaches('active');
}

const reaches = (wanted: string) => vi.waitFor(async () => expect(await state()).toBe(wanted), EPISODE);

/** The state of the alarm `Hot`. */
async function state(): Promise<string | undefined> {
  const answer = await fetch(`${dac.url}/api/v1/alarms?state=all&rule=Hot`);
  const { alarms } = (await answer.json()) as { alarms: { state: string }[] };
  return alarms[0]?.state;
}

async function act(action: object): Promise<void> {
  const body = JSON.stringify({ rule: 'Hot', ...TARGET, ...action });
  const answer = await fetch(`${dac.url}/api/v1/alarms/actions`, { method: 'POST', body });
  expect(answer.status).toBe(200);
}

const chart = (metric: string, title: string) => ({
  id: metric,
  kind: 'series',
  mode: 'lines',
  title,
  sources: [{ target: TARGET, metrics: [metric] }],
});
const ALARMS = { id: 'alarms', kind: 'alarms' };
const HISTORY = { id: 'history', kind: 'alarm-history' };
const EDITOR = { id: 'rules', kind: 'rules' };
const TEMPERATURE = chart('temperature', 'Bearing');

/** Opens a layout of columns of panels, with the last minute and a half. */
function open(
  columns: Parameters<typeof grid>[0],
  viewport: { width: number; height: number },
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const range = { live: true, span: 90 * SECOND_MS };
  const link = layoutLink(dac.url, columns.flat(), grid(columns), range);
  return Visit.to(browser, link, { colorScheme: 'dark', viewport, ...options });
}

it('hot pump', async () => {
  const visit = await open([[TEMPERATURE, chart('flow', 'Flow')], [ALARMS]], { width: 1280, height: 640 });
  await visit.page.getByTestId('alarm').first().waitFor();
  await expect.poll(() => visit.page.getByTestId('chart').count(), LOADED).toBe(2);
  await visit.page.waitForTimeout(3000);
  await takePicture(visit.page, 'alarm-hot');
  await visit.close();
});

it('hot pump on a phone', async () => {
  const visit = await open([[TEMPERATURE], [ALARMS]], { width: 360, height: 760 }, { deviceScaleFactor: 2 });
  await visit.page.getByTestId('open-alarms').click();
  await visit.page.getByTestId('alarm-more').first().click();
  await visit.page.getByTestId('alarm-comment').fill('valve replaced');
  // The end of the chart above the list.
  await visit.page.evaluate(() => scrollBy(0, -110));
  await visit.page.waitForTimeout(1000);
  await takePicture(visit.page, 'alarm-phone');
  await visit.close();
});

it('preview of a rule', async () => {
  const visit = await open([[EDITOR]], { width: 1280, height: 860 });
  const part = (testId: string) => visit.page.getByTestId(testId);
  await part('rule-new').click();
  await part('rule-name').fill('warm');
  const [, alarm] = /(input.*?\n\nalarm .*?\n\})/s.exec(await readFile(RULES, 'utf8')) ?? [];
  await part('rule-text').fill(
    `${alarm?.replace('Hot', 'Warm').replace('> 95', '> 80').replace('< 90', '< 75')}\n`,
  );
  await expect.poll(() => part('rule-findings').getAttribute('data-errors'), LOADED).toBe('0');
  await part('rule-preview-span').selectOption('900000');
  await part('rule-preview').click();
  await part('rule-would').waitFor();
  await visit.page.waitForTimeout(2000);
  await takePicture(visit.page, 'preview-rules');
  await visit.close();
});

it('history of alarms', async () => {
  const visit = await open([[HISTORY]], { width: 1100, height: 560 });
  await expect.poll(() => visit.page.getByTestId('alarm-entry').count(), LOADED).toBeGreaterThan(3);
  await visit.page.getByTestId('alarm-statistics').waitFor();
  await visit.page.waitForTimeout(1000);
  await takePicture(visit.page, 'alarm-history');
  await visit.close();
});
