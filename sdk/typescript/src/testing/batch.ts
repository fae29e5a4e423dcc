/** Encodes batches for tests. Slow and simple; the encoder that matters is the node's. */
export interface BatchParts {
  readonly state?: number;
  readonly topic?: number;
  readonly first?: bigint;
  readonly offset?: bigint;
  readonly nodeTime?: bigint;
  readonly dacTime?: bigint;
  readonly dropped?: number;
  readonly count: number;
  readonly directory: readonly number[];
  readonly body: readonly number[];
}

export function batch(parts: BatchParts): Uint8Array {
  const bytes = new Uint8Array(48 + parts.directory.length + parts.body.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint8(1, 1);
  view.setUint16(2, parts.state ?? 0, true);
  view.setUint32(4, parts.topic ?? 1, true);
  view.setBigUint64(8, parts.first ?? 1n, true);
  view.setBigUint64(16, parts.offset ?? 0n, true);
  view.setBigUint64(24, parts.nodeTime ?? 0n, true);
  view.setBigUint64(32, parts.dacTime ?? 0n, true);
  view.setUint32(40, parts.dropped ?? 0, true);
  view.setUint16(44, parts.count, true);
  view.setUint16(46, parts.directory.length, true);
  bytes.set(parts.directory, 48);
  bytes.set(parts.body, 48 + parts.directory.length);
  return bytes;
}

export function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  do {
    const bits = Number(left & 0x7fn);
    left >>= 7n;
    bytes.push(left > 0n ? bits | 0x80 : bits);
  } while (left > 0n);
  return bytes;
}

export function zigzag(value: bigint): bigint {
  const signed = BigInt.asIntN(64, value);
  return BigInt.asUintN(64, (signed << 1n) ^ (signed >> 63n));
}

export function deltaColumn(values: readonly bigint[], base = 0n): number[] {
  const bytes = varint(zigzag(values[0]! - base));
  let run = 0n;
  for (let index = 1; index < values.length; index++) {
    const step = BigInt.asIntN(64, values[index]! - values[index - 1]!);
    if (step === 0n) {
      run++;
      continue;
    }
    const code = step === 1n ? 1n : step === 2n ? 2n : step === -1n ? 3n : 0n;
    bytes.push(...varint(run * 4n + code), ...(code === 0n ? varint(zigzag(step)) : []));
    run = 0n;
  }
  if (run > 0n) bytes.push(...varint(run * 4n));
  return bytes;
}

export function riceColumn(values: readonly bigint[], step: bigint, k: number, base = 0n): number[] {
  const bytes = varint(zigzag(values[0]! - base));
  if (values.length === 1) return bytes;
  const bits: number[] = [];
  for (let index = 1; index < values.length; index++) {
    const residual = zigzag(values[index]! - values[index - 1]! - step);
    const whole = residual >> BigInt(k);
    const escaped = whole >= 24n;
    for (let one = 0n; one < (escaped ? 24n : whole); one++) bits.push(1);
    if (!escaped) bits.push(0);
    for (let bit = 0; bit < (escaped ? 64 : k); bit++) bits.push(Number((residual >> BigInt(bit)) & 1n));
  }
  bytes.push(...varint(zigzag(step)), k);
  for (let at = 0; at < bits.length; at += 8) {
    bytes.push(bits.slice(at, at + 8).reduce((byte, bit, place) => byte | (bit << place), 0));
  }
  return bytes;
}

/** Bits of reals, 4 or 8 bytes wide. */
export function xorColumn(values: readonly bigint[], width: 4 | 8): number[] {
  const bytes: number[] = [];
  let before = 0n;
  let run = 0n;
  for (const value of values) {
    if (value === before) {
      run++;
      continue;
    }
    bytes.push(...varint(run), ...varint(swap(value ^ before, width)));
    before = value;
    run = 0n;
  }
  if (run > 0n) bytes.push(...varint(run));
  return bytes;
}

function swap(value: bigint, width: number): bigint {
  let swapped = 0n;
  for (let byte = 0; byte < width; byte++) swapped = (swapped << 8n) | ((value >> BigInt(8 * byte)) & 0xffn);
  return swapped;
}
