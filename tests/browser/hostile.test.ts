import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const NAME = '<img src=x onerror=alert(1)>';

const rig = new Rig(() => Oasis.up('--name', NAME, '--probe', 'processor@20', '--probe', 'memory@20'));

it('shows hostile names as text', async () => {
  const visit = await rig.visit();
  await visit.seesSamples('processor', 2);
  expect(await visit.page.getByTestId('node-name').textContent()).toBe(NAME);
  expect(await visit.part('processor', 'card-node').textContent()).toBe(`on ${NAME}`);
  expect(await visit.page.locator('img').count()).toBe(0);

  await visit.page.getByTestId('filter').fill('<IMG');
  expect(await visit.page.getByTestId('instance').count()).toBeGreaterThan(0);
  await visit.page.getByTestId('filter').fill('no such thing');
  expect(await visit.page.getByTestId('instance').count()).toBe(0);

  await visit.page.reload();
  await visit.seesSamples('processor', 2);
  expect(visit.complaints).toEqual([]);
  await visit.screenshot('hostile');
  await visit.close();
});

it('keeps long names and right-to-left names within their elements', async () => {
  const turned = '\u202eLTR \u2067 <b>bold<b>';
  const long = (text: string) => `${text} ${'x'.repeat(10_000)}`;
  const node = await PlainNode.start(rig.oasis.channel, `${turned} ${'n'.repeat(900)}`, [
    {
      name: `${turned} ${'i'.repeat(900)}`,
      schema: {
        name: long(turned),
        uuid: randomUUID(),
        version: '1.0',
        doc: long(turned),
        metrics: [
          { name: long('load'), label: long(turned), type: 'real64', unit: long('V'), doc: long(turned) },
          {
            name: 'mode',
            type: 'uint8',
            kind: 'state',
            enum: { name: long('Mode'), values: [{ name: long(turned), value: 0, doc: long(turned) }] },
          },
          { name: 'said', type: 'string' },
        ],
      },
      hertz: 1,
    },
  ]);
  const instance = `${turned} ${'i'.repeat(900)}`;
  const times = [Date.now() - 1000, Date.now()];
  node.flush(instance, times, [Float64Array.of(1, 2), Uint8Array.of(0, 0), [long(turned), long(turned)]]);
  for (const viewport of [
    { width: 1400, height: 900 },
    { width: 360, height: 740 },
  ]) {
    const visit = await rig.visit('', { viewport });
    if (viewport.width < 500) await visit.page.getByTestId('tree-toggle').click();
    const entry = visit.page.getByTestId('instance').filter({ hasText: 'LTR' });
    await entry.click();
    const card = visit.page.getByTestId('card').filter({ hasText: 'LTR' });
    await expect.poll(() => card.getByTestId('value').last().textContent()).toContain('<b>bold<b>');
    // Marks of direction are text, and turn nothing. Right-to-left letters stay within their element.
    const shown = instance.replace('\u202e', '\\u{202e}').replace('\u2067', '\\u{2067}');
    expect(await card.getByTestId('card-title').textContent()).toBe(shown);
    expect(await card.getByTestId('card-title').getAttribute('title')).toBe(shown);
    expect(await visit.page.locator('body').textContent()).not.toMatch(/[\u202e\u2067]/);
    expect(
      await card.getByTestId('card-title').evaluate((title) => getComputedStyle(title).unicodeBidi),
    ).toMatch(/isolate|plaintext/);
    expect(await visit.page.locator('b, img').count()).toBe(0);
    for (const key of ['b', 'r']) await visit.page.keyboard.press(key);
    await visit.page.getByTestId('control').waitFor();
    const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await visit.page.keyboard.press('Escape');
    // Long names move nothing beside them.
    const row = visit.page.getByTestId('ledger-row').filter({ hasText: 'LTR' });
    const widths = await row.evaluate((line) => [...line.children].map((cell) => cell.clientWidth));
    expect(widths[0]).toBeLessThan(400);
    expect(await card.evaluate((whole) => whole.clientHeight)).toBeLessThan(3000);
    await visit.screenshot(`hostile-${viewport.width}`);
    expect(visit.complaints).toEqual([]);
    await visit.close();
  }
  await node.stop();
});
