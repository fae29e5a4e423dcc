package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
        Thread collector = new Thread(() -> {
            bell.connect();
            bell.nextPoll(now, true);
            bell.nextPoll(now + Bell.SILENCE, false);
            bell.ringIfAsleep(); // as another thread would: it returns at once from the wait
            java.util.concurrent.locks.LockSupport.park();
        });
        collector.start();
        collector.join();
    }
}
