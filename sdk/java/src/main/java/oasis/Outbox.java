package oasis;

import java.util.ArrayDeque;
import java.util.ArrayList;
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

    /** Takes over what the collector has. */
    synchronized void deliver(List<Instance> instances, List<NewBatch> batches) {
        for (int index = 0; index < taken.length; index++) {
            taken[index] = instances.get(index).taken();
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

    /** Returns the samples taken, and those dropped before the last batch that was sent, for the ledger. */
    synchronized Map<String, Object> counters() {
        List<Object> entries = new ArrayList<>();
        for (int index = 0; index < taken.length; index++) {
            int topic = spool.topic(index);
            if (topic != 0) {
                Spool.Place sent = spool.sent(index);
                Map<String, Object> dropped = Json.object("ring", sent.dropped.ringFull, "spool", sent.spoolFull, "kept_back", sent.dropped.keptBack, "invalid",
                        sent.dropped.invalidRow, "not_taken", sent.dropped.notTaken);
                entries.add(Json.object("topic", Integer.toUnsignedLong(topic), "taken", taken[index], "sent", sent.sequence, "dropped", dropped));
            }
        }
        return Json.object("op", "counters", "instances", entries);
    }
}
