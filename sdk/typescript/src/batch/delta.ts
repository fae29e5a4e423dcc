import { type Cursor, unzigzag, unzigzagBig } from '../cursor.ts';
import type { IntegerCodec } from './integers.ts';

const STEPS = [0, 1, 2, -1] as const;

/** Decodes runs of repeated values, and varint deltas between them (native-batch.md, `delta`). */
export const delta: IntegerCodec = {
  fast(cursor, out) {
    const count = out.length;
    const first = cursor.varint();
    if (first > Number.MAX_SAFE_INTEGER) return false;
    let value = unzigzag(first);
    out[0] = value;
    let index = 1;
    while (index < count) {
      const token = cursor.varint();
      const code = token % 4;
      const run = token < 0x8000_0000 ? token >> 2 : Math.floor(token / 4);
      checkRun(cursor, run, count - index, code);
      const stop = index + run;
      while (index < stop) out[index++] = value;
      if (index === count) break;
      if (code === 0) {
        const folded = cursor.varint();
        if (folded > Number.MAX_SAFE_INTEGER) return false;
        value += unzigzag(folded);
      } else {
        value += STEPS[code]!;
      }
      if (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER) return false;
      out[index++] = value;
    }
    return true;
  },

  exact(cursor, out) {
    const count = out.length;
    let value = unzigzagBig(cursor.varintBig());
    out[0] = value;
    let index = 1;
    while (index < count) {
      const token = cursor.varintBig();
      const code = Number(token & 3n);
      const run = Number(token >> 2n);
      checkRun(cursor, run, count - index, code);
      out.fill(value, index, index + run);
      index += run;
      if (index === count) break;
      const step = code === 0 ? unzigzagBig(cursor.varintBig()) : BigInt(STEPS[code]!);
      value = BigInt.asIntN(64, value + step);
      out[index++] = value;
    }
  },
};

function checkRun(cursor: Cursor, run: number, room: number, code: number): void {
  if (run > room) cursor.fail('run', `a run of ${run} samples with ${room} left`);
  if (run === room && code !== 0) cursor.fail('run', 'a run that completes the column has code 0');
}
