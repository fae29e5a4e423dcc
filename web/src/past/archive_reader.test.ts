import { beforeEach, expect, it } from 'vitest';
import { ArchiveReader, type PointsRequest } from './archive_reader.ts';

const TARGET = { node: 'plant-7', instance: 'pump 3' };
const HOUR = 3_600_000;

let sent: { id: number; path: string }[];
let canceled: number[];
let now: number;
let reader: ArchiveReader;

beforeEach(() => {
  sent = [];
  canceled = [];
  now = 1000;
  reader = new ArchiveReader(
    {
      request: (path) => {
        const id = sent.length;
        sent.push({ id, path });
        return id;
      },
      cancel: (id) => canceled.push(id),
    },
    () => 1,
  );
});

const answer = (body: unknown, status = 200) => reader.answered(sent.at(-1)?.id ?? -1, body, status, now);

const STORED = {
  instances: [{ node: 'plant-7', instance: 'pump 3', oldest_time: HOUR * 1e6, newest_time: 9 * HOUR * 1e6 }],
};

/** Lets the archive report the instance, from one hour on. */
function storeInstance(): void {
  reader.lookUp(TARGET, now);
  answer(STORED);
}

const read = (request: PointsRequest, view = 7) => reader.read(view, TARGET, '0', request, now);

function points(from: number, to: number, step: number, level = 'raw') {
  const times = [from + step, to - step].map((time) => time * 1e6);
  const load = { min: [1, null], max: [3, 'NaN'], mean: [2, null], last: [2, null] };
  return {
    messages: [
      {
        event: 'points',
        level,
        from: from * 1e6,
        to: to * 1e6,
        step: step * 1e6,
        times,
        metrics: { load },
        gaps: [],
      },
    ],
  };
}

it('requests no samples from a DAC without an archive', () => {
  reader.lookUp(TARGET, now);
  expect(sent[0].path).toBe('api/v1/archive/instances?node=plant-7&instance=pump+3');
  answer({ status: 404 }, 404);
  expect(read({ from: HOUR, to: 2 * HOUR, columns: 100 })).toEqual({ points: undefined, state: 'none' });
  expect([sent.length, reader.nextDue(), reader.isThere]).toEqual([1, Number.POSITIVE_INFINITY, false]);
});

const EMPTY = { instances: [] };

it('looks up a stored instance once, and an absent one a few times', () => {
  const other = { node: 'plant-7', instance: 'pump 4' };
  reader.lookUp(TARGET, now);
  reader.lookUp(other, now);
  // The first answer shows whether there is an archive at all.
  expect(sent).toHaveLength(1);
  answer(STORED);
  expect(reader.timesOf(TARGET)).toEqual({ oldest: HOUR, newest: 9 * HOUR });
  expect(reader.isThere).toBe(true);
  for (; reader.nextDue() < Number.POSITIVE_INFINITY; answer(EMPTY)) {
    now = Math.max(now, reader.nextDue());
    reader.tick(now);
    expect(sent.at(-1)?.path).toMatch(/instance=pump\+4$/);
  }
  expect(sent).toHaveLength(5);
  expect(reader.timesOf(other)).toBeUndefined();
  // A view that needs the instance triggers another lookup, at most every two seconds.
  for (let step = 0; step < 10; step++) {
    now += 500;
    reader.lookUp(other, now);
  }
  expect(sent).toHaveLength(6);
  answer(STORED);
  expect(reader.timesOf(other)).toEqual({ oldest: HOUR, newest: 9 * HOUR });
  expect(reader.timesOf(TARGET)).toEqual({ oldest: HOUR, newest: 9 * HOUR });
});

it('limits pending lookups, however many instances are watched', () => {
  storeInstance();
  const many = Array.from({ length: 50 }, (_, number) => ({ node: 'plant-7', instance: `valve ${number}` }));
  for (const target of many) reader.lookUp(target, now);
  expect(sent).toHaveLength(5);
  for (let id = 1; id < sent.length; id++) {
    reader.answered(id, STORED, 200, now);
    reader.tick(now);
    expect(sent.length).toBeLessThanOrEqual(id + 5);
  }
  expect(sent).toHaveLength(51);
  expect(many.every((target) => reader.timesOf(target))).toBe(true);
});

it('reads the shown range with a margin', () => {
  storeInstance();
  const request = { from: 4 * HOUR, to: 6 * HOUR, columns: 600 };
  expect(read(request).state).toBe('reading');
  expect(sent[1].path).toBe(
    'api/v1/samples?node=plant-7&instance=pump+3&from=10800000000000ns&to=25200000000000ns&points=1200',
  );
  answer(points(3 * HOUR, 7 * HOUR, 12_000));
  const found = read(request);
  expect(found.state).toBe('ready');
  expect(found.points?.level).toBe('raw');
  const { min, max, last } = found.points?.rows ?? { min: [], max: [], last: [] };
  expect([...min[0], ...max[0], ...last[0]]).toEqual([1, Infinity, 3, -Infinity, 2, Number.NaN]);
  // Small steps need no request.
  now += 1000;
  expect(read({ ...request, from: 3.5 * HOUR, to: 5.5 * HOUR }).state).toBe('ready');
  expect(sent).toHaveLength(2);
});

it('reads again when memory has evicted the sample that was the newest at the request', () => {
  storeInstance();
  const request = (oldest: number) => ({
    from: oldest - 3 * HOUR,
    to: oldest,
    columns: 100,
    remembered: { oldest, newest: oldest + HOUR },
  });
  read(request(4 * HOUR));
  answer(points(2.5 * HOUR, 5.5 * HOUR, 72_000));
  now += 1000;
  expect(read(request(5 * HOUR)).state).toBe('ready');
  expect(read(request(5.01 * HOUR))).toMatchObject({ state: 'reading', points: { until: 5 * HOUR } });
  expect(sent).toHaveLength(3);
});

it('cancels unneeded requests, and does not send one at every step', () => {
  storeInstance();
  read({ from: 4 * HOUR, to: 5 * HOUR, columns: 100 });
  now += 50;
  read({ from: 14 * HOUR, to: 15 * HOUR, columns: 100 });
  expect(sent).toHaveLength(2);
  now = reader.nextDue();
  reader.tick(now);
  expect(sent).toHaveLength(3);
  expect(canceled).toEqual([1]);
  // A late answer to the first request is not used for the second.
  reader.answered(1, points(3 * HOUR, 6 * HOUR, 1000), 200, now);
  expect(read({ from: 14 * HOUR, to: 15 * HOUR, columns: 100 }).points).toBeUndefined();
});

it('asks for another time soon after an answer', () => {
  storeInstance();
  read({ from: 4 * HOUR, to: 5 * HOUR, columns: 100 });
  now += 10;
  answer(points(3 * HOUR, 6 * HOUR, 1000));
  read({ from: 14 * HOUR, to: 15 * HOUR, columns: 100 });
  expect(sent).toHaveLength(2);
  now += 20;
  read({ from: 14 * HOUR, to: 15 * HOUR, columns: 100 });
  expect(sent).toHaveLength(3);
});

it('returns the present points until finer ones arrive', () => {
  storeInstance();
  read({ from: 4 * HOUR, to: 6 * HOUR, columns: 100 });
  answer(points(3 * HOUR, 7 * HOUR, 72_000, '1m'));
  now += 1000;
  const closer = read({ from: 5 * HOUR, to: 5.1 * HOUR, columns: 100 });
  expect(closer.state).toBe('reading');
  expect(closer.points?.level).toBe('1m');
  // The archive has nothing finer than roll-ups.
  answer(points(4.9 * HOUR, 5.2 * HOUR, 60_000, '1m'));
  expect(read({ from: 5 * HOUR, to: 5.1 * HOUR, columns: 100 }).state).toBe('ready');
});

it('requests fewer points after a refusal, and retries after a failure', () => {
  storeInstance();
  const request = { from: 4 * HOUR, to: 6 * HOUR, columns: 1000 };
  read(request);
  answer({ status: 422 }, 422);
  now += 200;
  read(request);
  expect(sent.at(-1)?.path).toMatch(/points=1000$/);
  answer(undefined, 0);
  expect(read(request).state).toBe('failed');
  expect(reader.nextDue()).toBe(now + 5000);
  now += 5000;
  expect(read(request).state).toBe('reading');
});

it('keeps shown points, and drops others after a pause', () => {
  storeInstance();
  const request = { from: 4 * HOUR, to: 6 * HOUR, columns: 100 };
  read(request, 1);
  answer(points(3 * HOUR, 7 * HOUR, 72_000));
  read(request, 2);
  reader.closeView(1);
  now += 60_000;
  reader.tick(now);
  expect(reader.nextDue()).toBe(Number.POSITIVE_INFINITY);
  expect(read(request, 2).state).toBe('ready');
  reader.closeView(2);
  reader.tick(now);
  // Another view of the same time, or of one close by, starts with this answer.
  expect(read(request, 3).state).toBe('ready');
  reader.closeView(3);
  reader.tick(now);
  now = reader.nextDue();
  reader.tick(now);
  expect(reader.nextDue()).toBe(Number.POSITIVE_INFINITY);
  expect(sent).toHaveLength(2);
  expect(read(request, 4)).toEqual({ points: undefined, state: 'reading' });
  expect(sent).toHaveLength(3);
});

it('does not retry for a closed view', () => {
  storeInstance();
  read({ from: 4 * HOUR, to: 6 * HOUR, columns: 100 }, 1);
  answer(undefined, 0);
  reader.closeView(1);
  for (; reader.nextDue() < Number.POSITIVE_INFINITY; reader.tick(now)) now = Math.max(now, reader.nextDue());
  expect(sent).toHaveLength(2);
});

it('cancels the requests of an instance that is no longer watched', () => {
  storeInstance();
  read({ from: 4 * HOUR, to: 5 * HOUR, columns: 100 });
  reader.forget(TARGET);
  expect(canceled).toEqual([1]);
  reader.reset();
  expect([reader.isThere, reader.nextDue()]).toEqual([false, Number.POSITIVE_INFINITY]);
});

it('reports that the archive does not answer, and retries', () => {
  reader.lookUp(TARGET, now);
  const request = { from: 4 * HOUR, to: 6 * HOUR, columns: 100 };
  for (let time = 1; time <= 20; time++) {
    const { version } = reader;
    answer(undefined, 0);
    expect(reader.version).toBeGreaterThan(version);
    expect(read(request).state).toBe('failed');
    expect(sent).toHaveLength(time);
    expect(reader.nextDue()).toBe(now + 5000);
    now = reader.nextDue();
    reader.tick(now);
    expect(read(request).state).toBe('failed');
  }
  answer(STORED);
  expect(read(request).state).toBe('reading');
});

it('distinguishes silence from loss', () => {
  storeInstance();
  const request = { from: 2 * HOUR, to: 3 * HOUR, columns: 100 };
  read(request);
  const times = [2, 2.1, 2.5, 2.9].map((hour) => hour * HOUR * 1e6);
  const column = [1, 1, 1, 1];
  answer({
    messages: [
      {
        event: 'points',
        level: 'raw',
        from: 1.5 * HOUR * 1e6,
        to: 3.5 * HOUR * 1e6,
        step: 0.1 * HOUR * 1e6,
        times,
        metrics: { load: { min: column, max: column, last: column } },
        gaps: [{ from: times[2], to: times[3], samples: 7, cause: 'archive_retention' }],
      },
    ],
  });
  const found = read(request).points;
  expect(found?.gaps.map(({ cause, count }) => [cause, count])).toEqual([
    ['silent', 0],
    ['archive_retention', 7],
  ]);
  expect([...(found?.rows.breaks ?? [])]).toEqual([0, 0, 1, 1]);
});

const newest = (before: number, samples = 300) =>
  reader.readNewest(7, TARGET, 'records', { before, samples }, now);

function samplesAt(times: readonly number[], more = false) {
  const samples = times.map((time) => ({
    time: `${time * 1e6}`,
    sequence: `${time}`,
    state: 0,
    metrics: {},
  }));
  return { messages: [{ event: 'samples', samples }], more };
}

it('reads the newest samples before a time, with or without an archive', () => {
  expect(newest(2000.0005).state).toBe('reading');
  expect(sent[0].path).toBe(
    'api/v1/samples?node=plant-7&instance=pump+3&last=300&integers=string&to=2000001000ns',
  );
  answer(samplesAt([1000, 1500]));
  const { found, state } = newest(2000.0005);
  expect([state, found?.isCut, found?.samples.length]).toEqual(['ready', false, 2]);
  // The present result stays until the next answer arrives.
  now += 200;
  expect(newest(1200)).toEqual({ found, state: 'reading' });
  answer(samplesAt([1000]));
  expect(newest(1200).found?.samples.length).toBe(1);
});

it('reads samples ahead of a moment that moves on, and asks for them only once', () => {
  const request = (before: number) =>
    reader.readNewest(0, TARGET, 'moment', { before, samples: 2, ahead: { time: 1000, samples: 4 } }, now);
  request(2000);
  expect(sent[0].path).toContain('last=6&integers=string&to=3000000000ns');
  answer(samplesAt([1000, 1500, 2000, 2500, 2600, 2700]));
  for (const before of [2000, 2400, 2999]) expect(request(before).state).toBe('ready');
  // Samples before or after those in memory have to be read.
  for (const before of [1400, 3001]) expect(request(before).state).toBe('reading');
});

it('reads nothing ahead if that were so many samples that the moment would be missed', () => {
  const request = { before: 2000, samples: 2, ahead: { time: 1000, samples: 1 } };
  const read = () => reader.readNewest(0, TARGET, 'moment', request, now);
  read();
  answer(samplesAt([2500, 2600, 2700]));
  now += 200;
  expect(read().state).toBe('reading');
  expect(sent[1].path).toContain('to=2000000000ns');
  answer(samplesAt([1500]));
  expect(read()).toMatchObject({ state: 'ready', found: { samples: [{ sequence: '1500' }] } });
});

it('requests fewer samples after a truncated answer', () => {
  newest(2000, 2);
  answer(samplesAt([1000], true));
  now = reader.nextDue();
  reader.tick(now);
  expect(sent[1].path).toContain('last=1&');
  answer(samplesAt([1500]));
  expect(newest(2000, 2)).toMatchObject({ state: 'ready', found: { isCut: true } });
});
