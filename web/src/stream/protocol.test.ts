import { expect, it } from 'vitest';
import { parseServerMessage } from './protocol.ts';

const NODE = {
  name: 'plant',
  state: 'online',
  overhead: { cpu: 0.02, budget: 0.02, lowered: { oven: 12.5 } },
};

function pace(instance: Record<string, unknown>) {
  const instances = [{ node: 'plant', instance: 'oven', hertz: 100, ...instance }];
  const message = parseServerMessage(JSON.stringify({ op: 'registry', nodes: [NODE], instances }));
  return message?.op === 'registry' ? message.registry.instances[0].pace : undefined;
}

it('expects samples at the lowered rate of the node', () => {
  expect(pace({})).toBe(12.5);
  expect(pace({ instance: 'hob' })).toBe(100);
  expect(pace({ node: 'elsewhere' })).toBe(100);
});

it('expects no samples of a pushed probe, or of one with a flight recorder', () => {
  expect(pace({ hertz: null })).toBe(null);
  expect(pace({ recorder: { before_s: 10, after_s: 5 } })).toBe(null);
});
