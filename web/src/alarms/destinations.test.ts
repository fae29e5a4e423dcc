import { afterEach, expect, it, vi } from 'vitest';
import { Refusal } from '../api/api.ts';
import { parseDestinations, testDestination } from './destinations.ts';

const asked = vi.hoisted(() => vi.fn());
vi.mock('../api/api.ts', async (original) => ({ ...(await original<object>()), fetchJson: asked }));

afterEach(() => asked.mockReset());

it('reads destinations as the DAC lists them', () => {
  const answer = {
    destinations: [
      { name: 'a', kind: 'mail', state: 'ok', waiting: 0, delivered: 12, failed: 0, last_error: null },
      { name: '<b>', kind: 'pigeon', state: 'failing', waiting: 3, failed: 1, last_error: 'refused' },
    ],
  };
  expect(parseDestinations(answer)).toEqual([
    { name: 'a', kind: 'mail', isFailing: false, waiting: 0, delivered: 12, failed: 0, problem: '' },
    { name: '<b>', kind: 'pigeon', isFailing: true, waiting: 3, delivered: 0, failed: 1, problem: 'refused' },
  ]);
});

it('leaves out entries that are no destinations', () => {
  expect(parseDestinations({ destinations: [{}, 7, null, { name: 5 }, { name: '' }] })).toEqual([]);
  expect(parseDestinations('no')).toEqual([]);
});

it('explains why there are no more tests, and passes on what the destination has said', async () => {
  asked.mockRejectedValueOnce(new Refusal('try again in 9 s', 'too_many_tests', 429));
  await expect(testDestination('mail')).rejects.toThrow('again in 9 s. The DAC sends six');
  asked.mockRejectedValueOnce(new Refusal('mail has not accepted the test: refused', 'not_delivered', 502));
  await expect(testDestination('mail')).rejects.toThrow('has not accepted the test: refused');
});
