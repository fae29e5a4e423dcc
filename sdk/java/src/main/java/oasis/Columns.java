package oasis;

/** The encodings of one column of a batch (docs/reference/native-batch.md): 64 bits a value, integers widened, reals as their bits. */
final class Columns {
    static final int PLAIN = 0;
    static final int DELTA = 1;
    static final int RICE = 2;
    static final int XOR = 3;
    static final int ROWS = 4;
    static final int CONSTANT = 5;

    /** Largest parameter of {@code rice}: leaves room for a quotient in 64 bits. */
    private static final int MAX_K = 56;
    /** A quotient of so many ones is followed by the whole residual. */
    private static final int ESCAPE = 24;

    private Columns() {}

    static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }

    /** Writes integers in the smallest encoding, and returns it. */
    static int putIntegers(long[] values, int count, int width, long base, Writer to) {
        int changes = 0;
        for (int index = 1; index < count; index++) {
            changes += values[index] == values[index - 1] ? 0 : 1;
        }
        if (changes == 0) {
            to.varint(zigzag(values[0] - base));
            return CONSTANT;
        }
        int plain = count * width;
        // If most values repeat, runs are smaller than a code for each value.
        if (changes * 4 <= count) {
            int from = to.length;
            putDelta(values, count, base, to);
            if (to.length - from <= plain) {
                return DELTA;
            }
            to.length = from;
            return putPlain(values, count, width, to);
        }
        long step = step(values, count);
        int k = parameter(values, count, step);
        long rice = riceSize(values, count, base, step, k);
        int from = to.length;
        putDelta(values, count, base, to);
        int delta = to.length - from;
        if (plain >= Math.min(rice, delta) && delta <= rice) {
            return DELTA;
        }
        to.length = from;
        if (plain < Math.min(rice, delta)) {
            return putPlain(values, count, width, to);
        }
        putRice(values, count, base, step, k, to);
        return RICE;
    }

    /** Writes reals in the smallest encoding, and returns it. */
    static int putReals(long[] values, int count, int width, Writer to) {
        int from = to.length;
        putXor(values, count, width, to);
        if (to.length - from < count * width) {
            return XOR;
        }
        to.length = from;
        return putPlain(values, count, width, to);
    }

    static int putPlain(long[] values, int count, int width, Writer to) {
        to.align(width);
        for (int index = 0; index < count; index++) {
            to.little(values[index], width);
        }
        return PLAIN;
    }

    static void putDelta(long[] values, int count, long base, Writer to) {
        long before = values[0];
        to.varint(zigzag(before - base));
        long run = 0;
        for (int index = 1; index < count; index++) {
            long delta = values[index] - before;
            before = values[index];
            if (delta == 0) {
                run++;
                continue;
            }
            if (delta == 1 || delta == 2) {
                to.varint(run * 4 + delta);
            } else if (delta == -1) {
                to.varint(run * 4 + 3);
            } else {
                to.varint(run * 4);
                to.varint(zigzag(delta));
            }
            run = 0;
        }
        if (run > 0) {
            to.varint(run * 4);
        }
    }

    static void putXor(long[] values, int count, int width, Writer to) {
        long before = 0;
        long run = 0;
        for (int index = 0; index < count; index++) {
            if (values[index] == before) {
                run++;
                continue;
            }
            to.varint(run);
            to.varint(swap(values[index] ^ before, width));
            before = values[index];
            run = 0;
        }
        if (run > 0) {
            to.varint(run);
        }
    }

    /** Writes {@code rice} with the step and parameter that suit the values. */
    static void putRice(long[] values, int count, long base, Writer to) {
        if (count == 1) {
            to.varint(zigzag(values[0] - base));
            return;
        }
        long step = step(values, count);
        putRice(values, count, base, step, parameter(values, count, step), to);
    }

    private static void putRice(long[] values, int count, long base, long step, int k, Writer to) {
        to.varint(zigzag(values[0] - base));
        to.varint(zigzag(step));
        to.octet(k);
        BitWriter bits = new BitWriter(to);
        for (int index = 1; index < count; index++) {
            long residual = zigzag(values[index] - values[index - 1] - step);
            long quotient = residual >>> k;
            if (Long.compareUnsigned(quotient, ESCAPE) < 0) {
                // Ones, and the zero after them.
                bits.put((1L << quotient) - 1, (int) quotient + 1);
                bits.putLong(residual & (1L << k) - 1, k);
            } else {
                bits.put((1L << ESCAPE) - 1, ESCAPE);
                bits.putLong(residual, 64);
            }
        }
        bits.finish();
    }

    private static long step(long[] values, int count) {
        return (values[count - 1] - values[0]) / (count - 1);
    }

    /** The best parameter of a geometric distribution is about log2(mean * ln 2). */
    private static int parameter(long[] values, int count, long step) {
        long sum = 0;
        for (int index = 1; index < count; index++) {
            long more = sum + zigzag(values[index] - values[index - 1] - step);
            sum = Long.compareUnsigned(more, sum) < 0 ? -1 : more;
            if (sum == -1) {
                break;
            }
        }
        long mean = Long.divideUnsigned(sum, count - 1);
        return Math.min(MAX_K, Math.max(0, 63 - Long.numberOfLeadingZeros(mean - (mean >>> 2))));
    }

    private static long riceSize(long[] values, int count, long base, long step, int k) {
        long bits = 0;
        for (int index = 1; index < count; index++) {
            long quotient = zigzag(values[index] - values[index - 1] - step) >>> k;
            bits += Long.compareUnsigned(quotient, ESCAPE) < 0 ? quotient + 1 + k : ESCAPE + 64;
        }
        return varintLength(zigzag(values[0] - base)) + varintLength(zigzag(step)) + 1 + (bits + 7) / 8;
    }

    private static int varintLength(long value) {
        return Math.max(1, (70 - Long.numberOfLeadingZeros(value)) / 7);
    }

    /** Reverses the bytes of a value of this width: low zero bytes then cost nothing. */
    private static long swap(long bits, int width) {
        return Long.reverseBytes(bits) >>> (64 - 8 * width);
    }

    /** Fills bytes from their least significant bit. */
    private static final class BitWriter {
        private final Writer to;
        private long pending;
        /** Bits pending, under 32 between calls. */
        private int length;

        BitWriter(Writer to) {
            this.to = to;
        }

        /** At most 32 bits. */
        void put(long value, int bits) {
            pending |= value << length;
            length += bits;
            if (length >= 32) {
                to.little(pending, 4);
                pending >>>= 32;
                length -= 32;
            }
        }

        void putLong(long value, int bits) {
            if (bits <= 32) {
                put(value, bits);
            } else {
                put(value & 0xffff_ffffL, 32);
                put(value >>> 32, bits - 32);
            }
        }

        void finish() {
            for (; length > 0; length -= 8) {
                to.octet((int) pending);
                pending >>>= 8;
            }
        }
    }

    /** Reads integers. */
    static long[] getIntegers(int encoding, int count, MetricType.Primitive type, long base, Reader from) {
        int start = from.at;
        long[] values = switch (encoding) {
            case PLAIN -> getPlain(count, type, from);
            case DELTA -> getDelta(count, base, from);
            case RICE -> getRice(count, base, from);
            case CONSTANT -> constant(count, base + unzigzag(from.varint()));
            default -> throw new DecodeException(start, "encoding " + encoding + " is not for " + type.pdlName());
        };
        boolean isTruth = type == MetricType.Primitive.BOOLEAN;
        for (long value : values) {
            if (isTruth ? value != 0 && value != 1 : !type.fits(value)) {
                throw new DecodeException(start, value + " is no " + type.pdlName());
            }
        }
        return values;
    }

    /** Reads reals. */
    static long[] getReals(int encoding, int count, MetricType.Primitive type, Reader from) {
        return switch (encoding) {
            case PLAIN -> getPlain(count, type, from);
            case XOR -> getXor(count, type.width(), from);
            default -> throw new DecodeException(from.at, "encoding " + encoding + " is not for " + type.pdlName());
        };
    }

    private static long[] constant(int count, long value) {
        long[] values = new long[count];
        java.util.Arrays.fill(values, value);
        return values;
    }

    private static long[] getPlain(int count, MetricType.Primitive type, Reader from) {
        int width = type.width();
        from.take(Math.floorMod(-from.at, width));
        if (from.left() < (long) count * width) {
            throw new DecodeException(from.at, "expected " + (long) count * width + " bytes, " + from.left() + " left");
        }
        long[] values = new long[count];
        int unused = 64 - 8 * width;
        for (int index = 0; index < count; index++) {
            long bits = from.little(width);
            values[index] = type.isSigned() ? bits << unused >> unused : bits;
        }
        return values;
    }

    private static long[] getDelta(int count, long base, Reader from) {
        long before = base + unzigzag(from.varint());
        long[] values = new long[count];
        values[0] = before;
        int known = 1;
        while (known < count) {
            int at = from.at;
            long token = from.varint();
            long run = token >>> 2;
            int code = (int) (token & 3);
            if (run > count - known) {
                throw new DecodeException(at, "a run goes past the end of the column");
            }
            java.util.Arrays.fill(values, known, known + (int) run, before);
            known += (int) run;
            if (known == count) {
                if (code != 0) {
                    throw new DecodeException(at, "a value follows the last run");
                }
                break;
            }
            before += code == 0 ? unzigzag(from.varint()) : code == 3 ? -1 : code;
            values[known++] = before;
        }
        return values;
    }

    private static long[] getXor(int count, int width, Reader from) {
        long before = 0;
        long[] values = new long[count];
        int known = 0;
        while (known < count) {
            int at = from.at;
            long run = from.varint();
            if (run < 0 || run > count - known) {
                throw new DecodeException(at, "a run goes past the end of the column");
            }
            java.util.Arrays.fill(values, known, known + (int) run, before);
            known += (int) run;
            if (known == count) {
                break;
            }
            at = from.at;
            long swapped = from.varint();
            if (width == 4 && swapped >>> 32 != 0) {
                throw new DecodeException(at, "more bits than a real32 has");
            }
            before ^= swap(swapped, width);
            values[known++] = before;
        }
        return values;
    }

    private static long[] getRice(int count, long base, Reader from) {
        long value = base + unzigzag(from.varint());
        long[] values = new long[count];
        values[0] = value;
        if (count == 1) {
            return values;
        }
        long step = unzigzag(from.varint());
        int k = from.bytes[from.take(1)] & 0xff;
        if (k > MAX_K) {
            throw new DecodeException(from.at - 1, "the parameter of rice is " + k + ", the limit is " + MAX_K);
        }
        BitReader bits = new BitReader(from);
        for (int index = 1; index < count; index++) {
            int ones = 0;
            while (ones < ESCAPE && bits.get(1) == 1) {
                ones++;
            }
            long residual = ones == ESCAPE ? bits.get(64) : (long) ones << k | bits.get(k);
            value += step + unzigzag(residual);
            values[index] = value;
        }
        bits.finish();
        return values;
    }

    /** Reads bytes from their least significant bit. */
    private static final class BitReader {
        private final Reader from;
        private int octet;
        /** Bits left of {@code octet}. */
        private int held;

        BitReader(Reader from) {
            this.from = from;
        }

        long get(int bits) {
            long value = 0;
            int have = 0;
            while (have < bits) {
                if (held == 0) {
                    octet = from.bytes[from.take(1)] & 0xff;
                    held = 8;
                }
                int taken = Math.min(held, bits - have);
                value |= (octet & (1L << taken) - 1) << have;
                octet >>= taken;
                held -= taken;
                have += taken;
            }
            return value;
        }

        void finish() {
            if (octet != 0) {
                throw new DecodeException(from.at - 1, "the last byte of a column is not padded by zeros");
            }
        }
    }
}
