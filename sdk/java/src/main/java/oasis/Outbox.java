package oasis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import oasis.Filling.NewBatch;

/** What the node's threads share: batches and answers to send, and the state of the connection. Its monitor is held only to move references. */
final class Outbox {
    /** Answers to commands that may wait. */
    private static final int MESSAGES = 256;

    final Spool spool;
    /** Answers to commands. */
    final ArrayDeque<Map<String, Object>> messages = new ArrayDeque<>();
    /** Samples taken of each instance. */
    final long[] taken;
    /** Samples of each instance that are missing after its last batch; none if some wait. */
    private final Missing[] missing;
    /** States of the instances, which commands change. */
    final List<Map<String, Object>> states = new ArrayList<>();
    final ClockOffset clock = new ClockOffset();
    /** Why the listener has ended; null while it runs. */
    Exception ended;
    /** The DAC ends soon, and asks the node to leave. */
    boolean isDraining;
    /** The node ends: send everything and stop. */
    boolean isClosing;
    /** Why the DAC that answered last has refused the node; null once a DAC has taken it. */
    String refusal;
    /** Whether a DAC has taken the node. */
    boolean wasTaken;

    Outbox(int limit, List<Instance> instances) {
        spool = new Spool(limit, instances.size());
        taken = new long[instances.size()];
        missing = new Missing[instances.size()];
        Arrays.fill(missing, new Missing());
        instances.forEach(instance -> states.add(instance.state()));
    }

    /** Changes something, and wakes the threads that wait. */
    synchronized <T> T with(Function<Outbox, T> change) {
        T result = change.apply(this);
        notifyAll();
        return result;
    }

    /** Waits at most so many nanoseconds until something holds, then does something. Returns at once if the thread is interrupted. */
    synchronized <T> T await(long nanos, Predicate<Outbox> holds, Function<Outbox, T> then) {
        long deadline = System.nanoTime() + nanos;
        try {
            for (long left = nanos; left > 0 && !holds.test(this); left = deadline - System.nanoTime()) {
                wait(left / 1_000_000, (int) (left % 1_000_000));
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return then.apply(this);
    }

    /** Returns whether an instance has taken samples since the last {@link #deliver}. */
    synchronized boolean hasNewSamples(List<Instance> instances) {
        for (int index = 0; index < taken.length; index++) {
            if (taken[index] != instances.get(index).taken()) {
                return true;
            }
        }
        return false;
    }

    /** Takes over what the collector has. */
    synchronized void deliver(List<Instance> instances, List<NewBatch> batches) {
        for (int index = 0; index < taken.length; index++) {
            taken[index] = instances.get(index).taken();
            missing[index] = instances.get(index).missing();
            states.set(index, instances.get(index).state());
        }
        batches.forEach(spool::push);
        notifyAll();
    }

    /** Adds an answer. */
    synchronized void say(Map<String, Object> message) {
        if (messages.size() < MESSAGES) {
            messages.add(message);
            notifyAll();
        }
    }

    /** Returns the samples taken, and those dropped before and after the last batch that was sent, for the ledger. */
    synchronized Map<String, Object> counters() {
        List<Object> entries = new ArrayList<>();
        for (int index = 0; index < taken.length; index++) {
            int topic = spool.topic(index);
            if (topic != 0) {
                Spool.Position sent = spool.sent(index);
                // Batches may wait in the spool, or be lost there: the loss after the last one sent is unknown then.
                boolean isAll = missing[index].total() > 0 && sent.sequence + missing[index].total() == taken[index];
                entries.add(Json.object("topic", Integer.toUnsignedLong(topic), "taken", taken[index], "sent", sent.sequence, "dropped",
                        drops(sent.dropped, sent.spoolFull), "after_sent", isAll ? drops(missing[index], 0) : null));
            }
        }
        return Json.object("op", "counters", "instances", entries);
    }

    private static Map<String, Object> drops(Missing missing, long spoolFull) {
        return Json.object("ring", missing.ringFull, "spool", spoolFull, "kept_back", missing.keptBack, "invalid", missing.invalidRow, "not_taken", missing.notTaken);
    }
}
