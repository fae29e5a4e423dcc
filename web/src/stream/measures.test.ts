import { describe, expect, it } from 'vitest';
import { CounterRates } from './counters.ts';
import { HISTORY_SECONDS, History } from './history.ts';
import { RateMeter } from './rate.ts';

describe('the rate meter', () => {
  it('knows the rate from two samples on', () => {
    const meter = new RateMeter();
    meter.add(0, 1, 0);
    expect(meter.rate(0)).toBeUndefined();
    meter.add(1000, 1, 1000);
    expect(meter.rate(1100)).toBeCloseTo(1);
  });

  it('is independent of the size of batches', () => {
    const meter = new RateMeter();
    for (let time = 0; time < 3000; time += 50) meter.add(time, 50, time);
    expect(meter.rate(2950)).toBeCloseTo(1000, -1);
  });

  it('follows an announced change at once', () => {
    const meter = new RateMeter();
    for (let time = 0; time <= 5000; time += 1000) meter.add(time, 1, time);
    meter.reset();
    meter.add(5100, 1, 5100);
    meter.add(5200, 1, 5200);
    expect(meter.rate(5200)).toBeCloseTo(10);
  });

  it('falls to zero when no samples arrive', () => {
    const meter = new RateMeter();
    for (let time = 0; time <= 2000; time += 100) meter.add(time, 1, time);
    expect(meter.rate(2100)).toBeCloseTo(10);
    const falling = [3000, 4000, 6000].map((now) => meter.rate(now) ?? -1);
    expect(falling[0]).toBeLessThan(10);
    expect(falling[1]).toBeLessThan(falling[0]);
    expect(falling[2]).toBeLessThan(falling[1]);
    expect(meter.rate(20_000)).toBe(0);
  });
});

describe('counters', () => {
  const metrics = [
    { name: 'a', type: 'uint64', kind: 'counter' },
    { name: 'b', type: 'real64' },
    {
      name: 'ports',
      type: {
        vector: {
          struct: {
            name: 'Port',
            members: [
              { name: 'name', type: 'string' },
              { name: 'in', type: 'uint64', kind: 'counter' },
            ],
          },
        },
      },
    },
  ] as const;

  it('have a rate over one second, in lists by the name of the element', () => {
    const rates = new CounterRates(metrics);
    rates.add(0, [
      0,
      1,
      [
        ['eth0', 0],
        ['eth1', 0],
      ],
    ]);
    expect(rates.add(500, [7, 1, []])).toEqual([]);
    const now = [
      2n ** 60n,
      2,
      [
        ['eth0', 50],
        ['eth9', 50],
      ],
    ];
    expect(rates.add(2000, now)).toEqual([2 ** 59, undefined, [[undefined, 25], undefined]]);
    expect(rates.add(3000, [5, 2, []])).toEqual([undefined, undefined, []]);
  });
});

describe('the history', () => {
  it('contains the last minute, also without samples', () => {
    const history = new History();
    history.addSamples(100_500, 2);
    history.addGap(101_000, 3, 'node_dropped');
    history.addGap(101_100, 0, 'reconnected');
    const view = history.view(103_000);
    expect(view.last).toBe(103);
    expect(view.samples.slice(-4)).toEqual([2, 0, 0, 0]);
    expect(view.missing.slice(-4)).toEqual([0, 3, 0, 0]);
    expect(view.marks.slice(-3)).toEqual(['loss', undefined, undefined]);
    history.addSamples(10_000, 5);
    expect(
      history.view(100_000 + (HISTORY_SECONDS - 1) * 1000).samples.reduce((sum, count) => sum + count),
    ).toBe(2);
    expect(history.view(1_000_000).samples.every((count) => count === 0)).toBe(true);
  });
});
