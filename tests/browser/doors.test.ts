import { expect, it } from 'vitest';
import { Visit } from './harness/browser.ts';
import { NarrowProxy } from './harness/narrow_proxy.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() =>
  Oasis.up('--name', 'plant-7', '--probe', 'processor@20', '--probe', 'memory@5', '--probe', 'scheduling@2'),
);

/** The browser's own messages for refused doors. */
const SHUT = /WebSocket|502|ERR_/;

const doors = [
  { shut: { websocket: false, streams: [] }, name: 'WebSocket oasis.v1' },
  { shut: { websocket: true, streams: [] }, name: 'Server-sent events' },
  { shut: { websocket: true, streams: ['events'] }, name: 'Streaming' },
  { shut: { websocket: true, streams: ['events', 'stream'] }, name: 'Long poll' },
];

for (const { shut, name } of doors) {
  it(`connects through "${name}" if other doors are refused, and works as usual`, async () => {
    const proxy = await NarrowProxy.to(rig.oasis.url, shut);
    const visit = await Visit.to(rig.browser, proxy.url);
    await visit.seesSamples('processor', 5);
    expect(await visit.page.getByTestId('door').textContent()).toBe(name);
    expect(await visit.part('processor', 'missing').textContent()).toBe('0');
    await expect.poll(() => visit.part('processor', 'card-state').getAttribute('data-state')).toBe('live');
    await expect.poll(() => visit.page.getByTestId('clock-offset').textContent()).toMatch(/ms$/);
    await visit.part('memory', 'hertz-preset-10').click();
    await expect.poll(() => visit.part('memory', 'hertz').textContent()).toBe('of 10 Hz set');
    await visit.part('memory', 'hertz-input').fill('5');
    await visit.part('memory', 'hertz-input').press('Enter');
    await expect.poll(() => visit.part('memory', 'hertz').textContent()).toBe('of 5 Hz set');
    // Another instance, with structs in vectors, while the others continue.
    await visit.page.locator('[data-testid=instance][data-instance=scheduling]').click();
    await visit.seesSamples('scheduling', 2);
    expect(await visit.part('scheduling', 'value').last().textContent()).toContain('Thread');
    await visit.seesSamples('processor', 5);
    expect(await visit.part('processor', 'missing').textContent()).toBe('0');
    expect(visit.complaints.filter((text) => !SHUT.test(text))).toEqual([]);
    await visit.close();
    await proxy.stop();
  });
}

// While one of these two waits, the other one has the time.
it.concurrent('connects through each door that is chosen by hand, without a gap, and after a reload', async ({
  expect,
}) => {
  const visit = await rig.visit();
  await visit.seesSamples('processor', 5);
  await visit.page.getByTestId('open-ledger').click();
  for (const name of ['Poll', 'Streaming', 'Long poll', 'Server-sent events', 'WebSocket oasis.v1', 'Poll']) {
    await visit.page.getByTestId('door-choice').selectOption({ label: name });
    await expect.poll(() => visit.page.getByTestId('door').textContent()).toBe(name);
    await visit.seesSamples('processor', 5);
    expect(await visit.part('processor', 'missing').textContent()).toBe('0');
  }
  await visit.page.reload();
  await visit.seesSamples('processor', 5);
  expect(await visit.page.getByTestId('door').textContent()).toBe('Poll');
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

it.concurrent('goes back to the WebSocket once that is not refused any more', async ({ expect }) => {
  const shut = { websocket: true, streams: [] };
  const proxy = await NarrowProxy.to(rig.oasis.url, shut);
  const visit = await Visit.to(rig.browser, proxy.url);
  await expect.poll(() => visit.page.getByTestId('door').textContent()).toBe('Server-sent events');
  await visit.seesSamples('processor', 5);
  shut.websocket = false;
  const door = () => visit.page.getByTestId('door').textContent();
  await expect.poll(door).toBe('WebSocket oasis.v1');
  await visit.seesSamples('processor', 5);
  expect(await visit.part('processor', 'missing').textContent()).toBe('0');
  await visit.close();
  await proxy.stop();
});
