import { expect, it } from 'vitest';
import { SeriesStore } from '../series/store.ts';
import { joined } from './joined.ts';
import { parsePoints } from './points.ts';

const metrics = { load: { min: [1, 2, 3], max: [1, 2, 3], last: [1, 2, 3] } };

/**
 * The archive has samples at 1, 2 and 3 s, memory from 8 s on. Returns the time of each row, and whether a line leads to
 * it.
 */
function rows(gaps: object[]): [time: number, isBroken: boolean][] {
  const message = { event: 'points', step: 1e7, times: [1e9, 2e9, 3e9], metrics, gaps };
  const points = parsePoints(message, null);
  if (!points) throw new Error('no points');
  const store = new SeriesStore(1, 60_000);
  store.append(Float64Array.of(8000, 9000), [[8, 9]]);
  const found: [number, boolean][] = [];
  joined(points, ['load'], { store, picked: [0], oldest: 8000 }).visit(0, 10_000, 100, (table, row) =>
    found.push([table.end[row], table.breaks[row] === 1]),
  );
  return found;
}

it('draws no line across a gap between archive and memory', () => {
  const whole = [1000, 2000, 3000, 8000, 9000].map((time) => [time, false]);
  expect(rows([])).toEqual(whole);
  const lost = whole.with(3, [8000, true]);
  expect(rows([{ from: 3e9, to: 8e9, samples: 4, cause: 'disk_full' }])).toEqual(lost);
  // The archive continues after the seam.
  expect(rows([{ from: 3e9, to: 8.5e9, samples: 4, cause: 'disk_full' }])).toEqual(lost);
});
