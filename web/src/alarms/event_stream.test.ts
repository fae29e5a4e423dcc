import { expect, it } from 'vitest';
import { EventStreamParser } from './event_stream.ts';

it('reads events however the text is cut', () => {
  const text = 'retry: 1000\n\n: comment\nevent: alarm\r\nid: 7\r\ndata: {"a":\ndata: 1}\n\ndata:x\n\n';
  for (let size = 1; size <= text.length; size++) {
    const parser = new EventStreamParser();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    expect(events).toEqual([
      { name: 'alarm', data: '{"a":\n1}', id: '7' },
      { name: 'message', data: 'x', id: '7' },
    ]);
  }
});

it('refuses an event without an end', () => {
  const parser = new EventStreamParser();
  expect(() => {
    for (let count = 0; count < 100; count++) parser.push('data: '.padEnd(100_000, 'x'));
  }).toThrow(/more than/);
});
