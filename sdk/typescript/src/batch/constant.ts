import { unzigzag, unzigzagBig } from '../cursor.ts';
import type { IntegerCodec } from './integers.ts';

/** Decodes one value that all samples share (native-batch.md, `constant`). */
export const constant: IntegerCodec = {
  fast(cursor, out) {
    const folded = cursor.varint();
    if (folded > Number.MAX_SAFE_INTEGER) return false;
    out.fill(unzigzag(folded));
    return true;
  },

  exact(cursor, out) {
    out.fill(unzigzagBig(cursor.varintBig()));
  },
};
