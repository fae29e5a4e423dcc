import { expect, it } from 'vitest';
import { parseHandlers } from './handlers.ts';

it('reads any handler by its name, condition and detail', () => {
  const answer = {
    handlers: [
      { name: 'archive', condition: 'running', detail: null, restarts: 0, state: { condition: 'storing' } },
      {
        name: '<b>new</b>',
        condition: 'backing_off',
        detail: 'refused\nsecond line',
        restarts: 3,
        state: {},
      },
    ],
  };
  expect(parseHandlers(answer)).toEqual([
    { name: 'archive', condition: 'running', activity: 'storing', detail: '', restarts: 0 },
    { name: '<b>new</b>', condition: 'backing_off', activity: '', detail: 'refused', restarts: 3 },
  ]);
});

it('reads a DAC that reports a state alone', () => {
  const answer = { handlers: [{ name: 'postgresql', state: { condition: 'failing', detail: 'no route' } }] };
  expect(parseHandlers(answer)).toEqual([
    { name: 'postgresql', condition: '', activity: 'failing', detail: 'no route', restarts: 0 },
  ]);
});

it('leaves out entries that are not handlers', () => {
  expect(parseHandlers({ handlers: [{}, 7, null, { name: 5 }, { name: '' }] })).toEqual([]);
  expect(parseHandlers('no')).toEqual([]);
});
