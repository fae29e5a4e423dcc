import { describe, expect, it } from 'vitest';
import { Line } from '../../../crates/pdl-gen/tests/plant/plant.ts';
import {
  Enums,
  Mode,
  Port,
  ShapesNumbers,
  Structs,
  Texts,
} from '../../../crates/pdl-gen/tests/shapes/shapes.ts';
import {
  DecodeError,
  decodeBatch,
  decodeSamples,
  EncodeError,
  encodeBatch,
  fromRow,
  nameOf,
  type ProbeCodec,
  samples,
  toRow,
} from './index.ts';

/** Returns the error of a sample with one changed value. */
function refusal<T>(of: ProbeCodec<T>, changed: Record<string, unknown>): string {
  try {
    toRow({ ...of.create(), ...changed }, of);
  } catch (error) {
    if (error instanceof EncodeError) return `${error.kind}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('a value that its metric cannot represent', () => {
  it.each([
    ['int8_value', 128, 'range: Shapes::Numbers.int8_value: expected int8 (-128 to 127), got 128'],
    ['uint8_value', -1, 'range: Shapes::Numbers.uint8_value: expected uint8 (0 to 255), got -1'],
    ['int16_value', 1.5, 'range: Shapes::Numbers.int16_value: expected int16 (-32768 to 32767), got 1.5'],
    [
      'uint16_value',
      Number.NaN,
      'range: Shapes::Numbers.uint16_value: expected uint16 (0 to 65535), got NaN',
    ],
    [
      'int32_value',
      '7',
      'type: Shapes::Numbers.int32_value: expected int32 (-2147483648 to 2147483647), got "7"',
    ],
    [
      'uint32_value',
      undefined,
      'type: Shapes::Numbers.uint32_value: expected uint32 (0 to 4294967295), got undefined',
    ],
    [
      'uint64_value',
      5,
      'type: Shapes::Numbers.uint64_value: expected uint64 (0 to 18446744073709551615, as a bigint), got 5',
    ],
    [
      'uint64_value',
      -1n,
      'range: Shapes::Numbers.uint64_value: expected uint64 (0 to 18446744073709551615), got -1n',
    ],
    [
      'real32_value',
      1e39,
      'range: Shapes::Numbers.real32_value: 1e+39 does not fit real32 (up to 3.4028235e+38)',
    ],
    ['real64_value', 1n, 'type: Shapes::Numbers.real64_value: expected number, got 1n'],
    ['boolean_value', 1, 'type: Shapes::Numbers.boolean_value: expected boolean, got 1'],
  ])('%s: %s', (metric, value, text) => {
    expect(refusal(ShapesNumbers, { [metric]: value })).toBe(text);
  });

  it('is reported for texts, enums, vectors and structs', () => {
    expect(refusal(Texts, { text: 'a\ud800' })).toBe(
      'text: Shapes::Texts.text: half of a surrogate pair at index 1, which UTF-8 cannot represent',
    );
    expect(refusal(Texts, { text: '\ud83d\ude00' })).toBe('accepted');
    expect(refusal(Texts, { texts: 'ab' })).toBe('type: Shapes::Texts.texts: expected array, got "ab"');
    expect(refusal(Enums, { mode: 9 })).toBe(
      'range: Shapes::Enums.mode: 9 is none of DOWN (0), UP (7), DRAINING (8)',
    );
    expect(refusal(Structs, { uplink: null })).toBe(
      'type: Shapes::Structs.uplink: expected Shapes::Port, got null',
    );
    expect(refusal(Structs, { groups: [[{ ...Port.create(), bytes: -1n }]] })).toBe(
      'range: Shapes::Structs.groups: Shapes::Port.bytes: expected uint64 (0 to 18446744073709551615), got -1n',
    );
    expect(refusal(Line, { counts: [2n ** 64n] })).toMatch(
      /^range: Plant::Line7::Line.counts: .* got 18446744073709551616n$/,
    );
  });

  it('does not include the nearest single, infinities and NaN', () => {
    for (const real32_value of [0.1, 3.4028235e38, -Infinity, NaN]) {
      expect(refusal(ShapesNumbers, { real32_value })).toBe('accepted');
    }
  });
});

describe('invalid bytes', () => {
  const refused = (read: () => unknown) => {
    expect(read).toThrow(DecodeError);
    try {
      read();
    } catch (error) {
      return error as DecodeError;
    }
    throw new Error('unreachable');
  };

  it('are reported with their offset', () => {
    const enumerator = refused(() => fromRow(Uint8Array.of(4, 0, 0, 0), Enums));
    expect([enumerator.kind, enumerator.offset]).toEqual(['enumerator', 0]);
    expect(enumerator.message).toBe('refused at byte 0: 4 is none of DOWN (0), UP (7), DRAINING (8)');
    const truncated = refused(() => fromRow(Uint8Array.of(0, 1), Enums));
    expect([truncated.kind, truncated.offset]).toEqual(['truncated', 1]);
  });

  it('are reported without an offset for decoded columns', () => {
    const timed = [{ time: 5n, sample: Enums.create() }];
    const batch = encodeBatch(timed, Enums, { firstSequence: 1n, nodeTime: 5n });
    // The mode is the first byte after 48 of header, 4 of directory, 4 of padding and 8 of time.
    batch[64] = 4;
    expect(refused(() => decodeSamples(batch, Enums))).toMatchObject({
      kind: 'enumerator',
      offset: undefined,
    });
    const other = decodeBatch(batch, ['uint8', 'int16', { vector: 'int16' }]);
    expect(refused(() => samples(other, ShapesNumbers))).toMatchObject({ kind: 'columns' });
    expect(refused(() => samples({ ...other, metrics: [...other.metrics, [1]] }, Texts))).toMatchObject({
      kind: 'columns',
    });
  });
});

describe('a row', () => {
  it('grows as needed', () => {
    for (let length = 200; length < 260; length++) {
      const sample = {
        ...Structs.create(),
        uplink: { ...Port.create(), name: 'x'.repeat(length), bytes: 5n },
      };
      const groups = [[{ ...Port.create(), bytes: 1n }]];
      const row = toRow({ ...sample, groups }, Structs);
      expect(fromRow(row, Structs)).toEqual({ ...sample, groups });
    }
    const counts = Array.from({ length: 1000 }, (_, index) => BigInt(index));
    expect(fromRow(toRow({ ...Line.create(), counts }, Line), Line).counts).toEqual(counts);
  });
});

describe('a batch', () => {
  it('has at least one sample and at most as many as fit', () => {
    const fields = { firstSequence: 1n, nodeTime: 0n };
    expect(() => encodeBatch([], Texts, fields)).toThrow(EncodeError);
    const text = 'x'.repeat(1 << 20);
    const large = [{ time: 0n, sample: { ...Texts.create(), text } }];
    expect(() => encodeBatch(large, Texts, fields)).toThrow(/1048576 are allowed/);
  });
});

describe('an enumerator', () => {
  it('has a name', () => {
    expect(nameOf(Mode, Mode.UP)).toBe('UP');
    expect(nameOf(Mode, 3)).toBeUndefined();
  });
});
