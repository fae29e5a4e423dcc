package oasis;

import java.util.ArrayList;
import java.util.List;
import oasis.MetricType.Primitive;

/**
 * A native batch (docs/reference/native-batch.md): samples of one instance with consecutive sequence numbers.
 *
 * @param header the head
 * @param samples the samples, in the order of their numbers
 * @param <S> the class of the samples
 */
public record Batch<S>(Header header, List<Timed<S>> samples) {
    /** Bytes before the directory. */
    static final int HEADER = 48;
    /** Largest batch. */
    static final int MAX_BYTES = 1024 * 1024;
    /** Most samples of a batch. */
    static final int MAX_SAMPLES = 65_535;
    private static final int MAX_VALUES = 4 * 1024 * 1024;

    /**
     * The head of a batch. Numbers of 64 bits are unsigned.
     *
     * @param state the probe's state; 0 is normal
     * @param topic the topic of the instance, 0 while unknown
     * @param firstSequence the sequence number of the first sample
     * @param offset the offset of the first sample in the topic log
     * @param nodeTime the node's clock when the batch was encoded, nanoseconds since 1970-01-01 UTC
     * @param dacTime the DAC's clock when it arrived
     * @param droppedBefore samples dropped between the batch before and this one, unsigned
     * @param count samples
     */
    public record Header(int state, int topic, long firstSequence, long offset, long nodeTime, long dacTime, int droppedBefore, int count) {}

    /**
     * A sample with its time.
     *
     * @param time nanoseconds since 1970-01-01 UTC
     * @param sample the sample
     * @param <S> the class of the sample
     */
    public record Timed<S>(long time, S sample) {}

    /**
     * Decodes a batch.
     *
     * @throws DecodeException if the bytes are no batch of this type
     */
    public static <S> Batch<S> decode(byte[] bytes, SampleType<S> type) {
        if (bytes.length > MAX_BYTES) {
            throw new DecodeException(MAX_BYTES, "a batch of " + bytes.length + " bytes, the limit is " + MAX_BYTES);
        }
        Reader from = new Reader.Row(bytes);
        List<ProbeType.Field> metrics = type.type().metrics();
        Header header = header(from, 1 + metrics.size());
        int directory = from.take(1 + metrics.size());
        long[] times = Columns.getIntegers(bytes[directory], header.count, Primitive.INT64, header.nodeTime, from);
        List<Column> columns = new ArrayList<>();
        for (int index = 0; index < metrics.size(); index++) {
            columns.add(Column.read(bytes[directory + 1 + index], header.count, metrics.get(index).type(), from));
        }
        from.finish();
        List<Timed<S>> samples = new ArrayList<>(header.count);
        Writer row = new Writer.Row(MAX_BYTES);
        for (int index = 0; index < header.count; index++) {
            row.clear();
            for (Column column : columns) {
                column.append(index, bytes, row);
            }
            samples.add(new Timed<>(times[index], type.read(new Reader.Row(row.bytes, 0, row.length))));
        }
        return new Batch<>(header, samples);
    }

    private static Header header(Reader from, int columns) {
        if (from.left() < HEADER) {
            throw new DecodeException(from.left(), "a batch of " + from.left() + " bytes has no head");
        }
        int kind = (int) from.little(1);
        int version = (int) from.little(1);
        if (kind != 1 || version != 1) {
            throw new DecodeException(0, "expected a batch of version 1, got kind " + kind + ", version " + version);
        }
        Header header = new Header((int) from.little(2), (int) from.little(4), from.little(8), from.little(8), from.little(8), from.little(8),
                (int) from.little(4), (int) from.little(2));
        int found = (int) from.little(2);
        if (header.count == 0 || (long) header.count * found > MAX_VALUES) {
            throw new DecodeException(44, header.count + " samples of " + found + " columns: expected 1 to " + MAX_VALUES + " values");
        }
        if (found != columns) {
            throw new DecodeException(46, "expected " + columns + " columns, got " + found);
        }
        return header;
    }

    /** A decoded column: numbers, or where the value of each sample ends in the batch. */
    private record Column(MetricType type, long[] values, int start) {
        static Column read(int encoding, int count, MetricType type, Reader from) {
            if (type.width() == 0) {
                if (encoding != Columns.ROWS) {
                    throw new DecodeException(from.at, "encoding " + encoding + " is not for texts, vectors and structs");
                }
                int start = from.at;
                long[] ends = new long[count];
                for (int index = 0; index < count; index++) {
                    Codec.skip(type, from);
                    ends[index] = from.at;
                }
                return new Column(type, ends, start);
            }
            Primitive number = (Primitive) type;
            long[] values = number.isReal() ? Columns.getReals(encoding, count, number, from) : Columns.getIntegers(encoding, count, number, 0, from);
            return new Column(type, values, 0);
        }

        void append(int index, byte[] bytes, Writer row) {
            if (type.width() > 0) {
                row.little(values[index], type.width());
            } else {
                int from = index == 0 ? start : (int) values[index - 1];
                row.octets(bytes, from, (int) values[index] - from);
            }
        }
    }
}
