import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** A DAC whose answers a test gives one by one. */
class Stage {
  readonly asked: {
    readonly path: string;
    readonly lastId: string | null;
    answer(response: Response): void;
  }[] = [];

  fetch = (url: URL | string, request: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url);
      const lastId = new Headers(request.headers).get('last-event-id');
      this.asked.push({ path: pathname.replace('/api/v1/', '') + search, lastId, answer: resolve });
      request.signal?.addEventListener('abort', () => reject(request.signal?.reason));
    });

  async next(count: number) {
    await vi.waitFor(() => expect(this.asked.length).toBeGreaterThanOrEqual(count));
    return this.asked[count - 1];
  }
}

/** An open stream of events. */
function stream(): { response: Response; send(text: string): void; end(): void } {
  let to: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      to = controller;
    },
  });
  return {
    response: new Response(body),
    send: (text) => to?.enqueue(new TextEncoder().encode(text)),
    end: () => to?.close(),
  };
}

const HOT = {
  rule: 'Hot',
  node: 'plant',
  instance: 'pump',
  state: 'active',
  acknowledged: false,
  severity: 'high',
};
const problem = (status: number, code: string) =>
  new Response(JSON.stringify({ type: `/problems/${code}`, detail: 'no directory' }), { status });

let stage: Stage;
let stop: (() => void) | undefined;

beforeEach(async () => {
  vi.resetModules();
  stage = new Stage();
  vi.stubGlobal('fetch', stage.fetch);
  vi.stubGlobal('document', {
    baseURI: 'http://dac/',
    hidden: false,
    addEventListener: () => {},
    removeEventListener: () => {},
  });
});

afterEach(() => {
  stop?.();
  vi.unstubAllGlobals();
});

async function start(hasAlarms = true) {
  const [{ followAlarms }, { connection }, { who }, book] = await Promise.all([
    import('../state/follow_alarms.ts'),
    import('../state/store.ts'),
    import('../state/session.ts'),
    import('./book.ts'),
  ]);
  who.value = { kind: 'local', name: '', verbs: [], hasAlarms };
  followAlarms();
  connection.value = { ...connection.peek(), phase: 'connected' };
  stop = () => {
    connection.value = { ...connection.peek(), phase: 'connecting' };
  };
  return book;
}

it('follows the stream, and goes on after the last change it has seen', async () => {
  const book = await start();
  const first = stream();
  (await stage.next(1)).answer(first.response);
  first.send(`event: alarms\nid: 4\ndata: ${JSON.stringify({ alarms: [HOT], next: null })}\n\n`);
  await vi.waitFor(() => expect(book.alarmBook.value.size).toBe(1));
  expect(book.alarmSource.value).toEqual({ kind: 'server' });
  first.send(`event: alarm\nid: 5\ndata: ${JSON.stringify({ ...HOT, rule: 'Cold', revision: 5 })}\n\n`);
  await vi.waitFor(() => expect(book.attentionCount.value).toBe(2));
  first.end();
  const again = await stage.next(2);
  expect([again.path, again.lastId]).toEqual(['alarms/events', '5']);
});

it('lets the tab compare limits only if the DAC has no alarms', async () => {
  const book = await start();
  (await stage.next(1)).answer(problem(404, 'no_alarms'));
  await vi.waitFor(() => expect(book.alarmSource.value).toEqual({ kind: 'tab', reason: 'no directory' }));
  expect(stage.asked).toHaveLength(1);
});

it('asks nothing of a DAC that has said that it keeps no alarms', async () => {
  const book = await start(false);
  expect(book.alarmSource.value.kind).toBe('tab');
  expect(stage.asked).toEqual([]);
});

it('says that a DAC is too busy, and keeps what it has', async () => {
  const book = await start();
  (await stage.next(1)).answer(problem(503, 'too_many_readers'));
  await vi.waitFor(() => expect(book.feedProblem.value).toBe('no directory'));
  expect(book.alarmSource.value.kind).toBe('waiting');
});

it('asks for the list instead of a stream while nobody sees the page', async () => {
  vi.stubGlobal('document', { ...document, hidden: true });
  const book = await start();
  const asked = await stage.next(1);
  expect(asked.path).toBe('alarms?state=all&limit=1000');
  asked.answer(new Response(JSON.stringify({ alarms: [HOT], next: 'place' })));
  const more = await stage.next(2);
  expect(more.path).toBe('alarms?state=all&limit=1000&after=place');
  more.answer(new Response(JSON.stringify({ alarms: [{ ...HOT, rule: 'Cold' }], next: null })));
  await vi.waitFor(() => expect(book.attentionCount.value).toBe(2));
});
