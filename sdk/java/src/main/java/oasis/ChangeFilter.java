package oasis;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import oasis.MetricType.Primitive;

/** For a probe on change: a sample is kept only if a metric has moved by more than its deadband since the last kept one. */
final class ChangeFilter {
    private final List<ProbeType.Field> metrics;
    /** NaN if every change counts. */
    private final double[] deadbands;
    private byte[] last;

    ChangeFilter(ProbeType type, Map<String, Double> deadbands) {
        metrics = type.metrics();
        this.deadbands = new double[metrics.size()];
        Arrays.fill(this.deadbands, Double.NaN);
        deadbands.forEach(this::set);
    }

    /**
     * Sets the deadband of a metric in its unit; with null every change counts.
     *
     * @throws IllegalArgumentException if there is no such metric, it is no number, or the deadband is below 0
     */
    void set(String metric, Double deadband) {
        for (int index = 0; index < deadbands.length; index++) {
            if (metrics.get(index).name().equals(metric)) {
                if (deadband != null && !(metrics.get(index).type() instanceof Primitive type && type.isNumber())) {
                    throw new IllegalArgumentException("metric \"" + metric + "\" is not a number: it cannot have a deadband");
                }
                if (deadband != null && !(deadband >= 0)) {
                    throw new IllegalArgumentException("deadband of metric \"" + metric + "\" is " + deadband + ": use 0 or more");
                }
                deadbands[index] = deadband == null ? Double.NaN : deadband;
                return;
            }
        }
        throw new IllegalArgumentException("the probe has no metric \"" + metric + "\"");
    }

    /** Forgets the last sample: a new DAC has none. */
    void renew() {
        last = null;
    }

    /** Returns whether a row must be kept. One that does not fit its type is, so that it is reported. */
    boolean isChange(byte[] row, int length) {
        if (last == null) {
            return true;
        }
        try {
            Reader was = new Reader.Row(last);
            Reader is = new Reader.Row(row, 0, length);
            for (int index = 0; index < deadbands.length; index++) {
                if (hasMoved(metrics.get(index).type(), deadbands[index], was, is)) {
                    return true;
                }
            }
            return is.left() > 0;
        } catch (DecodeException misfit) {
            return true;
        }
    }

    void keep(byte[] row, int length) {
        last = Arrays.copyOf(row, length);
    }

    private static boolean hasMoved(MetricType type, double deadband, Reader was, Reader is) {
        int before = was.at;
        int now = is.at;
        Codec.skip(type, was);
        Codec.skip(type, is);
        boolean isSame = Arrays.equals(was.bytes, before, was.at, is.bytes, now, is.at);
        if (isSame || Double.isNaN(deadband)) {
            return !isSame;
        }
        Primitive number = (Primitive) type;
        double distance = Math.abs(number(number, is.bytes, now) - number(number, was.bytes, before));
        return distance > deadband || Double.isNaN(distance);
    }

    /** Reads a number of a row. 64-bit integers lose their last digits, which no deadband needs. */
    static double number(Primitive type, byte[] row, int at) {
        long bits = new Reader.Row(row, at, row.length).little(type.width());
        int unused = 64 - 8 * type.width();
        return switch (type) {
            case REAL32 -> Float.intBitsToFloat((int) bits);
            case REAL64 -> Double.longBitsToDouble(bits);
            case UINT64 -> bits >= 0 ? bits : (bits >>> 1) * 2.0;
            default -> type.isSigned() ? bits << unused >> unused : bits;
        };
    }
}
