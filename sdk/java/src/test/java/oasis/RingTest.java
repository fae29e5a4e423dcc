package oasis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The ring between the threads of a program and its node. */
class RingTest {
    private static final int PRODUCERS = 4;
    private static final int EACH = 10_000;

    @Test
    void rowsOfEveryLengthSurviveAndWrapAround() {
        Ring ring = new Ring(1_024, Overflow.DROP_NEWEST);
        Ring.Record record = new Ring.Record();
        Random random = new Random(1);
        for (int turn = 0; turn < 5_000; turn++) {
            byte[] row = new byte[random.nextInt(200)];
            random.nextBytes(row);
            assertTrue(ring.push(turn, turn & 0xffff, row, row.length));
            assertTrue(ring.pop(record));
            assertArrayEquals(row, Arrays.copyOf(record.row, record.length));
            assertEquals(List.of((long) turn, (long) (turn & 0xffff), 0L), List.of(record.time, (long) record.state, record.dropped));
        }
        assertFalse(ring.pop(record));
    }

    @Test
    void aFullRingDropsTheNewestAndSaysWhere() {
        Ring ring = new Ring(64, Overflow.DROP_NEWEST); // two records of four words
        byte[] row = {1, 2, 3};
        assertTrue(ring.push(1, 0, row, 3) && ring.push(2, 0, row, 3));
        assertFalse(ring.push(3, 0, row, 3));
        assertEquals(1, ring.pendingDrops());
        Ring.Record record = new Ring.Record();
        assertTrue(ring.pop(record) && record.time == 1 && record.dropped == 0);
        assertTrue(ring.push(4, 0, row, 3));
        assertTrue(ring.pop(record) && record.time == 2 && record.dropped == 0);
        assertTrue(ring.pop(record) && record.time == 4 && record.dropped == 1);
        assertFalse(ring.push(5, 0, new byte[100], 100), "larger than the ring");
    }

    @ParameterizedTest
    @EnumSource(Overflow.class)
    void aClosedRingRefusesSamplesAndKeepsThoseThatItHas(Overflow overflow) {
        Ring ring = new Ring(64, overflow);
        byte[] row = {1, 2, 3};
        assertTrue(ring.push(1, 0, row, 3) && ring.push(2, 0, row, 3));
        ring.close();
        ring.close();
        assertFalse(ring.push(3, 0, row, 3) || ring.push(4, 0, row, -1));
        Ring.Record record = new Ring.Record();
        assertTrue(ring.pop(record) && record.time == 1 && !ring.isEmpty());
        assertFalse(ring.push(5, 0, row, 3), "also with room");
        assertTrue(ring.pop(record) && record.time == 2 && ring.isEmpty());
        assertEquals(0, ring.pendingDrops(), "what is refused after the end has no number");
    }

    @Test
    void aFullRingCanDropTheOldest() {
        Ring ring = new Ring(64, Overflow.DROP_OLDEST);
        byte[] row = {1, 2, 3};
        for (int time = 1; time <= 5; time++) {
            assertTrue(ring.push(time, 0, row, 3));
        }
        Ring.Record record = new Ring.Record();
        assertTrue(ring.pop(record) && record.time == 4 && record.dropped == 3);
        assertTrue(ring.pop(record) && record.time == 5 && record.dropped == 0);
    }

    /** Each record is whole, none comes twice, and taken and dropped ones add up. */
    @ParameterizedTest
    @EnumSource
    void producersAndTheNodeLoseNoCount(Overflow overflow) throws InterruptedException {
        Ring ring = new Ring(4_096, overflow);
        AtomicInteger running = new AtomicInteger(PRODUCERS);
        List<Thread> producers = IntStream.range(0, PRODUCERS).mapToObj(producer -> new Thread(() -> {
            byte[] row = new byte[64];
            for (int count = 0; count < EACH; count++) {
                int length = count % 60;
                Arrays.fill(row, 0, length, (byte) (producer * 31 + count));
                ring.push((long) producer << 32 | count, producer, row, length);
            }
            running.decrementAndGet();
        })).toList();
        producers.forEach(Thread::start);
        Ring.Record record = new Ring.Record();
        int[] last = new int[PRODUCERS];
        Arrays.fill(last, -1);
        long seen = 0;
        boolean hasEnded = false;
        while (true) {
            boolean wasLast = running.get() == 0;
            if (ring.pop(record)) {
                int count = (int) record.time;
                assertEquals(count % 60, record.length);
                for (int index = 0; index < record.length; index++) {
                    assertEquals((byte) (record.state * 31 + count), record.row[index]);
                }
                assertTrue(count > last[record.state], "in order");
                last[record.state] = count;
                seen += 1 + record.dropped;
            } else if (wasLast && hasEnded) {
                break;
            } else {
                hasEnded = wasLast;
                Thread.yield(); // to producers that have no processor
            }
        }
        assertEquals(PRODUCERS * EACH, seen + ring.pendingDrops());
    }
}
