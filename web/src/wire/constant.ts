import type { IntegerCodec } from './integers.ts';
import { unzigzag, unzigzagBig } from './reader.ts';

/** One value that all samples share (native-batch.md, `constant`). */
export const constant: IntegerCodec = {
  fast(reader, out) {
    const folded = reader.varint();
    if (folded > Number.MAX_SAFE_INTEGER) return false;
    out.fill(unzigzag(folded));
    return true;
  },

  exact(reader, out) {
    out.fill(unzigzagBig(reader.varintBig()));
  },
};
