package oasis;

import java.lang.ref.WeakReference;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A probe that the program flushes, from any of its threads. No method waits, and none throws.
 *
 * @param <S> the class of the samples
 */
public final class PushedProbe<S> {
    /** Weak: a thread of a server lives longer than the class loader of a program, and must not keep it. */
    private static final ThreadLocal<WeakReference<Scratch>> SCRATCH = new ThreadLocal<>();

    private final SampleType<S> type;
    private final Ring ring;
    private final Bell bell;
    private volatile boolean enabled = true;
    private volatile int state;
    /** Why the first sample since the node looked was invalid. */
    private final AtomicReference<String> problem = new AtomicReference<>();

    PushedProbe(SampleType<S> type, Ring ring, Bell bell) {
        this.type = type;
        this.ring = ring;
        this.bell = bell;
    }

    /** A buffer of a thread. */
    private static final class Scratch {
        private final Writer row = new Writer.Row(SampleType.MAX_ROW);
        /** Set while a row is written: an accessor of a sample may flush another probe. */
        private boolean isUsed;

        static Scratch ofThread() {
            WeakReference<Scratch> known = SCRATCH.get();
            Scratch scratch = known == null ? null : known.get();
            if (scratch == null) {
                scratch = new Scratch();
                SCRATCH.set(new WeakReference<>(scratch));
            }
            return scratch;
        }
    }

    /** Returns nanoseconds since 1970-01-01 UTC by the clock that samples are stamped with. */
    public static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }

    /**
     * Takes a sample now. A sample that finds the ring full is dropped, counted, and reported to the DAC; so is a sample with a value that its metric cannot
     * carry, and the node logs why.
     *
     * @return whether the sample was taken; {@code true} if the probe is disabled, and wants none; {@code false} once the node is closed
     */
    public boolean flush(S sample) {
        return !enabled || flushAt(now(), sample);
    }

    /** Takes a sample like {@link #flush} at a time, in nanoseconds since 1970-01-01 UTC. */
    public boolean flushAt(long time, S sample) {
        if (!enabled) {
            return true;
        }
        Scratch scratch = Scratch.ofThread();
        if (scratch.isUsed) {
            return write(time, sample, new Writer.Row(SampleType.MAX_ROW));
        }
        scratch.isUsed = true;
        try {
            return write(time, sample, scratch.row);
        } finally {
            scratch.isUsed = false;
        }
    }

    private boolean write(long time, S sample, Writer row) {
        row.clear();
        try {
            type.write(sample, row);
        } catch (Throwable failed) { // of the sample's class: the watched thread must not end for its instruments
            problem.compareAndSet(null, String.valueOf(failed.getMessage() == null ? failed : failed.getMessage()));
            push(time, row, -1);
            return false;
        }
        return push(time, row, row.length);
    }

    private boolean push(long time, Writer row, int length) {
        boolean hadRoom = ring.push(time, state, row.bytes, length);
        bell.ringIfAsleep();
        return hadRoom;
    }

    /** Sets the state of all following samples, 0 to 65,535. 0 is normal; the program defines the others. */
    public void setState(int state) {
        this.state = state & 0xffff;
    }

    /** Returns whether samples are taken: a command may have disabled the probe. */
    public boolean isEnabled() {
        return enabled;
    }

    void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    Ring ring() {
        return ring;
    }

    /** Returns why samples were invalid since the last call, if any was. */
    String takeProblem() {
        return problem.getAndSet(null);
    }
}
