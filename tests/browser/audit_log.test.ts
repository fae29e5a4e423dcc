import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';
import { shown } from './harness/shown.ts';

const rig = new Rig(() => Oasis.up());

const HOSTILE = `<img src=x onerror=alert(1)>\u202e${'x'.repeat(300)}`;
const record = (seq: number, more: object = {}) => ({
  seq,
  time: '2026-05-04T12:00:00.595987Z',
  principal: 'person:ada',
  address: '',
  action: 'command:hertz',
  target: 'plant-7/pump',
  arguments: { hertz: 10 },
  result: 'done',
  of: null,
  previous: '',
  hash: '',
  ...more,
});

for (const [name, viewport] of [
  ['desk', { width: 1366, height: 768 }],
  ['phone', { width: 360, height: 740 }],
] as const) {
  it(`shows the audit log to administrators on a ${name} screen`, async () => {
    const visit = await rig.visit('', { viewport });
    const asked: string[] = [];
    await visit.page.route('**/api/v1/audit-log?*', (route) => {
      const query = new URL(route.request().url()).searchParams;
      asked.push(query.get('action') ?? '');
      const isOlder = query.has('before');
      const records = isOlder
        ? [record(1)]
        : [record(9, { result: HOSTILE }), record(8, { principal: HOSTILE })];
      return route.fulfill({ json: { records, next: isOlder ? null : 8 } });
    });
    const check = { intact: true, records: 9, first: 1, head: `9:${'0f'.repeat(32)}`, findings: [] };
    await visit.page.route('**/api/v1/audit-log/check', (route) => route.fulfill({ json: check }));
    if (name === 'phone') await visit.page.getByTestId('open-menu').click();
    await visit.page.getByTestId('open-audit-log').click();
    const lines = visit.page.getByTestId('audit-record');
    await expect.poll(() => lines.count()).toBe(2);
    await expect.poll(() => visit.page.getByTestId('audit-check').textContent()).toContain('up to 9:0f0f');
    expect(await lines.first().textContent()).toContain(shown(HOSTILE));
    await visit.page.getByTestId('audit-more').click();
    await expect.poll(() => lines.count()).toBe(3);
    await visit.page.getByTestId('audit-action').fill('command:');
    await visit.page.getByTestId('audit-show').click();
    await expect.poll(() => asked.at(-1)).toBe('command:');
    await visit.screenshot(`audit-log-${name}`);
    const overflow = await visit.page.evaluate(() => {
      const dialog = document.querySelector('dialog');
      return Math.max(
        document.documentElement.scrollWidth - innerWidth,
        dialog ? dialog.scrollWidth - dialog.clientWidth : 1,
      );
    });
    expect(overflow).toBeLessThanOrEqual(0);
    expect(visit.complaints).toEqual([]);
    await visit.close();
  });
}

it('is not offered to others', async () => {
  const visit = await rig.visit();
  await visit.page.route('**/api/v1/session', (route) =>
    route.fulfill({ json: { kind: 'person', name: 'ada', roles: [], verbs: ['read-live', 'read-past'] } }),
  );
  await visit.page.reload();
  await expect.poll(() => visit.page.getByTestId('open-help').count()).toBe(1);
  await expect.poll(() => visit.page.getByTestId('open-audit-log').count()).toBe(0);
  await visit.close();
});
