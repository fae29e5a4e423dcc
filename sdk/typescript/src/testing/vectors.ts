import { isBlob, isVector, type MetricType } from '../schema.ts';

/** A value in the format of `vectors/README.md`, without rounding. */
export type Exact =
  | string
  | boolean
  | { readonly text: string }
  | { readonly bits: string }
  | { readonly hex: string }
  | readonly Exact[];

/** Converts a value to the form that generated code has for it. */
export function fromExact(exact: Exact, type: MetricType): unknown {
  if (typeof type === 'object') {
    const parts = exact as readonly Exact[];
    if (isVector(type)) return parts.map((part) => fromExact(part, type.vector));
    if (isBlob(type)) return fromHex((exact as { readonly hex: string }).hex);
    const { members } = type.struct;
    return Object.fromEntries(
      members.map((member, index) => [member.name, fromExact(parts[index]!, member.type)]),
    );
  }
  if (type === 'string') return (exact as { readonly text: string }).text;
  if (type === 'real32' || type === 'real64') {
    const view = new DataView(fromHex((exact as { readonly bits: string }).bits).buffer);
    return type === 'real32' ? view.getFloat32(0) : view.getFloat64(0);
  }
  if (type === 'boolean') return exact;
  return type === 'int64' || type === 'uint64' ? BigInt(exact as string) : Number(exact);
}

export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns pseudo-random integers from 0 to below the limit, with a fixed seed (mulberry32). */
export function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
