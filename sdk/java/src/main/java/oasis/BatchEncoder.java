package oasis;

import java.util.Arrays;
import oasis.MetricType.Primitive;

/** Collects the packed rows of one instance and encodes them as a batch. Reuses its memory. */
final class BatchEncoder {
    private final Column[] columns;
    private final Writer out = new Writer.Row(4 * Batch.MAX_BYTES);
    private long[] times = new long[64];
    private int count;
    private int bytesHeld;

    BatchEncoder(ProbeType type) {
        columns = type.metrics().stream().map(metric -> new Column(metric.type())).toArray(Column[]::new);
    }

    int count() {
        return count;
    }

    /** Returns the bytes of the samples, about those of a plain batch. */
    int bytesHeld() {
        return bytesHeld;
    }

    /**
     * Appends a sample. A refused row changes nothing.
     *
     * @throws DecodeException if the row does not fit the type
     */
    void push(long time, byte[] row, int length) {
        Reader check = new Reader.Row(row, 0, length);
        for (Column column : columns) {
            Codec.skip(column.type, check);
        }
        check.finish();
        if (count == times.length) {
            times = Arrays.copyOf(times, 2 * count);
        }
        times[count] = time;
        Reader from = new Reader.Row(row, 0, length);
        for (Column column : columns) {
            column.take(from, count);
        }
        count++;
        bytesHeld += 8 + length;
    }

    /** Returns the batch, and starts the next one. There must be a sample. */
    byte[] finish(int topic, int state, long firstSequence, long nodeTime) {
        return finish(topic, state, firstSequence, nodeTime, null);
    }

    /** As above, in these encodings; without any, in the smallest ones. */
    byte[] finish(int topic, int state, long firstSequence, long nodeTime, int[] encodings) {
        out.clear();
        out.octet(1);
        out.octet(1);
        out.little(state, 2);
        out.little(topic, 4);
        out.little(firstSequence, 8);
        out.little(0, 8);
        out.little(nodeTime, 8);
        out.little(0, 8);
        out.little(0, 4);
        out.little(count, 2);
        out.little(1 + columns.length, 2);
        int directory = out.length;
        out.octets(new byte[1 + columns.length], 0, 1 + columns.length);
        int chosen = put(Primitive.INT64, times, nodeTime, encodings == null ? -1 : encodings[0]);
        out.bytes[directory] = (byte) chosen;
        for (int index = 0; index < columns.length; index++) {
            chosen = columns[index].put(this, encodings == null ? -1 : encodings[1 + index]);
            out.bytes[directory + 1 + index] = (byte) chosen;
            columns[index].rows.clear();
        }
        count = 0;
        bytesHeld = 0;
        return out.toBytes();
    }

    private int put(Primitive type, long[] values, long base, int encoding) {
        int width = type.width();
        switch (encoding) {
            case Columns.PLAIN -> Columns.putPlain(values, count, width, out);
            case Columns.DELTA -> Columns.putDelta(values, count, base, out);
            case Columns.RICE -> Columns.putRice(values, count, base, out);
            case Columns.XOR -> Columns.putXor(values, count, width, out);
            case Columns.CONSTANT -> out.varint(Columns.zigzag(values[0] - base));
            default -> {
                return type.isReal() ? Columns.putReals(values, count, width, out) : Columns.putIntegers(values, count, width, base, out);
            }
        }
        return encoding;
    }

    /** Stamps what only the sender of an encoded batch knows. */
    static void stamp(byte[] batch, int topic, long droppedBefore) {
        int dropped = (int) Math.min(droppedBefore, 0xffff_ffffL);
        for (int index = 0; index < 4; index++) {
            batch[4 + index] = (byte) (topic >>> 8 * index);
            batch[40 + index] = (byte) (dropped >>> 8 * index);
        }
    }

    /** The values of one metric: numbers, or packed values one after another. */
    private static final class Column {
        private final MetricType type;
        private final Writer rows = new Writer.Row(2 * Batch.MAX_BYTES);
        private long[] values = new long[0];

        Column(MetricType type) {
            this.type = type;
        }

        void take(Reader from, int index) {
            if (type instanceof Primitive number && number != Primitive.STRING) {
                if (index == values.length) {
                    values = Arrays.copyOf(values, Math.max(64, 2 * index));
                }
                int unused = 64 - 8 * number.width();
                long bits = from.little(number.width());
                values[index] = number.isSigned() ? bits << unused >> unused : bits;
            } else {
                int start = from.at;
                Codec.skip(type, from);
                rows.octets(from.bytes, start, from.at - start);
            }
        }

        int put(BatchEncoder batch, int encoding) {
            if (type instanceof Primitive number && number != Primitive.STRING) {
                return batch.put(number, values, 0, encoding);
            }
            batch.out.octets(rows.bytes, 0, rows.length);
            return Columns.ROWS;
        }
    }
}
