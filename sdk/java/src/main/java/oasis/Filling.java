package oasis;

import java.lang.System.Logger.Level;
import java.util.List;

/** The batch of one instance that is being filled: samples with consecutive sequence numbers and one state. */
final class Filling {
    /** Most bytes of rows in a batch. */
    private static final int MAX_BYTES = 512 * 1024;

    private final int instance;
    private final String name;
    private final BatchEncoder encoder;
    private final int maxSamples;
    private final long linger;
    private int state;
    private long firstSequence = 1;
    private long nextSequence = 1;
    private Missing before = new Missing();
    private long lastFlush;
    /** Set while samples do not fit their type. */
    private boolean isMisfit;

    Filling(int instance, String name, ProbeType type, int maxSamples, long linger) {
        this.instance = instance;
        this.name = name;
        this.maxSamples = maxSamples;
        this.linger = linger;
        encoder = new BatchEncoder(type);
        // Long ago, so that the first sample does not wait.
        lastFlush = System.nanoTime() - linger;
    }

    /** One sample of any source. */
    static final class Sample {
        long sequence;
        long time;
        int state;
        /** How many samples before it the flight recorder kept back, the node did not take, or were invalid; others the ring dropped. */
        Missing before = new Missing();
        byte[] row;
        int length;
    }

    /** Adds a sample. A gap in the sequence numbers starts a new batch that reports it, and so does another state. */
    void take(Sample sample, List<NewBatch> out) {
        long hole = sample.sequence - nextSequence;
        if (hole > 0 || sample.state != state) {
            flush(out);
            miss(hole, sample.before, before);
            state = sample.state;
        }
        if (encoder.bytesHeld() + sample.length > MAX_BYTES) {
            flush(out);
        }
        if (encoder.count() == 0) {
            firstSequence = sample.sequence;
        }
        nextSequence = sample.sequence + 1;
        try {
            encoder.push(sample.time, sample.row, sample.length);
            isMisfit = false;
        } catch (DecodeException misfit) {
            refuse(misfit.getMessage(), out);
        }
        if (encoder.count() >= maxSamples || encoder.bytesHeld() >= MAX_BYTES) {
            flush(out);
        }
    }

    /** Counts a sample that has a number and no row. */
    void takeInvalid(long sequence, Missing missing, String why, List<NewBatch> out) {
        flush(out);
        miss(sequence - nextSequence, missing, before);
        nextSequence = sequence + 1;
        refuse(why, out);
    }

    private void refuse(String why, List<NewBatch> out) {
        if (!isMisfit) {
            Node.LOG.log(Level.WARNING, "sample of \"{0}\" is refused: {1}: such samples are dropped and counted until one fits", name, why);
        }
        isMisfit = true;
        flush(out);
        before.invalidRow++;
        firstSequence = nextSequence;
    }

    /** Returns what is missing after the last batch, up to a number that no sample on its way here has; nothing if samples wait for the next batch. */
    Missing missingTo(long taken, Missing missing) {
        if (encoder.count() > 0) {
            return new Missing();
        }
        Missing all = before.copy();
        miss(Math.max(0, taken - (nextSequence - 1)), missing, all);
        return all;
    }

    /** Adds samples to those that are missing: for the known causes, others the ring dropped. */
    private static void miss(long samples, Missing missing, Missing before) {
        long notTaken = Math.min(missing.notTaken, samples);
        long keptBack = Math.min(missing.keptBack, samples - notTaken);
        long invalid = Math.min(missing.invalidRow, samples - notTaken - keptBack);
        before.notTaken += notTaken;
        before.keptBack += keptBack;
        before.invalidRow += invalid;
        before.ringFull += samples - notTaken - keptBack - invalid;
    }

    /** Returns when the samples must be sent, by {@code System.nanoTime}; later than any time if there are none. */
    long due(long now) {
        return encoder.count() == 0 ? now + Long.MAX_VALUE / 2 : lastFlush + linger;
    }

    /** Sends the samples if they have waited long enough, or if the stream is idle. */
    void flushIfDue(long now, List<NewBatch> out) {
        if (encoder.count() > 0 && now - lastFlush >= linger) {
            flush(out);
            lastFlush = now;
        }
    }

    void flush(List<NewBatch> out) {
        int count = encoder.count();
        if (count == 0) {
            return;
        }
        byte[] bytes = encoder.finish(0, state, firstSequence, PushedProbe.now());
        out.add(new NewBatch(instance, firstSequence, count, before, bytes));
        before = new Missing();
        firstSequence = nextSequence;
    }

    /**
     * A batch from the collector.
     *
     * @param instance the index of the instance within the node
     * @param firstSequence of its first sample
     * @param count samples
     * @param before samples missing before it
     * @param bytes encoded
     */
    record NewBatch(int instance, long firstSequence, int count, Missing before, byte[] bytes) {}
}
