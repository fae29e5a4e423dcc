package oasis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import oasis.Filling.NewBatch;

/**
 * Encoded batches on their way to the DAC, bounded: kept until they are safe there (docs/reference/data-channel.md#two-acknowledgements).
 *
 * <p>Above the bound the oldest received batch leaves first, because only the end of its DAC could lose it; then the oldest unsent one is dropped and counted.
 * Batches in transit stay: at most half of the spool is in transit. Not synchronized: its {@link Outbox} is.
 */
final class Spool {
    /** Memory of a batch besides its bytes. */
    private static final int OVERHEAD = 128;

    private final int limit;
    private final Account[] accounts;
    private final Map<Integer, Integer> instances = new HashMap<>();
    private final Part received = new Part();
    private final Part transit = new Part();
    private final Part unsent = new Part();
    /** What makes samples safe at this DAC; null if they are as soon as they are received. */
    private String safeWhen;

    Spool(int limit, int instances) {
        this.limit = limit;
        accounts = new Account[instances];
        for (int index = 0; index < instances; index++) {
            accounts[index] = new Account();
        }
    }

    /** A batch in the spool, with the samples of its instance that were missing since the run began. */
    private record Queued(NewBatch batch, Missing before) {
        long lastSequence() {
            return batch.firstSequence() + batch.count() - 1;
        }

        int cost() {
            return batch.bytes().length + OVERHEAD;
        }
    }

    /** A part of the queue, oldest first. */
    private static final class Part {
        private final ArrayDeque<Queued> batches = new ArrayDeque<>();
        private long bytes;

        void add(Queued queued) {
            batches.add(queued);
            bytes += queued.cost();
        }

        Queued remove() {
            Queued queued = batches.remove();
            bytes -= queued.cost();
            return queued;
        }

        /** Moves everything before the batches of another part. */
        void moveBefore(Part other) {
            while (!batches.isEmpty()) {
                other.batches.addFirst(batches.removeLast());
            }
            other.bytes += bytes;
            bytes = 0;
        }
    }

    /** Samples of an instance: up to a sequence number, and dropped before it. */
    static final class Position {
        long sequence;
        final Missing dropped = new Missing();
        long spoolFull;

        /** Advances past a batch. Returns how many samples were dropped in between. */
        private long advance(Queued queued) {
            long hole = Math.max(0, queued.batch.firstSequence() - 1 - sequence);
            long left = hole;
            Missing before = queued.before;
            long part = Math.min(left, Math.max(0, before.ringFull - dropped.ringFull));
            dropped.ringFull += part;
            left -= part;
            part = Math.min(left, Math.max(0, before.keptBack - dropped.keptBack));
            dropped.keptBack += part;
            left -= part;
            part = Math.min(left, Math.max(0, before.invalidRow - dropped.invalidRow));
            dropped.invalidRow += part;
            left -= part;
            part = Math.min(left, Math.max(0, before.notTaken - dropped.notTaken));
            dropped.notTaken += part;
            left -= part;
            spoolFull += left;
            sequence = queued.lastSequence();
            return hole;
        }

        private Position copy() {
            Position copy = new Position();
            copy.sequence = sequence;
            copy.spoolFull = spoolFull;
            copy.dropped.add(dropped);
            return copy;
        }
    }

    private static final class Account {
        private int topic;
        private final Missing before = new Missing();
        /** Last sequence number that this DAC has received. */
        private long acknowledged;
        /** Last sequence number that is safe. */
        private long safe;
        /** Up to the last sample that left the spool. */
        private Position released = new Position();
        /** Up to the last sample that this DAC has received. */
        private Position received = new Position();
        /** Up to the last sample sent on this connection, or received before. */
        private Position sent = new Position();
    }

    /** Adds a batch; releases the oldest received ones, or drops the oldest unsent ones, if needed. */
    void push(NewBatch batch) {
        Account account = accounts[batch.instance()];
        account.before.add(batch.before());
        unsent.add(new Queued(batch, account.before.copy()));
        while (received.bytes + transit.bytes + unsent.bytes > limit && !received.batches.isEmpty()) {
            releaseFirst();
        }
        while (received.bytes + transit.bytes + unsent.bytes > limit && !unsent.batches.isEmpty()) {
            unsent.remove();
        }
    }

    /** Handles a new connection: batches in transit may be lost, and a new DAC receives everything that is not safe. */
    void connected(Map<Integer, Integer> topicOfInstance, boolean isNewDac, String safeWhen) {
        this.safeWhen = safeWhen;
        transit.moveBefore(unsent);
        if (isNewDac) {
            received.moveBefore(unsent);
            for (Account account : accounts) {
                account.received = account.released.copy();
                account.acknowledged = account.released.sequence;
            }
        }
        instances.clear();
        topicOfInstance.forEach((instance, topic) -> {
            Account account = accounts[instance];
            account.topic = topic;
            account.sent = account.received.copy();
            instances.put(topic, instance);
        });
    }

    /** What one turn sends. After drops it begins with the batch that reports them, and no later batch reports drops. */
    record Shipment(List<byte[]> batches, boolean reportsDrops) {}

    boolean hasUnsent() {
        return !unsent.batches.isEmpty() && transit.bytes <= limit / 2;
    }

    /** Takes at most {@code max} batches, stamped for this connection. */
    Shipment take(int max) {
        noteReceived();
        List<byte[]> batches = new ArrayList<>();
        boolean reportsDrops = false;
        while (batches.size() < max && hasUnsent()) {
            Queued next = unsent.batches.element();
            Account account = accounts[next.batch.instance()];
            Position place = account.sent.copy();
            long dropped = place.advance(next);
            if (dropped > 0 && !batches.isEmpty()) {
                break;
            }
            account.sent = place;
            reportsDrops |= dropped > 0;
            BatchEncoder.stamp(next.batch.bytes(), account.topic, dropped);
            batches.add(next.batch.bytes());
            transit.add(unsent.remove());
        }
        return new Shipment(batches, reportsDrops);
    }

    /** Handles an acknowledgement: the DAC has received everything of a topic up to a number. */
    void acknowledge(int topic, long sequence) {
        Integer instance = instances.get(topic);
        if (instance != null) {
            accounts[instance].acknowledged = Math.max(accounts[instance].acknowledged, sequence);
        }
        noteReceived();
    }

    /** Handles the second acknowledgement: everything of a topic up to a number is safe. */
    void safe(int topic, long sequence) {
        Integer instance = instances.get(topic);
        if (instance != null) {
            accounts[instance].safe = Math.max(accounts[instance].safe, sequence);
        }
        acknowledge(topic, sequence);
    }

    /** Notes the batches that the DAC has received: those in transit, and those that an earlier connection has carried. */
    private void noteReceived() {
        while (true) {
            Part from = transit.batches.isEmpty() ? unsent : transit;
            Queued front = from.batches.peek();
            if (front == null || front.lastSequence() > accounts[front.batch.instance()].acknowledged) {
                break;
            }
            Account account = accounts[front.batch.instance()];
            account.received.advance(front);
            if (account.sent.sequence < account.received.sequence) {
                account.sent = account.received.copy();
            }
            received.add(from.remove());
        }
        while (!received.batches.isEmpty() && isSafe(received.batches.element())) {
            releaseFirst();
        }
    }

    private boolean isSafe(Queued queued) {
        return safeWhen == null || queued.lastSequence() <= accounts[queued.batch.instance()].safe;
    }

    private void releaseFirst() {
        Queued queued = received.remove();
        accounts[queued.batch.instance()].released.advance(queued);
    }

    /** Returns whether samples become safe by what the DAC does, and not by waiting. */
    private boolean isAwaited() {
        return safeWhen != null && !safeWhen.equals("held");
    }

    /** Returns whether the DAC has received everything. */
    boolean isReceived() {
        return transit.batches.isEmpty() && unsent.batches.isEmpty();
    }

    /** Returns whether this DAC owes no acknowledgement of a batch that was sent to it. */
    boolean isSettled() {
        return transit.batches.isEmpty() && (received.batches.isEmpty() || !isAwaited());
    }

    /** Returns whether a node that ends has nothing to wait for. */
    boolean isFinished() {
        return isReceived() && (received.batches.isEmpty() || !isAwaited());
    }

    /** Returns how many samples no DAC has received. */
    long countUnreceived() {
        return java.util.stream.Stream.concat(transit.batches.stream(), unsent.batches.stream()).mapToLong(queued -> queued.batch.count()).sum();
    }

    /** Returns the memory of all batches, in bytes. */
    long bytes() {
        return received.bytes + transit.bytes + unsent.bytes;
    }

    int topic(int instance) {
        return accounts[instance].topic;
    }

    Position sent(int instance) {
        return accounts[instance].sent;
    }
}
