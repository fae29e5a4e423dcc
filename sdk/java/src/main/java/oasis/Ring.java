package oasis;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The ring between a pushed probe and its node. Any thread pushes and none waits; it is bounded, and drops are counted.
 *
 * <p>A producer claims words by advancing {@code tail}, writes its record, and publishes it by its first word, which is never 0. The node takes records in
 * order, clears their words, and then advances {@code head}. A producer that is suspended before it publishes delays later
 * records in the ring until it continues.
 *
 * <p>A record is three words (state and length, time, samples dropped so far), then the row, padded to whole words.
 */
final class Ring {
    /** Largest ring, in bytes. */
    static final int MAX_BYTES = 1 << 30;

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle BYTES = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int HEAD = 3;
    /** A producer that overwrites tries so often to become the one that takes records; the node does so for the time of a copy. */
    private static final int ATTEMPTS = 100;
    private static final int IS_INVALID = 1 << 16;
    /** Set in {@code tail} when the ring is closed: a producer that has claimed words before publishes them, and no other claims any. */
    private static final long CLOSED = Long.MIN_VALUE;

    private final long[] words;
    private final int mask;
    private final boolean dropsOldest;
    private final AtomicLong tail = new AtomicLong();
    private final AtomicLong head = new AtomicLong();
    /** Samples that found no room. */
    private final AtomicLong refused = new AtomicLong();
    /** Whether a thread takes records: the node, or a producer that overwrites. 1 while one does. */
    private final AtomicLong taking = new AtomicLong();
    /** Guarded by {@code taking}: of {@code refused}, those before the last record taken. */
    private long seen;
    /** Guarded by {@code taking}: records overwritten since the last one that the node has popped. */
    private long overwritten;

    Ring(int bytes, Overflow overflow) {
        int wanted = Math.max(8, (bytes + 7) / 8);
        int capacity = Integer.highestOneBit(wanted) == wanted ? wanted : Integer.highestOneBit(wanted) << 1;
        words = new long[capacity];
        mask = capacity - 1;
        dropsOldest = overflow == Overflow.DROP_OLDEST;
    }

    /** A record that was popped. */
    static final class Record {
        byte[] row = new byte[256];
        int length;
        int state;
        long time;
        /** Samples dropped between the record before and this one. */
        long dropped;
        /** Whether the program gave a sample that its type cannot carry: there is no row. */
        boolean isInvalid;
    }

    /** Adds a sample; counts it if there is no room, and refuses it if the ring is closed. A row of length -1 is that of an invalid sample. */
    boolean push(long time, int state, byte[] row, int length) {
        int rowWords = (Math.max(length, 0) + 7) >>> 3;
        int need = HEAD + rowWords;
        long at = claim(need);
        if (at < 0) {
            if (tail.get() >= 0) {
                refused.incrementAndGet();
            }
            return false;
        }
        words[(int) (at + 1) & mask] = time;
        words[(int) (at + 2) & mask] = refused.getPlain();
        int whole = Math.max(length, 0) >>> 3;
        for (int word = 0; word < whole; word++) {
            words[(int) (at + HEAD + word) & mask] = (long) BYTES.get(row, word << 3);
        }
        if (whole < rowWords) {
            words[(int) (at + HEAD + whole) & mask] = last(row, whole << 3, length);
        }
        long flags = length < 0 ? state | IS_INVALID : state;
        WORDS.setRelease(words, (int) at & mask, flags << 32 | Math.max(length, 0) + 1L);
        return true;
    }

    private static long last(byte[] row, int from, int to) {
        long word = 0;
        for (int index = to - 1; index >= from; index--) {
            word = word << 8 | row[index] & 0xff;
        }
        return word;
    }

    /** Refuses all further samples. */
    void close() {
        tail.getAndUpdate(at -> at | CLOSED);
    }

    /** Returns whether all records were taken, also those that are being written. */
    boolean isEmpty() {
        return head.get() == (tail.get() & ~CLOSED);
    }

    /** Returns the place of so many words, or -1. */
    private long claim(int need) {
        while (true) {
            long at = tail.get();
            if (at < 0) {
                return -1;
            }
            if (at + need - head.getAcquire() <= words.length) {
                if (tail.compareAndSet(at, at + need)) {
                    return at;
                }
            } else if (need > words.length || !dropsOldest || !makeRoom(need)) {
                return -1;
            }
        }
    }

    /** Drops the oldest records until there is room. Returns whether this thread could. */
    private boolean makeRoom(int need) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (taking.compareAndSet(0, 1)) {
                try {
                    while (tail.get() + need - head.get() > words.length) {
                        if (!take(null)) {
                            return false;
                        }
                        overwritten++;
                    }
                    return true;
                } finally {
                    taking.setRelease(0);
                }
            }
            Thread.onSpinWait();
        }
        return false;
    }

    /** Moves the oldest sample to {@code into}. Returns whether there was one. For the node's thread. */
    boolean pop(Record into) {
        if (!taking.compareAndSet(0, 1)) {
            return false; // a producer makes room: the node looks again soon
        }
        try {
            into.dropped = 0;
            if (!take(into)) {
                return false;
            }
            into.dropped += overwritten;
            overwritten = 0;
            return true;
        } finally {
            taking.setRelease(0);
        }
    }

    /** Removes the oldest record; copies it if wanted. */
    private boolean take(Record into) {
        long at = head.get();
        long first = (long) WORDS.getAcquire(words, (int) at & mask);
        if (first == 0) {
            return false;
        }
        int length = (int) first - 1;
        int need = HEAD + (length + 7 >>> 3);
        long told = words[(int) (at + 2) & mask];
        long dropped = Math.max(0, told - seen);
        seen += dropped;
        if (into == null) {
            overwritten += dropped;
        } else {
            copy(at, length, first >>> 32, into);
            into.dropped = dropped;
        }
        clear(at, need);
        head.setRelease(at + need);
        return true;
    }

    private void copy(long at, int length, long flags, Record into) {
        into.time = words[(int) (at + 1) & mask];
        into.state = (int) flags & 0xffff;
        into.isInvalid = (flags & IS_INVALID) != 0;
        into.length = length;
        if (into.row.length < length + 8) {
            into.row = new byte[Math.max(length + 8, 2 * into.row.length)];
        }
        for (int word = 0; word << 3 < length; word++) {
            BYTES.set(into.row, word << 3, words[(int) (at + HEAD + word) & mask]);
        }
    }

    private void clear(long at, int count) {
        int from = (int) at & mask;
        int first = Math.min(count, words.length - from);
        Arrays.fill(words, from, from + first, 0);
        Arrays.fill(words, 0, count - first, 0);
    }

    /** Returns the samples dropped since the last one that was popped. For the node's thread; 0 while a producer makes room. */
    long pendingDrops() {
        if (!taking.compareAndSet(0, 1)) {
            return 0;
        }
        try {
            return overwritten + Math.max(0, refused.get() - seen);
        } finally {
            taking.setRelease(0);
        }
    }
}
