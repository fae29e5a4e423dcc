package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import oasis.Filling.NewBatch;
import org.junit.jupiter.api.Test;

/** The parts of a node, without threads and sockets. */
class NodePartsTest {
    record Door(double angle, String label) {}

    private static final SampleType<Door> DOOR = SampleType.of(Door.class);

    private static NewBatch batch(long first, int count, long ringFull) {
        Missing before = new Missing();
        before.ringFull = ringFull;
        return new NewBatch(0, first, count, before, new byte[48 + 100]);
    }

    private static Spool connected(int limit, String safeWhen) {
        Spool spool = new Spool(limit, 1);
        spool.connected(Map.of(0, 7), false, safeWhen);
        return spool;
    }

    @Test
    void aBatchIsKeptUntilItIsSafeAndGoesAgainToANewDac() {
        Spool spool = connected(10_000, "stored");
        spool.push(batch(1, 10, 0));
        spool.push(batch(11, 10, 0));
        assertEquals(2, spool.take(9).batches().size());
        spool.acknowledge(7, 20);
        assertTrue(spool.isReceived() && !spool.isFinished());
        spool.connected(Map.of(0, 8), false, "stored");
        assertFalse(spool.hasUnsent(), "the same DAC has received them");
        spool.safe(8, 10);
        spool.connected(Map.of(0, 9), true, "stored");
        Spool.Shipment again = spool.take(9);
        assertEquals(1, again.batches().size(), "a new DAC lacks what was not safe");
        assertFalse(again.reportsDrops());
        spool.safe(9, 20);
        assertTrue(spool.isFinished() && spool.bytes() == 0);
    }

    @Test
    void aFullSpoolForgetsReceivedBatchesFirstAndCountsUnsentOnes() {
        Spool spool = connected(1_000, "stored");
        spool.push(batch(1, 10, 0));
        spool.take(9);
        spool.acknowledge(7, 10);
        for (int index = 1; index < 6; index++) {
            spool.push(batch(10 * index + 1, 10, 0));
        }
        assertTrue(spool.bytes() <= 1_000);
        Spool.Shipment shipment = spool.take(9);
        assertTrue(shipment.reportsDrops());
        assertEquals(List.of(50L, 20L), List.of(spool.sent(0).sequence, spool.sent(0).spoolFull), "11 to 30 are missing, 51 to 60 wait for room in transit");
    }

    @Test
    void dropsAreExplainedByTheirCauseOncePerShipment() {
        Spool spool = connected(100_000, null);
        spool.push(batch(1, 10, 0));
        spool.push(batch(14, 10, 3));
        spool.push(batch(26, 10, 2));
        assertFalse(spool.take(9).reportsDrops());
        Spool.Shipment second = spool.take(9);
        assertEquals(List.of(true, 1), List.of(second.reportsDrops(), second.batches().size()));
        assertEquals(3, second.batches().get(0)[40]);
        assertEquals(3, spool.sent(0).dropped.ringFull);
        assertEquals(2, spool.take(9).batches().get(0)[40]);
    }

    @Test
    void theShortestExchangeOfClocksWins() {
        ClockOffset clock = new ClockOffset();
        assertNull(clock.estimate());
        clock.exchange(1_000, 5_900, 2_000);
        clock.exchange(10_000, 14_050, 10_100);
        clock.exchange(20_000, 29_000, 30_000);
        clock.exchange(2_000, 5_000, 1_000);
        assertEquals(new ClockOffset.Exchange(100, 4_000), clock.estimate());
        clock.exchange(3_000_000, 21_000_400, 3_000_800);
        assertEquals(new ClockOffset.Exchange(800, 18_000_000), clock.estimate(), "a clock was set");
    }

    @Test
    void aRunIsDerivedFromItsSecretAsInEveryLanguage() {
        assertEquals("cb8c9558-d2d6-8bd9-ae19-3fb9300a5b34", NodeBuilder.run(new UUID(0, 1)).toString());
    }

    @Test
    void aMetricWithinItsDeadbandIsNoChange() {
        ChangeFilter filter = new ChangeFilter(DOOR.type(), Map.of("angle", 0.5));
        assertTrue(isChange(filter, 1.0, "a"), "the first");
        assertFalse(isChange(filter, 1.5, "a"));
        assertTrue(isChange(filter, 1.6, "a"));
        assertTrue(isChange(filter, 1.6, "b"));
        filter.renew();
        assertTrue(isChange(filter, 1.6, "b"), "a new DAC has none");
        filter.set("angle", null);
        assertTrue(isChange(filter, 1.7, "b"));
        assertThrows(IllegalArgumentException.class, () -> filter.set("label", 1.0));
        assertThrows(IllegalArgumentException.class, () -> filter.set("angle", -1.0));
        assertThrows(IllegalArgumentException.class, () -> filter.set("color", 1.0));
    }

    private static boolean isChange(ChangeFilter filter, double angle, String label) {
        byte[] row = DOOR.toRow(new Door(angle, label));
        boolean isChange = filter.isChange(row, row.length);
        if (isChange) {
            filter.keep(row, row.length);
        }
        return isChange;
    }

    @Test
    void aTriggerNamesAMetricAndALimit() {
        for (String trigger : List.of("color > 1", "angle is wide", "label > 1", "angle >", "> 1")) {
            NodeBuilder builder = new NodeBuilder("recording");
            builder.pushed("door", Door.class);
            assertThrows(IllegalArgumentException.class, () -> builder.record("door", FlightRecorder.of(trigger)), trigger);
        }
        assertThrows(IllegalArgumentException.class, () -> new FlightRecorder(Duration.ofSeconds(-1), Duration.ZERO, 1, List.of()));
    }

    @Test
    void aBuilderSaysWhatIsWrong() {
        NodeBuilder builder = new NodeBuilder("plant");
        builder.pushed("one", Door.class);
        assertEquals("duplicate instance \"one\" of node \"plant\": names must be unique within a node",
                assertThrows(IllegalArgumentException.class, () -> builder.pushed("one", Door.class)).getMessage());
        assertTrue(assertThrows(IllegalArgumentException.class, () -> builder.periodic("fast", Door.class, 5_000, () -> null)).getMessage().contains("0.01 to 1,000 Hz"));
        assertThrows(IllegalArgumentException.class, () -> builder.disabled("two"));
        assertThrows(IllegalArgumentException.class, () -> new NodeBuilder("a\nb"));
        assertThrows(IllegalArgumentException.class, () -> new NodeBuilder(""));
        builder.start("127.0.0.1:1").close();
        assertThrows(IllegalStateException.class, () -> builder.start("127.0.0.1:1"));
    }
}
