package oasis;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes the values of a sample one after another: as a packed row, or as CDR for an EISA packet. Bounded. */
abstract sealed class Writer {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** The bytes; those from {@link #length} on have no meaning. */
    byte[] bytes = new byte[256];
    int length;
    private final int limit;

    private Writer(int limit) {
        this.limit = limit;
    }

    final void clear() {
        length = 0;
    }

    final byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    /** Writes the low bytes of a number. */
    abstract void fixed(long value, int width);

    /** Writes the number of elements of a vector. */
    abstract void count(int count);

    abstract void text(String value, String metric);

    /** Writes bytes as they are. */
    final void octets(byte[] octets, int from, int count) {
        room(count);
        System.arraycopy(octets, from, bytes, length, count);
        length += count;
    }

    final void octet(int value) {
        room(1);
        bytes[length++] = (byte) value;
    }

    /** Writes the low bytes of a number, the least significant first. */
    final void little(long value, int width) {
        room(8);
        switch (width) {
            case 1 -> bytes[length] = (byte) value;
            case 2 -> SHORT.set(bytes, length, (short) value);
            case 4 -> INT.set(bytes, length, (int) value);
            default -> LONG.set(bytes, length, value);
        }
        length += width;
    }

    /** Writes an unsigned LEB128. */
    final void varint(long value) {
        room(10);
        long rest = value;
        while ((rest & ~0x7f) != 0) {
            bytes[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    final void align(int alignment) {
        while (length % alignment != 0) {
            octet(0);
        }
    }

    final byte[] utf8(String value, String metric) {
        for (int index = 0; index < value.length(); index++) {
            char one = value.charAt(index);
            if (Character.isSurrogate(one)) {
                // Java would write a question mark for what has no UTF-8.
                if (!Character.isHighSurrogate(one) || index + 1 == value.length() || !Character.isLowSurrogate(value.charAt(index + 1))) {
                    throw new EncodeException(metric, "the text contains half of a surrogate pair");
                }
                index++;
            }
        }
        return value.getBytes(StandardCharsets.UTF_8);
    }

    private void room(int more) {
        if (length + more > bytes.length) {
            if (length + more > limit + 8) {
                throw new EncodeException("sample", "larger than " + limit + " bytes: shorten its texts and vectors");
            }
            bytes = Arrays.copyOf(bytes, Math.min(limit + 8, Math.max(2 * bytes.length, length + more)));
        }
    }

    /** A packed row (docs/reference/native-batch.md), and the bytes of batches. */
    static final class Row extends Writer {
        Row(int limit) {
            super(limit);
        }

        @Override
        void fixed(long value, int width) {
            little(value, width);
        }

        @Override
        void count(int count) {
            varint(count);
        }

        @Override
        void text(String value, String metric) {
            byte[] encoded = utf8(value, metric);
            varint(encoded.length);
            octets(encoded, 0, encoded.length);
        }
    }

    /** Common Data Representation: numbers aligned to their size. */
    static final class Cdr extends Writer {
        private final boolean isBig;

        Cdr(ByteOrder order) {
            super(Integer.MAX_VALUE - 64);
            isBig = order == ByteOrder.BIG_ENDIAN;
        }

        @Override
        void fixed(long value, int width) {
            align(width);
            little(isBig ? Long.reverseBytes(value) >>> (64 - 8 * width) : value, width);
        }

        @Override
        void count(int count) {
            fixed(count, 4);
        }

        @Override
        void text(String value, String metric) {
            byte[] encoded = utf8(value, metric);
            count(encoded.length + 1);
            octets(encoded, 0, encoded.length);
            octet(0);
        }
    }
}
