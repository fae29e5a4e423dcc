import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ScoutQuestion } from './messages.ts';
import { Scouts } from './scouts.ts';

class FakeWorker {
  onmessage: ((event: MessageEvent) => void) | undefined;
  onerror: (() => void) | undefined;
  isEnded = false;
  readonly questions: ScoutQuestion[] = [];

  postMessage(question: ScoutQuestion): void {
    this.questions.push(question);
  }

  terminate(): void {
    this.isEnded = true;
  }

  say(data: unknown): void {
    this.onmessage?.({ data } as MessageEvent);
  }
}

let workers: FakeWorker[];
let scouts: Scouts;

beforeEach(() => {
  vi.useFakeTimers();
  workers = [];
  scouts = new Scouts(() => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker as unknown as Worker;
  });
});

afterEach(() => void vi.useRealTimers());

it('has one scout for each list of addresses, and keeps it until the next is there', async () => {
  scouts.follow(['http://b', 'http://a']);
  scouts.follow(['http://a', 'http://b']);
  expect(workers).toHaveLength(1);
  workers[0].say('ready');
  scouts.follow(['http://a']);
  expect(workers.map(({ isEnded }) => isEnded)).toEqual([false, false]);
  workers[1].say('ready');
  expect(workers.map(({ isEnded }) => isEnded)).toEqual([true, false]);
  scouts.follow([]);
  expect(workers[1].isEnded).toBe(true);
  expect(await scouts.firstAlive(['http://a'])).toBeUndefined();
});

it('keeps the scout before if the next one cannot be loaded, and tries again', async () => {
  scouts.follow(['http://a']);
  workers[0].say('ready');
  scouts.follow(['http://a', 'http://b']);
  workers[1].onerror?.();
  expect(workers.map(({ isEnded }) => isEnded)).toEqual([false, true]);
  const found = scouts.firstAlive(['http://a']);
  workers[0].say({ id: workers[0].questions[0].id, found: 'http://a' });
  expect(await found).toBe('http://a');
  scouts.follow(['http://a', 'http://b']);
  expect(workers).toHaveLength(3);
});

it('waits a bounded time for an answer', async () => {
  scouts.follow(['http://a']);
  workers[0].say('ready');
  const found = scouts.firstAlive(['http://a']);
  await vi.advanceTimersByTimeAsync(3000);
  expect(await found).toBeUndefined();
  workers[0].say({ id: 1, found: 'http://a' });
});
