import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { AlarmStub, type Json } from './harness/alarm_stub.ts';
import { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';
import { layoutLink } from './pictures/plant.ts';

// A real DAC with a node; its alarms are those of a stub, because some of these states take hours.

const PUMP = {
  name: 'Plant::Pump',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'temperature', type: 'real64', unit: 'Cel' },
    { name: 'flow', type: 'real64', unit: 'm3/s' },
    { name: 'running', type: 'boolean', kind: 'state' },
  ],
};
const OF = { node: 'plant-7', instance: 'pump', quality: 'good', unit: 'Cel', raised_last_hour: 1 };
/** A name of some other script, with marks that turn its direction. */
const HOSTILE = '<img src=x onerror=alert(1)>\u202e \u5317';

/** The page waits so long for the beginning of a stream. */
const BEGIN_MS = 8000;

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let stub: AlarmStub;
let visit: Visit;

const ago = (seconds: number) => (Date.now() - seconds * 1000) * 1e6;
const hot = (change: Json = {}): Json => ({
  ...OF,
  ...{ rule: 'Hot', state: 'active', acknowledged: false, severity: 'high', value: 97.3, limit: 95 },
  ...{ raised: ago(5), since: ago(7), message: 'The pump is hot' },
  ...change,
});

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'pump', schema: PUMP }]);
  const now = Date.now();
  const times = Array.from({ length: 40 }, (_, index) => now - (40 - index) * 500);
  node.flush('pump', times, [
    Float64Array.from(times, () => 97),
    Float64Array.from(times, () => 0.2),
    Uint8Array.from(times, () => 1),
  ]);
});

afterAll(async () => {
  await node.stop();
});

beforeEach(async () => {
  stub = await AlarmStub.to(rig.oasis.url);
  stub.verbs = ['read-live', 'read-past', 'alarms', 'rules'];
});

afterEach(async () => {
  // A stream that a test has cut.
  expect(visit.complaints.filter((text) => !text.includes('INCOMPLETE_CHUNKED'))).toEqual([]);
  await visit.close();
  await stub.stop();
});

async function open(options = {}): Promise<void> {
  visit = await Visit.to(rig.browser, `${stub.url}#watch=plant-7/pump`, options);
  await visit.part('pump', 'received').waitFor();
}

const rows = () => visit.page.getByTestId('alarm');
const row = (rule: string) => visit.page.locator(`[data-testid=alarm][data-rule=${JSON.stringify(rule)}]`);
const openList = () => visit.page.getByTestId('open-alarms').click();

it('shows the alarms of the DAC on each screen, and what another screen has done', async () => {
  stub.set(hot());
  stub.set(hot({ rule: 'Cold', severity: 'critical', quality: 'unknown' }));
  await open();
  const other = await Visit.to(rig.browser, stub.url);
  await expect.poll(() => other.page.title()).toBe('(2) OASIS');
  await expect.poll(() => visit.page.title()).toBe('(2) OASIS');
  await openList();
  await expect.poll(() => rows().count()).toBe(2);
  expect(await rows().first().getAttribute('data-rule')).toBe('Cold');
  expect(await row('Cold').getByTestId('alarm-unknown').count()).toBe(1);
  expect(await row('Hot').textContent()).toMatch(/97\.3.*> 95/);
  await row('Hot').getByTestId('acknowledge').click();
  await expect.poll(() => other.page.title()).toBe('(1) OASIS');
  expect(await visit.page.getByTestId('alarm-count').textContent()).toBe('1');
  expect(await visit.page.getByTestId('open-alarms').getAttribute('aria-label')).toContain('1 critical');
  await expect.poll(() => row('Hot').getAttribute('data-acknowledged')).toBe('true');
  await other.close();
});

it('is content if another page has acknowledged an alarm a moment before', async () => {
  stub.set(hot());
  await open();
  await visit.page.keyboard.press('g');
  await expect.poll(() => rows().count()).toBe(1);
  // Without a word to the page.
  Object.assign(stub.alarms.values().next().value ?? {}, { acknowledged: true, principal: 'maria' });
  await row('Hot').getByTestId('acknowledge').click();
  await expect.poll(() => row('Hot').textContent()).toContain('maria');
  expect(await visit.page.getByTestId('alarms-problem').textContent()).toBe('');
  // The refused request is on the console.
  visit.complaints.splice(0);
});

it('takes the focus into the list with a key', async () => {
  stub.set(hot());
  await open();
  await visit.page.keyboard.press('g');
  await expect
    .poll(() => visit.page.evaluate(() => document.activeElement?.className))
    .toContain('alarm-list');
  await visit.page.keyboard.press('Tab');
  expect(
    await row('Hot')
      .getByTestId('alarm-why')
      .evaluate((button) => button === document.activeElement),
  ).toBe(true);
});

it('shelves, suppresses and takes out of service with a comment, by keyboard alone', async () => {
  stub.set(hot());
  await open();
  await openList();
  const more = row('Hot').getByTestId('alarm-more');
  const isFocused = (part: typeof more) => part.evaluate((element) => element === document.activeElement);
  await more.press('Enter');
  await visit.page.getByTestId('alarm-comment').press('Escape');
  await expect.poll(() => visit.page.getByTestId('alarm-actions').count()).toBe(0);
  expect(await isFocused(more)).toBe(true);
  await more.press('Enter');
  const comment = visit.page.getByTestId('alarm-comment');
  await comment.pressSequentially('valve is open');
  await visit.page.getByTestId('shelve-for').selectOption('once');
  await visit.page.getByTestId('shelve').press('Enter');
  await expect.poll(() => rows().count()).toBe(0);
  // Not lost with the row.
  await expect.poll(() => isFocused(visit.page.locator('.alarm-list'))).toBe(true);
  const { action, once } = stub.actions[0];
  expect([action, once, stub.actions[0].comment]).toEqual(['shelve', true, 'valve is open']);
  await visit.page.getByTestId('alarms-aside').press('Enter');
  await expect.poll(() => row('Hot').textContent()).toContain('until it clears');
  await row('Hot').getByTestId('alarm-more').press('Enter');
  await visit.page.getByTestId('unshelve').press('Enter');
  await visit.page.getByTestId('alarms-standing').press('Enter');
  await row('Hot').getByTestId('alarm-more').press('Enter');
  await visit.page.getByTestId('shelve-for').selectOption('custom');
  await visit.page.getByTestId('shelve-minutes').fill('45');
  await visit.page.getByTestId('shelve').click();
  await expect.poll(() => stub.actions.length).toBe(3);
  expect(stub.actions[2].seconds).toBe(2700);
  await expect.poll(() => visit.page.title()).toBe('OASIS');
});

it('says why there are no actions for somebody who may only read', async () => {
  stub.verbs = ['read-live', 'read-past'];
  stub.set(hot());
  await open();
  await openList();
  const button = row('Hot').getByTestId('acknowledge');
  expect(await button.isDisabled()).toBe(true);
  expect(await button.getAttribute('title')).toContain('verb alarms');
  await row('Hot').getByTestId('alarm-more').click();
  expect(await visit.page.getByTestId('suppress').isDisabled()).toBe(true);
});

it('goes on after a lost stream, and without streams where a proxy holds them back', async () => {
  stub.set(hot());
  await open();
  await visit.page.clock.install();
  await openList();
  await expect.poll(() => rows().count()).toBe(1);
  stub.cut();
  stub.set(hot({ rule: 'Second' }));
  await expect.poll(() => rows().count()).toBe(2);
  expect(stub.resumed[1]).toBe('1');
  stub.isHeldBack = true;
  stub.cut();
  stub.set(hot({ rule: 'Third' }));
  await expect.poll(() => stub.resumed.length).toBe(3);
  await visit.page.clock.fastForward(BEGIN_MS);
  await expect.poll(() => rows().count()).toBe(3);
});

it('compares limits itself if the DAC keeps no alarms, and says so', async () => {
  stub.hasAlarms = false;
  await open();
  await openList();
  await expect
    .poll(() => visit.page.getByTestId('alarms-tab-only').textContent())
    .toContain('other screens see nothing of it');
});

it('shows administrators whom the DAC notifies, and tests it', async () => {
  const asked: Json[] = [];
  const of = { waiting: 0, failed: 0, last_error: null };
  stub.verbs = ['read-live', 'read-past', 'alarms', 'administration'];
  stub.notifications = (method, body) => {
    if (method === 'GET') {
      const mail = { ...of, name: 'mail', kind: 'mail', state: 'ok', delivered: 12 };
      const pager = {
        ...mail,
        name: HOSTILE,
        kind: 'webhook',
        state: 'failing',
        waiting: 3,
        last_error: 'refused',
      };
      return { body: { destinations: [mail, pager] } };
    }
    asked.push(body);
    if (asked.length === 1) return { body };
    const detail = 'too many tests: try again in 9 s';
    return { status: 429, body: { type: '/problems/too_many_tests', detail } };
  };
  await open();
  const requests: string[] = [];
  visit.page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  await openList();
  await visit.page.getByTestId('open-destinations').waitFor();
  expect(requests.filter((path) => path.includes('notifications'))).toEqual([]);
  await visit.page.getByTestId('open-destinations').press('Enter');
  const lines = visit.page.getByTestId('destination');
  await expect.poll(() => lines.count()).toBe(2);
  expect(await lines.first().getAttribute('data-state')).toBe('ok');
  expect(await lines.last().textContent()).toMatch(/Failing.*3 waiting.*last attempt: refused/);
  const outcome = lines.first().getByTestId('destination-outcome');
  await lines.first().getByTestId('destination-test').press('Enter');
  await expect.poll(() => outcome.textContent()).toBe('Test accepted');
  expect(asked).toEqual([{ destination: 'mail' }]);
  await lines.first().getByTestId('destination-test').click();
  await expect.poll(() => outcome.textContent()).toMatch(/again in 9 s.*six tests a minute/);
  visit.complaints.splice(0);
});

it('shows destinations to administrators only', async () => {
  await open();
  await openList();
  await visit.page.getByTestId('no-alarms').waitFor();
  expect(await visit.page.getByTestId('destinations').count()).toBe(0);
});

it('explains an alarm with values, gaps and a chart, and leads to its moment', async () => {
  stub.set(hot());
  const entry = { ...OF, rule: 'Hot', severity: 'high', dac_time: ago(5) };
  stub.note({
    ...entry,
    time: ago(5),
    kind: 'raised',
    state: 'active',
    value: 97.3,
    limit: 95,
    sequence: 30,
  });
  stub.note({
    ...entry,
    time: ago(4),
    kind: 'acknowledged',
    state: 'active',
    principal: 'maria',
    comment: 'on it',
  });
  await open();
  await openList();
  await row('Hot').getByTestId('alarm-why').click();
  const why = visit.page.getByTestId('why');
  await expect.poll(() => why.getByTestId('why-inputs').textContent()).toContain('temperature');
  // The history of the alarm comes with an answer of its own.
  await expect.poll(() => why.getByTestId('why-facts').textContent()).toMatch(/Raised.*97\.3.*95/);
  await expect.poll(() => why.getByTestId('why-trace').textContent()).toContain('maria');
  await expect.poll(() => why.getByTestId('alarm-chart').locator('canvas').count()).toBe(1);
  await why.getByTestId('why-show').click();
  await expect.poll(() => why.count()).toBe(0);
  await visit.page.getByTestId('now-note').waitFor();
});

it('shades charts while an alarm is active, and asks nothing of instances without alarms', async () => {
  const asked: string[] = [];
  await open();
  visit.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const chart = visit.page.getByTestId('chart').first();
  await chart.locator('canvas').waitFor();
  await visit.page.getByTestId('live').click();
  const before = await colorAt(0.9);
  expect(asked.filter((path) => path.includes('journal'))).toEqual([]);
  stub.set(hot({ raised: ago(30) }));
  await expect.poll(() => colorAt(0.9)).not.toBe(before);
  const red = await colorAt(0.9);
  stub.set(hot({ raised: ago(30), suppressed: true }));
  await expect.poll(() => colorAt(0.9)).toBe(before);
  // The worst of two shades alone.
  stub.set(hot({ rule: 'Warm', severity: 'medium', raised: ago(30) }));
  await expect.poll(() => colorAt(0.9)).not.toBe(before);
  expect(await colorAt(0.9)).not.toBe(red);
  stub.set(hot({ raised: ago(30), suppressed: false }));
  await expect.poll(() => colorAt(0.9)).toBe(red);
});

it('shades state timelines, too', async () => {
  const sources = [{ target: { node: 'plant-7', instance: 'pump' }, metrics: ['running'] }];
  visit = await Visit.to(rig.browser, layoutLink(stub.url, [{ id: 'p0', kind: 'states', sources }]));
  await visit.page.getByTestId('states').locator('canvas').waitFor();
  await expect.poll(() => visit.page.getByTestId('state-legend').textContent()).toContain('true');
  const before = await colorAt(0.9, 'states');
  stub.set(hot({ raised: ago(30) }));
  await expect.poll(() => colorAt(0.9, 'states')).not.toBe(before);
});

/** The color of a chart's background at a share of its width, in the middle of nothing. */
function colorAt(share: number, testId = 'chart'): Promise<string> {
  return visit.page.evaluate(
    ([share, testId]) => {
      const canvas = document.querySelector<HTMLCanvasElement>(`[data-testid=${testId}] canvas`);
      if (!canvas) return '';
      // Reading the chart's own canvas would change how it is drawn.
      const copy = new OffscreenCanvas(1, 1).getContext('2d');
      copy?.drawImage(canvas, -Math.round(canvas.width * share), -Math.round(canvas.height * 0.55));
      const { data } = copy?.getImageData(0, 0, 1, 1) ?? { data: [] };
      return data.join(' ');
    },
    [share, testId] as const,
  );
}

it('shows the journal with filters and pages, and what comes too often', async () => {
  stub.set(hot());
  stub.set(hot({ rule: 'Cold' }));
  const entry = { ...OF, severity: 'high', state: 'active' };
  for (let count = 0; count < 250; count++)
    stub.note({ ...entry, rule: count % 2 ? 'Hot' : 'Cold', time: ago(250 - count), kind: 'raised' });
  stub.statistics = {
    standing: { high: 2 },
    raised: { ten_minutes: 250, hour: 250, day: 250 },
    most_frequent: [{ rule: 'Hot', node: 'plant-7', instance: 'pump', count: 60 }],
    longest_standing: [],
  };
  await open();
  await openList();
  await visit.page.getByTestId('open-alarm-history').click();
  const entries = visit.page.getByTestId('alarm-entry');
  await expect.poll(() => entries.count()).toBe(100);
  await visit.page.getByTestId('alarm-entries-older').click();
  await expect.poll(() => entries.count()).toBe(200);
  await visit.page.getByTestId('alarm-top').getByRole('button').click();
  await expect.poll(() => entries.count()).toBe(100);
  expect(await entries.first().getAttribute('data-rule')).toBe('Hot');
  await visit.page.getByTestId('history-severity').selectOption('low');
  await expect.poll(() => entries.count()).toBe(0);
});

it('shows hostile and long names as text, and fits on a phone', async () => {
  stub.set(
    hot({ rule: HOSTILE, message: HOSTILE, comment: HOSTILE, acknowledged: true, principal: HOSTILE }),
  );
  stub.set(hot({ rule: 'a'.repeat(64), instance: `${'very long '.repeat(20)}`, message: 'b'.repeat(500) }));
  await open({ viewport: { width: 390, height: 844 } });
  await visit.page.getByTestId('open-menu').click();
  await openList();
  await expect.poll(() => rows().count()).toBe(2);
  await rows().first().getByTestId('alarm-more').click();
  expect(await visit.page.locator('img').count()).toBe(0);
  expect(await visit.page.locator('body').textContent()).not.toContain('\u202e');
  const shown = HOSTILE.replace('\u202e', '\\u{202e}');
  for (const part of ['.alarm-rule', '.alarm-message', '.alarm-comment'])
    expect(await visit.page.locator(part, { hasText: '<img' }).textContent()).toContain(shown);
  const overflow = await visit.page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
  // The list has the focus now.
  const box = await visit.page.getByTestId('alarms').boundingBox();
  expect(box?.y ?? 1000).toBeLessThan(844);
});
