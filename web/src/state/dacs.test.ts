import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { dacList, followDacs, isTemAlone, otherDacs, otherTems, ownDac, parseDacs } from './dacs.ts';
import { openDialog } from './dialogs.ts';
import { now } from './now.ts';
import { connection } from './store.ts';

const PAGE = 'http://10.1.2.3:7070/';

function dac(name: string, more: object = {}) {
  return {
    name,
    doors: `http://${name}.example.org:7070`,
    state: 'live',
    silent_ms: 200,
    health: 'ok',
    nodes: ['plant-7'],
    is_tem: false,
    ...more,
  };
}

function list(...dacs: object[]) {
  return { position: 'a:1', complete: true, dacs, removed: [] };
}

beforeEach(() => {
  dacList.value = undefined;
  openDialog.value = undefined;
});

afterEach(() => {
  connection.value = { ...connection.value, phase: 'connecting' };
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('replaces the address of the DAC that answers by that of the page', () => {
  const load = { nodes: 2, instances: 4, readers: 3, samples_per_second: 180 };
  const { dacs } =
    parseDacs(list(dac('b'), dac('a', { is_tem: true, doors: 'http://0.0.0.0:7070', load })), PAGE, 5) ?? {};
  expect(dacs).toEqual([
    {
      name: 'a',
      address: PAGE,
      isRelay: false,
      isLive: true,
      silent: 200,
      health: 'ok',
      nodes: 2,
      readers: 3,
      samplesPerSecond: 180,
      isOwn: true,
    },
    expect.objectContaining({
      name: 'b',
      address: 'http://b.example.org:7070/',
      nodes: 1,
      readers: undefined,
      isOwn: false,
    }),
  ]);
});

it.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'http://user:secret@dac/',
  `http://${'d'.repeat(400)}/`,
  '',
  7,
])('makes no link of the address %s', (doors) => {
  expect(parseDacs(list(dac('a', { doors })), PAGE, 0)?.dacs[0].address).toBeUndefined();
});

it('applies changes to the list that it has', () => {
  const before = parseDacs(list(dac('a'), dac('b'), dac('c')), PAGE, 1);
  const change = {
    position: 'a:2',
    complete: false,
    dacs: [dac('b', { state: 'late' }), dac('d')],
    removed: ['a'],
  };
  const after = parseDacs(change, PAGE, 2, before);
  expect(after?.dacs.map(({ name, isLive }) => [name, isLive])).toEqual([
    ['b', false],
    ['c', true],
    ['d', true],
  ]);
  expect(after?.position).toBe('a:2');
  const whole = parseDacs(list(dac('e')), PAGE, 3, after);
  expect(whole?.dacs.map(({ name }) => name)).toEqual(['e']);
});

it('leaves out what is no DAC, and reads nothing from what is no list', () => {
  expect(parseDacs({ ...list({ name: 7 }, dac('a')), removed: 'x' }, PAGE, 0)?.dacs).toHaveLength(1);
  for (const answer of [null, [], { dacs: [] }, { position: 'a:1' }])
    expect(parseDacs(answer, PAGE, 0)).toBeUndefined();
});

it('offers live DACs after two seconds of silence', () => {
  dacList.value = parseDacs(
    list(dac('a', { is_tem: true }), dac('b'), dac('c', { state: 'late' }), dac('d', { doors: 'x:y' })),
    PAGE,
    0,
  );
  connection.value = { ...connection.value, phase: 'reconnecting', since: 1000 };
  now.value = 2900;
  expect(otherDacs.value).toEqual([]);
  now.value = 3100;
  expect(otherDacs.value.map(({ name }) => name)).toEqual(['b']);
  connection.value = { ...connection.value, phase: 'connected' };
  expect(otherDacs.value).toEqual([]);
});

it('reads changes while the list is hidden, and all of it while it is shown', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false, baseURI: PAGE });
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: URL) => {
    asked.push(url.pathname + url.search);
    return Response.json(list(dac('a', { is_tem: true })));
  });
  followDacs();
  connection.value = { ...connection.value, phase: 'connected' };
  await vi.advanceTimersByTimeAsync(5100);
  expect(asked).toEqual(['/api/v1/tem', '/api/v1/tem?after=a%3A1']);
  expect([ownDac.value, isTemAlone.value]).toEqual(['a', false]);
  openDialog.value = 'dacs';
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.slice(2)).toEqual(['/api/v1/tem']);
});

it('knows relays, and which TEM hears a DAC', () => {
  const relay = dac('r', { kind: 'relay' });
  const { dacs } = parseDacs(list(relay, dac('z', { kind: 'dac' })), PAGE, 5) ?? {};
  expect(dacs?.map(({ isRelay }) => isRelay)).toEqual([true, false]);
});

it('offers other TEMs that answer when its own server is silent, and no address that a link may not lead to', () => {
  const tems = [
    { doors: 'http://tem-3:7000', state: 'live' },
    { doors: 'http://tem-2:7000', state: 'live' },
    { doors: 'http://tem-2:7000/', state: 'live' },
    { doors: 'http://tem-4:7000', state: 'late' },
    { doors: 'javascript:alert(1)', state: 'live' },
    { doors: `http://${'x'.repeat(400)}:1`, state: 'live' },
    7,
  ];
  dacList.value = parseDacs({ ...list(dac('a')), tems }, PAGE, 5);
  expect(otherTems.value).toEqual([]);
  connection.value = { ...connection.value, phase: 'reconnecting', since: 0 };
  now.value = 60_000;
  expect(otherTems.value).toEqual(['http://tem-2:7000/', 'http://tem-3:7000/']);
  expect(parseDacs({ ...list(), tems: 'none' }, PAGE, 5)?.tems).toEqual([]);
});
