package oasis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import oasis.Filling.NewBatch;
import oasis.MetricType.Primitive;

/** The flight recorder of one instance: samples wait in a bounded memory, and only those around a trigger are sent. */
final class Recorder {
    /** Memory of a sample besides its row. */
    private static final int OVERHEAD = 64;

    private final long before;
    private final long after;
    private final int limit;
    private final List<Watch> watches = new ArrayList<>();
    private final List<ProbeType.Field> metrics;
    private final ArrayDeque<Filling.Sample> held = new ArrayDeque<>();
    private long bytes;
    /** Samples taken before this time are sent at once. */
    private long openUntil;
    /** Samples that left the memory unsent since the last sent one, and those that were missing before them. */
    private Missing missing = new Missing();

    Recorder(ProbeType type, FlightRecorder settings) {
        before = settings.before().toNanos();
        after = settings.after().toNanos();
        limit = settings.bytes();
        metrics = type.metrics();
        settings.triggers().forEach(text -> watches.add(Watch.parse(text, type)));
    }

    Map<String, Object> span() {
        return Json.object("before_s", before / 1e9, "after_s", after / 1e9);
    }

    /** Handles a sample: keeps it, or sends it if a trigger has fired recently. */
    void take(Filling.Sample sample, Filling filling, List<NewBatch> out) {
        boolean fires = isCrossedBy(sample);
        if (fires) {
            fire(sample.time, filling, out);
        }
        if (fires || sample.time < openUntil) {
            send(sample, filling, out);
        } else {
            hold(sample);
        }
    }

    /** Counts a sample without a row. */
    void miss(Missing more) {
        missing.add(more);
    }

    /** Sends the kept samples, and those of the following seconds. */
    void fire(long time, Filling filling, List<NewBatch> out) {
        forget(time);
        while (!held.isEmpty()) {
            send(pop(), filling, out);
        }
        openUntil = time + after;
    }

    private void send(Filling.Sample sample, Filling filling, List<NewBatch> out) {
        sample.before.add(missing);
        missing = new Missing();
        filling.take(sample, out);
    }

    private void hold(Filling.Sample sample) {
        Filling.Sample copy = new Filling.Sample();
        copy.sequence = sample.sequence;
        copy.time = sample.time;
        copy.state = sample.state;
        copy.before = sample.before.copy();
        copy.row = Arrays.copyOf(sample.row, sample.length);
        copy.length = sample.length;
        held.add(copy);
        bytes += copy.length + OVERHEAD;
        forget(sample.time);
    }

    private Filling.Sample pop() {
        Filling.Sample sample = held.remove();
        bytes -= sample.length + OVERHEAD;
        return sample;
    }

    /** Evicts samples that are too old or exceed the memory. */
    private void forget(long now) {
        while (!held.isEmpty() && (held.peek().time < now - before || bytes > limit)) {
            missing.add(pop().before);
            missing.keptBack++;
        }
    }

    private boolean isCrossedBy(Filling.Sample sample) {
        if (watches.isEmpty()) {
            return false;
        }
        boolean isCrossed = false;
        try {
            Reader row = new Reader.Row(sample.row, 0, sample.length);
            for (int index = 0; index < metrics.size(); index++) {
                int at = row.at;
                Codec.skip(metrics.get(index).type(), row);
                for (Watch watch : watches) {
                    isCrossed |= watch.metric == index && watch.sees(ChangeFilter.number(watch.type, sample.row, at));
                }
            }
        } catch (DecodeException misfit) {
            return false;
        }
        return isCrossed;
    }

    /** A limit of a metric. It fires when a sample is beyond it and the one before was not. */
    private static final class Watch {
        private final int metric;
        private final Primitive type;
        private final boolean isAbove;
        private final double limit;
        private boolean isBeyond;

        private Watch(int metric, Primitive type, boolean isAbove, double limit) {
            this.metric = metric;
            this.type = type;
            this.isAbove = isAbove;
            this.limit = limit;
        }

        static Watch parse(String text, ProbeType of) {
            String[] parts = text.split("[<>]", 2);
            double limit;
            try {
                limit = Double.parseDouble(parts[1].trim());
            } catch (ArrayIndexOutOfBoundsException | NumberFormatException invalid) {
                throw new IllegalArgumentException("invalid trigger \"" + text + "\": use `metric > limit` or `metric < limit`, for example `temperature > 90`", invalid);
            }
            String name = parts[0].trim();
            for (int index = 0; index < of.metrics().size(); index++) {
                if (of.metrics().get(index).name().equals(name)) {
                    if (of.metrics().get(index).type() instanceof Primitive type && type.isNumber()) {
                        return new Watch(index, type, text.charAt(parts[0].length()) == '>', limit);
                    }
                    throw new IllegalArgumentException("metric \"" + name + "\" is not a number: it cannot cross a limit");
                }
            }
            throw new IllegalArgumentException("the probe has no metric \"" + name + "\"");
        }

        boolean sees(double number) {
            boolean was = isBeyond;
            isBeyond = isAbove ? number > limit : number < limit;
            return isBeyond && !was;
        }
    }
}
