import { describe, expect, it } from 'vitest';
import { readAround } from './context.ts';
import { LogFeed } from './feed.ts';
import { shownRecord } from './record.ts';
import { type LogPage, type LogRecord, parseLogPage, requestOf } from './search.ts';

function json(number: number, metrics: object = { level: 9, message: `record ${number}` }) {
  return {
    node: 'plant',
    instance: 'log',
    type: 'Log',
    run: 'r',
    sequence: String(number),
    time: String(number),
    metrics,
  };
}

function record(number: number): LogRecord {
  return parseLogPage({ records: [json(number)] }).records[0];
}

/** Answers as a DAC with the records 1 to `most` would, some a page. */
function dac(most: () => number, size: number) {
  return async (_: object, __: number, after?: string): Promise<LogPage> => {
    const end = after === undefined ? most() : Number(after);
    const records = Array.from({ length: Math.min(size, end) }, (_, index) => json(end - index));
    const next = end - size > 0 ? String(end - size) : null;
    return parseLogPage({ records, searched: size, next, reached: next });
  };
}

const FILTER = { text: '', level: '', fields: [], targets: [] };

describe('what a search sends and receives', () => {
  it('leaves out what is not wanted', () => {
    expect(requestOf(FILTER, 10)).toEqual({ text: '', limit: 10, integers: 'string' });
    const filter = {
      ...FILTER,
      text: ' a ',
      level: 'WARN',
      fields: ['x=1'],
      targets: [{ node: 'n', instance: 'i' }],
    };
    expect(requestOf({ ...filter, from: 5n, until: 9n, order: 'oldest' }, 10, 'c')).toEqual({
      text: 'a',
      level: 'WARN',
      fields: ['x=1'],
      instances: [{ node: 'n', instance: 'i' }],
      from: 5,
      until: 9,
      order: 'oldest',
      after: 'c',
      limit: 10,
      integers: 'string',
    });
  });

  it('takes nothing for granted', () => {
    const nothing = {
      records: [],
      searched: 0,
      unreadable: 0,
      notSearched: 0,
      reached: undefined,
      next: undefined,
    };
    for (const answer of [undefined, null, [], 'x', { records: 'x' }, { records: [{ time: 'x' }, 5, null] }])
      expect(parseLogPage(answer)).toEqual(nothing);
  });
});

describe('a record as it is shown', () => {
  it('has its level, message and fields, and nothing empty', () => {
    const values = {
      level: 17,
      target: 'plant::pump',
      message: 'too hot\n  at pump.rs',
      line: 0,
      thread: '',
      fields: [{ name: 'user', value: 'ada' }],
      cut: '0',
      axes: [1, 2],
    };
    expect(shownRecord({ ...record(1), values }, [])).toEqual({
      level: 'ERROR',
      severity: 'alarm',
      message: 'too hot\n  at pump.rs',
      details: [
        { name: 'target', value: 'plant::pump' },
        { name: 'user', value: 'ada' },
        { name: 'axes', value: '[1,2]' },
      ],
    });
  });
});

describe('a feed', () => {
  it('adds pages, and follows what is new', async () => {
    let most = 10;
    const feed = new LogFeed(dac(() => most, 4));
    await feed.search(FILTER);
    expect(feed.found.value.records.map(({ time }) => time * 1e6)).toEqual([10, 9, 8, 7]);
    await feed.more();
    await feed.more();
    await feed.more();
    expect(feed.found.value.records).toHaveLength(10);
    expect(feed.found.value.next).toBeUndefined();
    most = 12;
    await feed.follow();
    expect(feed.found.value.records[0].sequence).toBe('12');
    expect(feed.found.value.records).toHaveLength(12);
    // Too many at once: nothing is left out among them.
    most = 30;
    await feed.follow();
    expect(feed.found.value.records.map(({ sequence }) => sequence)).toEqual(['30', '29', '28', '27']);
  });

  it('reads older records although it is looking for new ones', async () => {
    const read = dac(() => 10, 4);
    const feed = new LogFeed(read);
    await feed.search(FILTER);
    const following = feed.follow();
    expect(feed.isBusy.value).toBe(true);
    // A second click while the first one is answered reads nothing twice.
    await Promise.all([feed.more(), feed.more()]);
    await following;
    expect(feed.found.value.records).toHaveLength(8);
    expect(feed.isBusy.value).toBe(false);
  });

  it('keeps its pages when the same search begins again, as for a panel that becomes visible', async () => {
    let most = 10;
    const feed = new LogFeed(dac(() => most, 4));
    await feed.search(FILTER);
    const older = feed.more();
    await feed.search({ ...FILTER });
    await older;
    expect(feed.found.value.records).toHaveLength(8);
    most = 11;
    await feed.search({ ...FILTER });
    expect(feed.found.value.records).toHaveLength(9);
    await feed.search({ ...FILTER, text: 'other' });
    expect(feed.found.value.records).toHaveLength(4);
  });

  it('searches on until something is found, and can be stopped', async () => {
    const pages: LogPage[] = [
      parseLogPage({ records: [], next: 'a', reached: '5' }),
      parseLogPage({ records: [], next: 'b', reached: '4' }),
      parseLogPage({ records: [json(1)], next: null }),
    ];
    const feed = new LogFeed(async () => pages.shift() as LogPage);
    await feed.search(FILTER);
    expect(feed.found.value.records).toHaveLength(1);
    const endless = new LogFeed(async () => {
      endless.stop();
      return parseLogPage({ records: [], next: 'a', reached: '5' });
    });
    await endless.search(FILTER);
    expect([endless.isBusy.value, endless.found.value.next]).toEqual([false, 'a']);
  });

  it('says why a search failed', async () => {
    const feed = new LogFeed(async () => {
      throw new Error('fields: a field is written NAME=VALUE');
    });
    await feed.search(FILTER);
    expect(feed.problem.value).toContain('NAME=VALUE');
  });
});

it('shows the records around one, oldest first', async () => {
  const read = async (filter: { order?: string }) =>
    filter.order === 'oldest'
      ? parseLogPage({ records: Array.from({ length: 15 }, (_, index) => json(50 + index)) })
      : parseLogPage({ records: Array.from({ length: 15 }, (_, index) => json(50 - index)) });
  const around = await readAround(record(50), new AbortController().signal, read as never);
  expect(around.map(({ sequence }) => Number(sequence))).toEqual(
    Array.from({ length: 21 }, (_, at) => 40 + at),
  );
});
