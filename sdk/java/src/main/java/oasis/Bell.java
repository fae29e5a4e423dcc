package oasis;

import java.util.concurrent.locks.LockSupport;

/**
 * Wakes the collector of a node, which sleeps while all pushed probes are silent. While probes are flushed, the collector polls their rings, and a flush only
 * reads whether it sleeps.
 */
final class Bell {
    /** Interval of polls, in nanoseconds: the longest wait of a pushed sample while the collector is awake. */
    static final long POLL_INTERVAL = 2_000_000;
    /** Silence after which the collector sleeps. Probes that are flushed more often never wake it. */
    static final long SILENCE = 40_000_000;
    /** Time between setting the bell and the last poll before the sleep: stores of other processors are visible long before. */
    private static final long SETTLE_TIME = 1_000_000;
    /** Longest sleep: bounds the delay of a sample should its flush not have woken the collector. */
    private static final long MAX_SLEEP = 250_000_000;

    private volatile boolean isAsleep;
    private volatile Thread collector;
    /** When the last sample came, or the bell was set. Only the collector reads it. */
    private long since = System.nanoTime();
    private State state = State.AWAKE;

    private enum State { AWAKE, SETTLING, ASLEEP }

    /** Has the bell wake the calling thread. */
    void connect() {
        collector = Thread.currentThread();
    }

    /** Wakes the collector. */
    void ring() {
        LockSupport.unpark(collector);
    }

    /** Wakes the collector after a flush if it sleeps. */
    void ringIfAsleep() {
        if (isAsleep) {
            isAsleep = false;
            ring();
        }
    }

    /** Returns when the rings are polled next, after a poll that has found samples or not. For the collector. */
    long nextPoll(long now, boolean hasSamples) {
        boolean wasWoken = state != State.AWAKE && !isAsleep;
        if (hasSamples || wasWoken) {
            isAsleep = false;
            state = State.AWAKE;
            since = now;
        } else if (state == State.AWAKE && now - since >= SILENCE) {
            isAsleep = true;
            state = State.SETTLING;
            since = now;
        } else if (state == State.SETTLING && now - since >= SETTLE_TIME) {
            state = State.ASLEEP;
        }
        return now + (state == State.ASLEEP ? MAX_SLEEP : POLL_INTERVAL);
    }
}
