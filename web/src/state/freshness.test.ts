import { batch } from '@preact/signals';
import { beforeEach, expect, it } from 'vitest';
import type { FlowView } from '../stream/view.ts';
import { ageOf, cardState } from './freshness.ts';
import { now } from './now.ts';
import { cellsOf, connection } from './store.ts';

const cells = cellsOf({ node: 'plant-7', instance: 'engine' });

/** A sample of a probe of 50 Hz that was taken so long ago, and arrived so long ago. */
function sample(taken: number, arrived: number): void {
  const hops = { inNode: 0, toDac: 1, toBrowser: taken - arrived - 1 };
  batch(() => {
    cells.sample.value = {
      key: '',
      sequence: 1,
      time: now.peek() - taken,
      state: 0,
      values: [],
      rates: [],
    };
    cells.flow.value = { rate: 50, hops } as FlowView;
  });
}

beforeEach(() => {
  connection.value = { ...connection.value, phase: 'connected' };
  cells.status.value = { key: '', status: 'live' } as never;
});

it('calls a stream of old samples a backlog, and silence not', () => {
  sample(37_800, 20);
  expect(cardState(cells)).toBe('lagging');
  sample(20, 10);
  expect(cardState(cells)).toBe('live');
  // The newest sample of a page that was opened just now.
  sample(37_800, 5000);
  expect(cardState(cells)).toBe('live');
});

it('says that the page catches up, and knows no age then', () => {
  sample(480_000, 20);
  cells.flow.value = { ...cells.flow.value, isCatchingUp: true } as FlowView;
  expect(cardState(cells)).toBe('lagging');
  expect(ageOf(cells)).toBeUndefined();
});
