import type { Tick, Ticks } from '../format/tick_labels.ts';
import type { ValueScale } from '../series/value_scale.ts';

/** Sizes of steps within a decade, and the power of ten that each is below. */
const STEPS = [1, 2, 5, 10] as const;
/** Slack for logarithms that are rounded. */
const SLACK = 1e-9;
/** Bounds the number of ticks. */
const MIN_ROOM = 1 / 200;
/** Bits of a share; a place on a screen needs 16. */
const SHARE_BITS = 60n;
/** A tick may be this share of the axis beyond its ends: far less than a pixel. */
const SLACK_BITS = 30n;
/** Ticks of bytes are powers of two up to 1024 EiB, and down to 1/1024 of a byte. */
const MAX_BYTES = 2 ** 70;
const MIN_BYTES = 2 ** -10;

/**
 * Returns ticks at whole steps, at most one for each part of `room`: the least share of the axis between two of them. They
 * are computed with integers: doubles have neither 1e15 + 0.2 nor the steps of a range of denormal numbers.
 */
export function valueTicks(scale: ValueScale, room: number, bytes?: number): Ticks {
  const apart = Math.max(MIN_ROOM, room);
  if (!(scale.low < scale.high)) return { base: 10, ticks: [], isLogarithmic: false };
  if (scale.isLogarithmic) return powerTicks(scale, apart);
  const isBinary = bytes !== undefined && isOfBytes(scale, bytes);
  return isBinary ? binaryTicks(scale, apart, bytes) : decimalTicks(scale, apart);
}

function decimalTicks({ low, high }: ValueScale, room: number): Ticks {
  const wanted = log10Width(low, high) + Math.log10(room);
  let exponent = Math.floor(wanted + SLACK);
  const least = 10 ** (wanted - exponent) * (1 - SLACK);
  let size: number = STEPS.find((step) => step >= least) ?? 10;
  if (size === 10) [size, exponent] = [1, exponent + 1];
  const ticks = multiples(exactly(low), exactly(high), { digits: BigInt(size), base: 10n, exponent });
  return { base: 10, ticks, isLogarithmic: false };
}

function binaryTicks({ low, high }: ValueScale, room: number, bytes: number): Ticks {
  const exponent = Math.ceil(Math.log2((high - low) * bytes * room) - SLACK);
  const inBytes = (value: number) => {
    const { mantissa, exponent } = exactly(value);
    return { mantissa: mantissa * BigInt(bytes), exponent };
  };
  const ticks = multiples(inBytes(low), inBytes(high), { digits: 1n, base: 2n, exponent });
  return { base: 2, ticks, isLogarithmic: false };
}

function isOfBytes({ low, high }: ValueScale, bytes: number): boolean {
  const [width, size] = [(high - low) * bytes, Math.max(Math.abs(low), Math.abs(high)) * bytes];
  return width >= MIN_BYTES && size <= MAX_BYTES;
}

/** A power of ten in a scale of powers, and those between that have room for a label. */
function powerTicks(scale: ValueScale, room: number): Ticks {
  const [first, last] = [Math.log10(scale.low), Math.log10(scale.high)];
  const decade = 1 / (last - first || 1);
  const isRoomy = (one: number, other: number) => Math.log10(other / one) * decade >= room;
  const within = isRoomy(9, 10)
    ? [1, 2, 3, 4, 5, 6, 7, 8, 9]
    : isRoomy(7, 10)
      ? [1, 2, 3, 5, 7]
      : isRoomy(5, 10)
        ? [1, 2, 5]
        : [1];
  const step = within.length > 1 ? 1 : Math.max(1, Math.ceil(room / decade));
  const ticks: Tick[] = [];
  for (let power = Math.floor(first / step) * step; power <= last + SLACK; power += step)
    for (const digit of within) {
      const share = (Math.log10(digit) + power - first) * decade;
      if (share >= -SLACK && share <= 1 + SLACK)
        ticks.push({ digits: BigInt(digit), exponent: power, share });
    }
  if (ticks.length > 1) return { base: 10, ticks, isLogarithmic: true };
  // A part of a decade has even steps.
  const even = decimalTicks(scale, room).ticks;
  const placed = even.map((tick) => ({
    ...tick,
    share: scale.share(Number(`${tick.digits}e${tick.exponent}`)),
  }));
  return { base: 10, ticks: placed.filter(({ share }) => share >= 0), isLogarithmic: false };
}

/** A number that is a whole number of powers of two, as each double is. */
interface Dyadic {
  readonly mantissa: bigint;
  readonly exponent: number;
}

interface Step {
  readonly digits: bigint;
  readonly base: 2n | 10n;
  readonly exponent: number;
}

/** Returns the multiples of a step in a range. */
function multiples(low: Dyadic, high: Dyadic, { digits, base, exponent }: Step): Tick[] {
  // All three as whole numbers of one power.
  const bits = Math.max(0, -low.exponent, -high.exponent);
  const places = Math.max(0, -exponent);
  const whole = (base ** BigInt(places)) << BigInt(bits);
  const [from, to] = [low, high].map(({ mantissa, exponent: at }) =>
    at >= 0 ? (mantissa << BigInt(at)) * whole : (mantissa * whole) >> BigInt(-at),
  );
  const step = (digits * base ** BigInt(exponent + places)) << BigInt(bits);
  // The double of 0.1 is a little more than a tenth, which is a tick of its axis nevertheless.
  const slack = (to - from) >> SLACK_BITS;
  const ticks: Tick[] = [];
  for (let index = ceilingOf(from - slack, step); index * step <= to + slack; index++) {
    const share = Number(((index * step - from) << SHARE_BITS) / (to - from)) / 2 ** Number(SHARE_BITS);
    ticks.push({ digits: index * digits, exponent, share: Math.min(1, Math.max(0, share)) });
  }
  return ticks;
}

function ceilingOf(number: bigint, by: bigint): bigint {
  const cut = number / by;
  return cut * by < number ? cut + 1n : cut;
}

/** Logarithm of the width of a range, whose double may be infinite. */
function log10Width(low: number, high: number): number {
  const width = high - low;
  return Number.isFinite(width) ? Math.log10(width) : Math.log10(high / 4 - low / 4) + Math.log10(4);
}

const FRACTION_BITS = 52n;
const bytesOf = new DataView(new ArrayBuffer(8));

/** Returns the exact value of a finite double. */
function exactly(value: number): Dyadic {
  if (value === 0) return { mantissa: 0n, exponent: 0 };
  bytesOf.setFloat64(0, Math.abs(value));
  const bits = bytesOf.getBigUint64(0);
  const biased = Number(bits >> FRACTION_BITS);
  const fraction = bits & ((1n << FRACTION_BITS) - 1n);
  // Denormal numbers have no leading one.
  const mantissa = biased === 0 ? fraction : fraction | (1n << FRACTION_BITS);
  return { mantissa: value < 0 ? -mantissa : mantissa, exponent: Math.max(1, biased) - 1075 };
}
