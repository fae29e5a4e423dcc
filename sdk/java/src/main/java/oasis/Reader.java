package oasis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Reads what a {@link Writer} has written. Allocates nothing on the word of a length. */
abstract sealed class Reader {
    final byte[] bytes;
    final int end;
    int at;

    private Reader(byte[] bytes, int at, int end) {
        this.bytes = bytes;
        this.at = at;
        this.end = end;
    }

    abstract long fixed(int width);

    /** Reads the number of elements of a vector; each takes at least one byte. */
    abstract int count();

    abstract String text();

    final int left() {
        return end - at;
    }

    /** Advances past bytes, and returns where they begin. */
    final int take(long count) {
        if (count < 0 || count > left()) {
            throw new DecodeException(at, "expected " + Long.toUnsignedString(count) + " bytes, " + left() + " left");
        }
        int from = at;
        at += (int) count;
        return from;
    }

    final void finish() {
        if (left() > 0) {
            throw new DecodeException(at, left() + " bytes after the last value");
        }
    }

    /** Reads bytes of a number, the least significant first, without sign. */
    final long little(int width) {
        int from = take(width);
        long value = 0;
        for (int index = width - 1; index >= 0; index--) {
            value = value << 8 | bytes[from + index] & 0xff;
        }
        return value;
    }

    /** Reads an unsigned LEB128. */
    final long varint() {
        int start = at;
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int octet = bytes[take(1)];
            if (shift == 63 && (octet & 0xff) > 1) {
                break;
            }
            value |= (octet & 0x7fL) << shift;
            if (octet >= 0) {
                return value;
            }
        }
        throw new DecodeException(start, "a varint of more than 64 bits");
    }

    final boolean truth() {
        int octet = bytes[take(1)];
        if (octet != 0 && octet != 1) {
            throw new DecodeException(at - 1, "a boolean is " + (octet & 0xff));
        }
        return octet == 1;
    }

    final String utf8(int length) {
        int from = take(length);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, length)).toString();
        } catch (CharacterCodingException invalid) {
            throw new DecodeException(from, "a text is not UTF-8");
        }
    }

    final int checkedCount(long count) {
        if (count < 0 || count > left()) {
            throw new DecodeException(at, "a vector of " + Long.toUnsignedString(count) + " elements, " + left() + " bytes left");
        }
        return (int) count;
    }

    /** A packed row, and the columns of a batch. */
    static final class Row extends Reader {
        Row(byte[] bytes) {
            this(bytes, 0, bytes.length);
        }

        Row(byte[] bytes, int from, int end) {
            super(bytes, from, end);
        }

        @Override
        long fixed(int width) {
            return little(width);
        }

        @Override
        int count() {
            return checkedCount(varint());
        }

        @Override
        String text() {
            return utf8(checkedCount(varint()));
        }
    }

    /** Common Data Representation. The bytes of the padding do not matter. */
    static final class Cdr extends Reader {
        private final boolean isBig;

        Cdr(byte[] bytes, ByteOrder order) {
            super(bytes, 0, bytes.length);
            isBig = order == ByteOrder.BIG_ENDIAN;
        }

        void align(int alignment) {
            take(Math.floorMod(-at, alignment));
        }

        @Override
        long fixed(int width) {
            align(width);
            long value = little(width);
            return isBig ? Long.reverseBytes(value) >>> (64 - 8 * width) : value;
        }

        @Override
        int count() {
            return checkedCount(fixed(4));
        }

        @Override
        String text() {
            int length = checkedCount(fixed(4));
            if (length == 0 || bytes[at + length - 1] != 0) {
                throw new DecodeException(at, "a string does not end with NUL");
            }
            String text = utf8(length - 1);
            take(1);
            return text;
        }
    }
}
