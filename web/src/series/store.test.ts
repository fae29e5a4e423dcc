import { describe, expect, it } from 'vitest';
import { blockRoom, Columns, Mark, reduceColumns, trueExtremes } from './columns.ts';
import { histogram, intervals } from './histogram.ts';
import { counterRates } from './rates.ts';
import { rawSamples, samplesOf } from './raw_samples.ts';
import { rose } from './rose.ts';
import { StateRuns } from './states.ts';
import { SeriesStore } from './store.ts';

const KEEP = 3_600_000;

function filled(
  samples: number,
  value: (index: number) => number,
  spacing = 1,
  limit = 1 << 16,
): SeriesStore {
  const store = new SeriesStore(1, KEEP, limit);
  for (let from = 0; from < samples; from += 5000) {
    const count = Math.min(5000, samples - from);
    store.append(
      Float64Array.from({ length: count }, (_, index) => (from + index) * spacing),
      [Float64Array.from({ length: count }, (_, index) => value(from + index))],
    );
  }
  return store;
}

function columnsOf(store: SeriesStore, from: number, to: number, columns: number): Columns {
  const buffer = new Float64Array(blockRoom(columns, 1));
  return new Columns(buffer, reduceColumns(store, [0], { from, to, columns }, 0, buffer, 0));
}

describe('the store', () => {
  it('keeps every extreme of a million samples, in bounded memory', () => {
    // A spike that a store which skips samples would lose.
    const store = filled(1_000_000, (index) => (index === 123_457 ? 1000 : Math.sin(index / 1000)), 1, 4096);
    const columns = columnsOf(store, 0, 1_000_000, 800);
    let highest = Number.NEGATIVE_INFINITY;
    let lowest = Number.POSITIVE_INFINITY;
    for (let column = 0; column < columns.count; column++) {
      highest = Math.max(highest, columns.max(column, 0));
      lowest = Math.min(lowest, columns.min(column, 0));
    }
    expect(highest).toBe(1000);
    expect(lowest).toBeCloseTo(-1, 3);
    expect(columns.last(columns.count - 1, 0)).toBeCloseTo(Math.sin(999.999));
    expect(store.bytes).toBeLessThan(650_000);
  });

  it('overwrites no sample that is not folded yet, however small the ring and large the batches are', () => {
    for (const batch of [60, 4090, 5000]) {
      // Only the newest samples are kept, so that the ring does not grow.
      const store = new SeriesStore(1, 10, 4096);
      for (let from = 0; from < 40_000; from += batch) {
        const numbers = Float64Array.from({ length: batch }, (_, index) => from + index);
        store.append(numbers, [numbers]);
      }
      for (const tier of store.tiers.slice(1))
        for (let row = tier.first; row < tier.next; row++) {
          const slot = tier.slot(row);
          expect([tier.min[0][slot], tier.max[0][slot]]).toEqual([tier.start[slot], tier.end[slot]]);
        }
    }
  });

  it('agrees with a plain reduction of the samples, whatever the tier', () => {
    const value = (index: number) => (index * 7919) % 1009;
    for (const samples of [3, 17, 300, 5000, 70_000]) {
      const store = filled(samples, value);
      const columns = columnsOf(store, 0, samples, 10);
      const width = samples / 10;
      for (let column = 0; column < columns.count; column++) {
        const bin = Math.floor(columns.time(column) / width);
        const expected = Array.from({ length: samples }, (_, index) => index)
          .filter((index) => Math.floor(index / width) === bin)
          .map(value);
        // A folded row belongs to the column where it ends: an extreme may be one column late, but is never lost.
        if (samples > 10 * 40) continue;
        expect(columns.min(column, 0)).toBe(Math.min(...expected));
        expect(columns.max(column, 0)).toBe(Math.max(...expected));
      }
      let highest = 0;
      for (let column = 0; column < columns.count; column++)
        highest = Math.max(highest, columns.max(column, 0));
      expect(highest).toBe(Math.max(...Array.from({ length: samples }, (_, index) => value(index))));
    }
  });

  it('does not fold or draw across a break', () => {
    const store = new SeriesStore(1, KEEP);
    store.append(Float64Array.of(0, 1, 2), [[1, 2, 3]]);
    store.break();
    store.append(Float64Array.of(500, 501), [[4, 5]]);
    const columns = columnsOf(store, 0, 1000, 100);
    const breaks = Array.from({ length: columns.count }, (_, column) => columns.isBroken(column));
    expect(breaks).toEqual([false, true]);
    expect(store.tiers[1].size).toBe(1);
    expect(store.tiers[1].max[0][0]).toBe(3);
  });

  it('has gaps for NaN, and accepts bigints', () => {
    const store = new SeriesStore(1, KEEP);
    store.append(Float64Array.of(0, 100), [[Number.NaN, Number.NaN]]);
    store.append(Float64Array.of(200), [BigUint64Array.of(2n ** 60n)]);
    const columns = columnsOf(store, 0, 300, 3);
    expect(columns.min(0, 0)).toBeGreaterThan(columns.max(0, 0));
    expect(columns.last(2, 0)).toBe(2 ** 60);
  });

  it('shows one sample beyond the left end, for the line that leads in', () => {
    const columns = columnsOf(
      filled(10, (index) => index, 100),
      450,
      900,
      9,
    );
    expect(columns.time(0)).toBe(400);
    expect(columns.at(555)).toBe(1);
    expect(columns.at(0)).toBe(-1);
  });

  it('survives a clock that steps back', () => {
    const store = new SeriesStore(1, KEEP);
    store.append(Float64Array.of(100, 50, 120), [[1, 2, 3]]);
    const columns = columnsOf(store, 0, 200, 200);
    expect(Array.from({ length: columns.count }, (_, column) => columns.time(column))).toEqual([100, 120]);
  });
});

describe('results from the store', () => {
  it('counters count per second, and a restart is no negative rate', () => {
    const store = filled(100, (index) => (index < 50 ? index * 5 : (index - 50) * 5), 100);
    const rates = counterRates(columnsOf(store, 0, 10_000, 100), 0, 10_000);
    expect(rates[30]).toBeCloseTo(50);
    expect(rates[50]).toBeNaN();
    expect(rates[80]).toBeCloseTo(50);
    expect(rates.every((rate) => !(rate < 0))).toBe(true);
  });

  it('a histogram counts every sample once', () => {
    const values = filled(1000, (index) => index % 10, 2);
    const found = histogram(rawSamples(values, [0], 0, 1e9), 10);
    expect(found?.counts).toEqual(new Array(10).fill(100));
    expect(found?.median).toBe(5);
    const store = filled(1000, () => 0, 2);
    const spacing = histogram(intervals(store, 0, 1e9), 10);
    expect(spacing?.samples).toBe(999);
    expect(spacing?.mean).toBeCloseTo(2);
  });

  it('a folded row has the weight of its samples', () => {
    const value = (index: number) => (index === 1234 ? 999 : index % 10);
    const store = filled(20_000, value, 2, 4096);
    store.break();
    store.append(Float64Array.of(40_000, 40_002), [[3, 4]]);
    const folded = samplesOf(store, [0], 0, 1e9);
    const found = histogram(folded, 10, folded.extremes[0]);
    expect(found).toMatchObject({ of: 20_002, max: 999 });
    expect(found?.samples).toBeLessThan(2000);
    // Single samples in memory are used as they are.
    expect(samplesOf(store, [0], 39_900, 1e9)).toMatchObject({ extremes: [] });
    expect(samplesOf(store, [0], 39_900, 1e9).weights).toBeUndefined();
    expect(samplesOf(filled(1000, value), [0], 0, 1e9).columns[0]).toHaveLength(1000);
  });

  it('a histogram weights samples', () => {
    const columns = [Float64Array.of(5, 1, Number.NaN, 3, 9)];
    const weights = Float64Array.of(1, 4, 7, 2, 1);
    const found = histogram({ columns, weights }, 4, [0, 10]);
    expect(found).toMatchObject({ samples: 4, of: 8, min: 0, max: 10, median: 3, mean: 3, p99: 9 });
    expect(found?.counts).toEqual([4, 2, 1, 1]);
  });

  it('a rose has north around 0 degrees, and calm air in no sector', () => {
    const store = new SeriesStore(2, KEEP);
    store.append(Float64Array.of(0, 1, 2, 3), [
      [355, 5, 90, 180],
      [1, 7, 20, 0],
    ]);
    const found = rose(rawSamples(store, [0, 1], 0, 10), [5, 10]);
    expect(found?.sectors[0]).toEqual([1, 1, 0]);
    expect(found?.sectors[4]).toEqual([0, 0, 1]);
    expect(found?.sectors[8]).toEqual([0, 0, 0]);
    expect(found?.samples).toBe(4);
  });

  it('states run until the next one', () => {
    const runs = new StateRuns();
    runs.add(Float64Array.of(0, 10, 20), [0, 0, 1], false);
    runs.break();
    runs.add(Float64Array.of(90), [1], false);
    expect(runs.between(0, 100)).toEqual([
      { from: 0, to: 20, value: 0, isBroken: false },
      { from: 20, to: 20, value: 1, isBroken: false },
      { from: 90, to: 90, value: 1, isBroken: true },
    ]);
  });
});

it('allocates the memory of a steady stream within two minutes', () => {
  const hour = 3_600_000;
  const store = new SeriesStore(1, hour);
  const feed = (from: number, to: number) => {
    // 10,000 a second.
    for (let at = from; at < to; at += 100) {
      const times = Float64Array.from({ length: 1000 }, (_, index) => at + index / 10);
      store.append(times, [times]);
    }
  };
  feed(0, 120_000);
  const settled = store.bytes;
  feed(120_000, 600_000);
  expect(store.bytes).toBe(settled);
});

it('does not allocate the memory of a stream for a burst', () => {
  const store = new SeriesStore(1, 3_600_000);
  const times = Float64Array.from({ length: 65 }, (_, index) => index / 1000);
  store.append(times, [times]);
  expect(store.bytes).toBeLessThan(100_000);
});

describe('values that are not finite', () => {
  const { POSITIVE_INFINITY, NEGATIVE_INFINITY, NaN: unknown } = Number;

  it('leave the extremes of the others, at any tier', () => {
    const special = new Map([
      [7, POSITIVE_INFINITY],
      [40_000, NEGATIVE_INFINITY],
      [60_000, unknown],
    ]);
    for (const limit of [4096, 1 << 16]) {
      const store = filled(70_000, (index) => special.get(index) ?? index, 1, limit);
      const columns = columnsOf(store, 0, 70_000, 10);
      for (let column = 0; column < columns.count; column++) {
        const [low, high] = [columns.min(column, 0), columns.max(column, 0)];
        expect(Number.isFinite(low) && Number.isFinite(high) && low <= high).toBe(true);
        expect(high).toBe(columns.time(column));
      }
      const marks = Array.from({ length: columns.count }, (_, column) => columns.marks(column, 0));
      expect(marks.filter((mark) => mark & Mark.above)).toHaveLength(1);
      expect(marks.filter((mark) => mark & Mark.below)).toHaveLength(1);
      expect(marks.filter((mark) => mark & Mark.broken)).toHaveLength(1);
      expect(marks.filter((mark) => mark !== 0)).toHaveLength(3);
    }
  });

  it('are marked where they are alone, and where they are the last', () => {
    const values = [1, POSITIVE_INFINITY, 2, unknown, NEGATIVE_INFINITY, unknown];
    const columns = columnsOf(
      filled(6, (index) => values[index]),
      -0.5,
      5.5,
      3,
    );
    const found = Array.from({ length: columns.count }, (_, column) => [
      columns.min(column, 0),
      columns.max(column, 0),
      columns.last(column, 0),
      columns.marks(column, 0),
    ]);
    // Two samples a column.
    expect(found).toEqual([
      [1, 1, POSITIVE_INFINITY, Mark.above],
      [2, 2, 2, Mark.ended],
      [POSITIVE_INFINITY, NEGATIVE_INFINITY, NEGATIVE_INFINITY, Mark.below | Mark.ended],
    ]);
    expect(trueExtremes(1, 1, Mark.above)).toEqual([1, POSITIVE_INFINITY]);
    expect(trueExtremes(POSITIVE_INFINITY, NEGATIVE_INFINITY, Mark.below)).toEqual([
      NEGATIVE_INFINITY,
      NEGATIVE_INFINITY,
    ]);
    expect(trueExtremes(POSITIVE_INFINITY, NEGATIVE_INFINITY, Mark.ended)).toEqual([unknown, unknown]);
  });

  it('take no memory where there are none, and little elsewhere', () => {
    const plain = filled(70_000, (index) => index, 1, 4096);
    const marked = filled(70_000, (index) => (index % 1000 === 0 ? unknown : index), 1, 4096);
    expect(marked.bytes / plain.bytes).toBeLessThan(1.06);
    expect(plain.tiers.every(({ marks }) => marks[0] === undefined)).toBe(true);
  });

  it('are counted beside a distribution of the others', () => {
    const columns = [Float64Array.of(1, 2, POSITIVE_INFINITY, 4, NEGATIVE_INFINITY, unknown)];
    const weights = Float64Array.of(1, 1, 3, 1, 2, 1);
    const found = histogram({ columns, weights }, 3, [NEGATIVE_INFINITY, POSITIVE_INFINITY]);
    expect(found).toMatchObject({ min: 1, max: 4, counts: [1, 1, 1], above: 3, below: 2, of: 3 });
    // Infinite values alone have no bins, and are counted.
    const alone = histogram({ columns: [Float64Array.of(POSITIVE_INFINITY)] }, 3);
    expect(alone).toMatchObject({ counts: [], samples: 0, above: 1, below: 0 });
    expect(histogram({ columns: [Float64Array.of(Number.NaN)] }, 3)).toBeUndefined();
  });

  it('do not disturb a distribution at the ends of the range', () => {
    const { MAX_VALUE } = Number;
    const wide = histogram({ columns: [Float64Array.of(-MAX_VALUE, 0, MAX_VALUE, MAX_VALUE)] }, 2);
    expect(wide?.counts).toEqual([1, 3]);
    expect((wide?.mean ?? 0) / MAX_VALUE).toBeCloseTo(0.25, 12);
    const small = histogram({ columns: [Float64Array.of(5e-324, 1e-323, 1.5e-323)] }, 2);
    expect(small?.counts).toEqual([1, 2]);
    const large = histogram({ columns: [Float64Array.of(1e15, 1e15 + 1, 1e15 + 2)] }, 2);
    expect(large?.counts).toEqual([1, 2]);
  });
});
