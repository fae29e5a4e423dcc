import type { EnumBase } from '../codec.ts';

/** Minimum and maximum of the integer types that are numbers in TypeScript. */
export const RANGES: Readonly<Record<EnumBase, readonly [number, number]>> = {
  int8: [-128, 127],
  int16: [-32768, 32767],
  int32: [-2147483648, 2147483647],
  uint8: [0, 255],
  uint16: [0, 65535],
  uint32: [0, 4294967295],
};

/** Minimum and maximum of the integer types that are bigints in TypeScript. */
export const WIDE_RANGES = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const;
