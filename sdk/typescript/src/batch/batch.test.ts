import { describe, expect, it } from 'vitest';
import { DecodeError, decodeBatch, type MetricType, parseType, SchemaError } from '../index.ts';
import { batch, deltaColumn, riceColumn, varint, xorColumn, zigzag } from '../testing/batch.ts';

const NOW = 1_763_683_200_000_000_123n;

function one(type: MetricType, encoding: number, count: number, body: readonly number[]) {
  const times = deltaColumn(new Array(count).fill(NOW), NOW);
  return decodeBatch(batch({ nodeTime: NOW, count, directory: [1, encoding], body: [...times, ...body] }), [
    type,
  ]);
}

function reason(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof DecodeError) return error.kind;
    throw error;
  }
  return 'accepted';
}

function bits64(value: number): bigint {
  return new BigUint64Array(new Float64Array([value]).buffer)[0]!;
}

describe('the header', () => {
  it('is read in full', () => {
    const times = deltaColumn([NOW], NOW);
    const decoded = decodeBatch(
      batch({
        state: 7,
        topic: 4_000_000_000,
        first: 2n ** 60n,
        offset: 3n,
        nodeTime: NOW,
        dacTime: NOW + 5n,
        dropped: 9,
        count: 1,
        directory: [1],
        body: times,
      }),
      [],
    );
    expect(decoded).toMatchObject({
      state: 7,
      topic: 4_000_000_000,
      firstSequence: 2n ** 60n,
      offset: 3n,
      nodeTime: NOW,
      dacTime: NOW + 5n,
      droppedBefore: 9,
      count: 1,
    });
    expect([...decoded.times]).toEqual([NOW]);
  });

  it('is refused if it is not an OASIS header', () => {
    const good = batch({ count: 1, directory: [1], body: [0] });
    const spoilt = (at: number, value: number) => {
      const bytes = good.slice();
      bytes[at] = value;
      return () => decodeBatch(bytes, []);
    };
    expect(reason(() => decodeBatch(good, []))).toBe('accepted');
    expect(reason(spoilt(0, 2))).toBe('kind');
    expect(reason(spoilt(1, 2))).toBe('version');
    expect(reason(spoilt(44, 0))).toBe('count');
    expect(reason(spoilt(46, 2))).toBe('columns');
    expect(reason(spoilt(48, 9))).toBe('encoding');
    expect(reason(() => decodeBatch(good.subarray(0, 47), []))).toBe('truncated');
    expect(reason(() => decodeBatch(Uint8Array.of(...good, 0), []))).toBe('leftover');
    expect(reason(() => decodeBatch(new Uint8Array((1 << 20) + 1), []))).toBe('too_large');
  });
});

describe('times', () => {
  it('have nanosecond resolution', () => {
    const times = [NOW - 3n, NOW, NOW + 2n ** 40n, NOW - 2n ** 40n, NOW];
    for (const [encoding, body] of [
      [1, deltaColumn(times, NOW)],
      [2, riceColumn(times, 7n, 20, NOW)],
    ] as const) {
      const bytes = batch({ nodeTime: NOW, count: 5, directory: [encoding], body });
      expect([...decodeBatch(bytes, []).times]).toEqual(times);
    }
  });

  it('cover 64 bits', () => {
    const times = [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n];
    const bytes = batch({ nodeTime: NOW, count: 4, directory: [1], body: deltaColumn(times, NOW) });
    expect([...decodeBatch(bytes, []).times]).toEqual(times);
  });
});

describe('integers', () => {
  const cases: readonly [MetricType, readonly bigint[]][] = [
    ['int8', [-128n, 127n, 0n, 0n, 0n, 1n, 3n, 2n]],
    ['uint8', [0n, 255n, 254n]],
    ['int16', [-32768n, 32767n]],
    ['uint16', [65535n, 0n]],
    ['int32', [-(2n ** 31n), 2n ** 31n - 1n, 5n, 5n]],
    ['uint32', [2n ** 32n - 1n, 0n, 0n]],
    ['boolean', [1n, 1n, 0n, 1n]],
    ['int64', [2n ** 53n, -(2n ** 53n), 0n, 1n]],
    ['uint64', [2n ** 53n, 0n, 12345n]],
  ];
  for (const [type, values] of cases) {
    it(`of type ${type} come out as numbers from delta and rice`, () => {
      const numbers = values.map(Number);
      expect(Array.from(one(type, 1, values.length, deltaColumn(values)).metrics[0] as Int8Array)).toEqual(
        numbers,
      );
      for (const k of [0, 3, 20, 33, 50, 56]) {
        const rice = one(type, 2, values.length, riceColumn(values, 3n, k));
        expect(Array.from(rice.metrics[0] as Int8Array)).toEqual(numbers);
      }
    });
  }

  it('are repeated for each sample by constant', () => {
    expect(one('uint16', 5, 3, varint(zigzag(65535n))).metrics[0]).toEqual(
      new Uint16Array([65535, 65535, 65535]),
    );
    expect(one('int64', 5, 2, varint(zigzag(-5n))).metrics[0]).toEqual(new Float64Array([-5, -5]));
    const huge = 2n ** 64n - 2n;
    expect(one('uint64', 5, 2, varint(zigzag(huge))).metrics[0]).toEqual(new BigUint64Array([huge, huge]));
    const bytes = batch({ nodeTime: NOW, count: 2, directory: [5], body: varint(zigzag(-7n)) });
    expect([...decodeBatch(bytes, []).times]).toEqual([NOW - 7n, NOW - 7n]);
    expect(reason(() => one('int8', 5, 2, varint(zigzag(128n))))).toBe('range');
    expect(reason(() => one('real64', 5, 2, [0]))).toBe('encoding');
  });

  it('of 64 bits stay exact beyond the range of a number', () => {
    const values = [2n ** 64n - 1n, 0n, 2n ** 63n, 2n ** 53n + 1n];
    for (const column of [
      one('uint64', 1, 4, deltaColumn(values)),
      one('uint64', 2, 4, riceColumn(values, -9n, 40)),
    ]) {
      expect(column.metrics[0]).toEqual(new BigUint64Array(values));
    }
    const signed = [-(2n ** 63n), 2n ** 63n - 1n, -1n, 2n ** 53n + 1n];
    expect(one('int64', 1, 4, deltaColumn(signed)).metrics[0]).toEqual(new BigInt64Array(signed));
    // One step beyond the exact range, reached by a small delta: a rounded sum must not pass.
    const edge = [2n ** 53n, 2n ** 53n + 1n];
    expect(one('int64', 1, 2, deltaColumn(edge)).metrics[0]).toEqual(new BigInt64Array(edge));
  });

  it('are refused when they do not fit the type', () => {
    expect(reason(() => one('int8', 1, 2, deltaColumn([0n, 128n])))).toBe('range');
    expect(reason(() => one('uint8', 1, 1, deltaColumn([-1n])))).toBe('range');
    expect(reason(() => one('boolean', 2, 2, riceColumn([0n, 2n], 0n, 1)))).toBe('range');
    expect(reason(() => one('uint32', 1, 1, deltaColumn([2n ** 60n])))).toBe('range');
  });

  it('are refused when the tokens are wrong', () => {
    expect(reason(() => one('int8', 1, 3, [0, ...varint(4n * 3n)]))).toBe('run');
    expect(reason(() => one('int8', 1, 3, [0, ...varint(4n * 2n + 1n)]))).toBe('run');
    expect(reason(() => one('int8', 1, 3, [0, ...varint(2n ** 63n)]))).toBe('run');
    expect(reason(() => one('int8', 1, 3, [0]))).toBe('truncated');
    expect(reason(() => one('int8', 1, 1, new Array(10).fill(0x80)))).toBe('varint');
    expect(reason(() => one('int8', 1, 1, [...new Array(9).fill(0x80), 2]))).toBe('varint');
    expect(reason(() => one('int8', 2, 2, [0, 0, 57, 0]))).toBe('rice');
    expect(reason(() => one('int8', 2, 2, [0, 0, 0, 0x80]))).toBe('rice');
    expect(reason(() => one('int8', 2, 2, [0, 0, 8, 0]))).toBe('truncated');
  });
});

describe('reals', () => {
  it('keep every bit in xor', () => {
    const values = [0, 0, 1.5, 1.5, -0, Number.NaN, Number.POSITIVE_INFINITY, 5e-324];
    const decoded = one('real64', 3, values.length, xorColumn(values.map(bits64), 8))
      .metrics[0] as Float64Array;
    expect([...decoded]).toEqual(values);
    const bits = [0x7fc0_1234n, 0x7fc0_1234n, 0x3f80_0000n];
    const narrow = one('real32', 3, 3, xorColumn(bits, 4)).metrics[0] as Float32Array;
    expect([...new Uint32Array(narrow.buffer)]).toEqual(bits.map(Number));
  });

  it('are refused when too wide or too many', () => {
    expect(reason(() => one('real32', 3, 1, [0, ...varint(2n ** 32n)]))).toBe('range');
    expect(reason(() => one('real64', 3, 2, [3]))).toBe('run');
    expect(reason(() => one('real64', 1, 1, [0]))).toBe('encoding');
  });
});

describe('plain columns', () => {
  // 50 bytes of header and directory and one byte of time: the values start at the next multiple of their width.
  const padded = [...new Array(5).fill(0), ...new Uint8Array(new Float64Array([1.5, -2]).buffer)];
  const bytes = batch({ nodeTime: NOW, count: 2, directory: [1, 0], body: [0, 4, ...padded.slice(1)] });

  it('are views of the message', () => {
    const column = decodeBatch(bytes, ['real64']).metrics[0] as Float64Array;
    expect([...column]).toEqual([1.5, -2]);
    expect(column.buffer).toBe(bytes.buffer);
  });

  it('are copied if the message is not aligned', () => {
    const askew = new Uint8Array(bytes.length + 1);
    askew.set(bytes, 1);
    expect([...(decodeBatch(askew.subarray(1), ['real64']).metrics[0] as Float64Array)]).toEqual([1.5, -2]);
  });

  it('refuse nonzero padding and invalid booleans', () => {
    const spoilt = bytes.slice();
    spoilt[53] = 1;
    expect(reason(() => decodeBatch(spoilt, ['real64']))).toBe('padding');
    expect(reason(() => one('boolean', 0, 2, [0, 2]))).toBe('boolean');
    expect(reason(() => one('int32', 0, 2, [0, 2]))).toBe('truncated');
  });
});

describe('rows', () => {
  const port: MetricType = {
    struct: {
      name: 'Port',
      members: [
        { name: '__proto__', type: 'string' },
        { name: 'bytes', type: 'uint64' },
      ],
    },
  };

  it('carry text, vectors and structs', () => {
    const text = [...new TextEncoder().encode('\ufeffeth0 ü')];
    const body = [1, text.length, ...text, 1, 0, 0, 0, 0, 0, 0, 0x80, 0];
    expect(one({ vector: port }, 4, 2, body).metrics[0]).toEqual([[['\ufeffeth0 ü', 2n ** 63n + 1n]], []]);
  });

  it('replace bytes of text that are not UTF-8', () => {
    expect(one('string', 4, 2, [1, 0xff, 2, 0x41, 0x42]).metrics[0]).toEqual(['\ufffd', 'AB']);
  });

  it('are refused with wrong lengths', () => {
    expect(reason(() => one('string', 4, 1, [9, 0x41]))).toBe('truncated');
    expect(reason(() => one({ vector: 'uint8' }, 4, 1, [...varint(1_000_000n)]))).toBe('elements');
    expect(reason(() => one({ vector: 'boolean' }, 4, 1, [1, 2]))).toBe('boolean');
    expect(reason(() => one('string', 0, 1, [0]))).toBe('encoding');
  });

  it('may nest 16 deep and not deeper', () => {
    const nested = (depth: number): MetricType => (depth === 0 ? 'uint8' : { vector: nested(depth - 1) });
    expect(reason(() => one(nested(16), 4, 1, [...new Array(16).fill(1), 7]))).toBe('accepted');
    expect(reason(() => one(nested(17), 4, 1, [...new Array(17).fill(1), 7]))).toBe('depth');
  });

  it('cannot allocate memory with elements of no bytes', () => {
    const empty: MetricType = { vector: { struct: { name: 'E', members: [] } } };
    expect(reason(() => one(empty, 4, 1, [1, 0]))).toBe('elements');
    expect(() => parseType(empty)).toThrow(SchemaError);
  });

  it('are refused with millions of columns', () => {
    const bytes = batch({ count: 65_535, directory: new Array(65).fill(5), body: new Array(65).fill(0) });
    expect(reason(() => decodeBatch(bytes, new Array(64).fill('int64')))).toBe('too_large');
  });
});

describe('hostile bytes', () => {
  it('cause no other error, whichever bits are flipped or cut', () => {
    const values = [5n, 5n, 9n, -4n, 2n ** 60n, 0n];
    const types: MetricType[] = ['int64', 'int64', 'real64', 'string', { vector: 'int16' }];
    const texts = [1, 65, 0, 2, 66, 67, 0, 0, 0];
    const vectors = [0, 1, 9, 0, 0, 0, 0, 0];
    const body = [
      ...deltaColumn(values, NOW),
      ...deltaColumn(values),
      ...riceColumn(values, 1n, 5),
      ...xorColumn([1.5, 1.5, 2, 3, 3, 3].map(bits64), 8),
      ...texts,
      ...vectors,
    ];
    const good = batch({ nodeTime: NOW, count: 6, directory: [1, 1, 2, 3, 4, 4], body });
    expect(reason(() => decodeBatch(good, types))).toBe('accepted');
    for (let at = 0; at < good.length; at++) {
      for (const bits of [0x01, 0x80, 0xff, 0x55]) {
        const spoilt = good.slice();
        spoilt[at]! ^= bits;
        expect(reason(() => decodeBatch(spoilt, types))).toBeTypeOf('string');
      }
      expect(reason(() => decodeBatch(good.subarray(0, at), types))).not.toBe('accepted');
    }
  });

  it('decode zigzag within range', () => {
    expect(zigzag(-1n)).toBe(1n);
    expect(zigzag(-(2n ** 63n))).toBe(2n ** 64n - 1n);
  });
});
