package oasis;

import java.util.List;

/**
 * A probe type, and how its samples become bytes.
 *
 * @param <S> the class of the samples
 */
public final class SampleType<S> {
    /** Longest packed row. */
    static final int MAX_ROW = 512 * 1024;

    private final ProbeType type;
    private final Codec codec;

    SampleType(ProbeType type, Codec codec) {
        this.type = type;
        this.codec = codec;
    }

    /**
     * Makes the type of a record class: a component is a metric.
     *
     * @throws IllegalArgumentException if a component has no type of PDL
     */
    public static <R extends Record> SampleType<R> of(Class<R> record) {
        return Records.sampleType(record);
    }

    /** Makes the samples of a type that is known only at run time lists: a value for each metric; lists for vectors and structs. */
    public static SampleType<List<Object>> of(ProbeType type) {
        Codec codec = new Codec.Members(type.name(), type.metrics().stream().map(metric -> Codec.boxed(metric.type(), type.name() + "." + metric.name())).toList());
        return new SampleType<>(type, codec);
    }

    /**
     * Makes the type of a record class with the identity, units and limits of a type from PDL.
     *
     * @throws IllegalArgumentException if the components are other metrics
     */
    public static <R extends Record> SampleType<R> of(Class<R> record, ProbeType type) {
        SampleType<R> own = of(record);
        String wanted = layout(type);
        String found = layout(own.type);
        if (!wanted.equals(found)) {
            throw new IllegalArgumentException(record.getSimpleName() + " has other metrics than " + type.name() + ": expected " + wanted + ", got " + found);
        }
        return new SampleType<>(type, own.codec);
    }

    private static String layout(ProbeType type) {
        return type.metrics().stream().map(metric -> metric.name() + " " + metric.type().layout()).toList().toString();
    }

    /** Returns the probe type. */
    public ProbeType type() {
        return type;
    }

    /**
     * Encodes a sample as a packed row (docs/reference/native-batch.md).
     *
     * @throws EncodeException if a metric cannot carry its value
     */
    public byte[] toRow(S sample) {
        Writer row = new Writer.Row(MAX_ROW);
        write(sample, row);
        return row.toBytes();
    }

    /**
     * Decodes a packed row.
     *
     * @throws DecodeException if the bytes are no row of this type
     */
    public S fromRow(byte[] row) {
        Reader reader = new Reader.Row(row);
        S sample = read(reader);
        reader.finish();
        return sample;
    }

    void write(S sample, Writer to) {
        codec.write(sample, to);
    }

    @SuppressWarnings("unchecked") // the codec was made for this class
    S read(Reader from) {
        return (S) codec.read(from);
    }
}
