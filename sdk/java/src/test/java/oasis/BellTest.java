package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The sleep of a collector whose probes are silent. */
class BellTest {
    private final Bell bell = new Bell();
    private long now = System.nanoTime();

    /** Polls as told for a time without samples. Returns the number of polls. */
    private int poll(long time) {
        int polls = 0;
        for (long end = now + time; now < end; polls++) {
            now = bell.nextPoll(now, false);
        }
        return polls;
    }

    @Test
    void aCollectorOfSilentProbesSleepsAndASampleKeepsItAwake() {
        bell.connect();
        assertEquals(now + Bell.POLL_INTERVAL, bell.nextPoll(now, true));
        poll(2 * Bell.SILENCE);
        int silent = poll(10_000_000_000L);
        assertTrue(silent <= 40, silent + " polls in ten seconds");
        bell.ringIfAsleep();
        assertEquals(now + Bell.POLL_INTERVAL, bell.nextPoll(now, false), "woken");
        assertEquals(now + Bell.POLL_INTERVAL, bell.nextPoll(now, true));
        int busy = poll(Bell.SILENCE);
        assertTrue(busy >= 20, busy + " polls");
    }

    @Test
    void aFlushWakesACollectorThatSleeps() throws InterruptedException {
        CountDownLatch isSet = new CountDownLatch(1);
        Thread collector = new Thread(() -> {
            bell.connect();
            bell.nextPoll(now, true);
            bell.nextPoll(now + Bell.SILENCE, false);
            isSet.countDown();
            LockSupport.park();
        });
        collector.setDaemon(true);
        collector.start();
        isSet.await();
        bell.ringIfAsleep();
        collector.join(60_000);
        assertFalse(collector.isAlive(), "woken");
    }
}
