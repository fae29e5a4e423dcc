package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node inside a Java program, and a real DAC. */
class NodeTest {
    private static Dac dac;

    record Count(@Metric(unit = "1") long count, String text) {}

    @BeforeAll
    static void startADac() throws IOException {
        dac = Dac.start();
    }

    @AfterAll
    static void endIt() throws InterruptedException {
        dac.close();
    }

    private static void assertLedger(Map<String, Object> ledger, long received, long missing) {
        assertEquals(List.of(received, missing, 0L), List.of(Dac.number(ledger, "received"), Dac.number(ledger, "missing"), Dac.number(ledger, "unexplained")), ledger::toString);
    }

    @Test
    void everyFlushedSampleArrives() throws Exception {
        NodeBuilder builder = new NodeBuilder("pushing");
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        try (Node node = builder.start(dac.channel)) {
            for (int count = 0; count < 500; count++) {
                assertTrue(probe.flush(new Count(count, "x")));
            }
            assertLedger(dac.eventually("pushing", "count", ledger -> Dac.number(ledger, "received") == 500), 500, 0);
            assertTrue(node.wasTaken());
        }
        assertLedger(dac.ledger("pushing", "count"), 500, 0);
    }

    @Test
    void theLastSamplesOfAShortProgramArrive() throws Exception {
        NodeBuilder builder = new NodeBuilder("short");
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        try (Node node = builder.start(dac.channel)) {
            probe.flush(new Count(1, "only"));
        }
        assertLedger(dac.ledger("short", "count"), 1, 0);
    }

    @Test
    void whatFindsNoRoomIsDroppedAndCounted() throws Exception {
        for (Overflow overflow : Overflow.values()) {
            String name = "overflowing-" + overflow;
            NodeBuilder builder = new NodeBuilder(name);
            // 32 words; a record takes 3 and 8.
            PushedProbe<Count> probe = builder.pushed("count", SampleType.of(Count.class), 256, overflow);
            for (int count = 0; count < 4; count++) {
                assertEquals(count < 2 || overflow == Overflow.DROP_OLDEST, probe.flush(new Count(count, "x".repeat(50))));
            }
            try (Node node = builder.start(dac.channel)) {
                // The DAC sees a gap when the next sample arrives.
                dac.eventually(name, "count", ledger -> Dac.number(ledger, "received") == 2);
                assertTrue(probe.flush(new Count(4, "next")));
                Map<String, Object> ledger = dac.eventually(name, "count", found -> Dac.number(found, "received") == 3);
                assertLedger(ledger, 3, 2);
                assertEquals(2L, Json.asObject(ledger.get("node"), "node").get("ring_full"));
            }
        }
    }

    @Test
    void anInvalidSampleIsCountedAndThrowsNothing() throws Exception {
        NodeBuilder builder = new NodeBuilder("invalid");
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        try (Node node = builder.start(dac.channel)) {
            assertTrue(probe.flush(new Count(1, "")));
            assertFalse(probe.flush(new Count(2, null)));
            assertFalse(probe.flush(null));
            assertFalse(probe.flush(new Count(2, "x".repeat(1 << 20))));
            assertTrue(probe.flush(new Count(3, "")));
            Map<String, Object> ledger = dac.eventually("invalid", "count", found -> Dac.number(found, "received") == 2);
            assertLedger(ledger, 2, 3);
            assertEquals(3L, Json.asObject(ledger.get("node"), "node").get("invalid_row"));
        }
    }

    @Test
    void aPeriodicProbeIsCalledAndObeys() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        NodeBuilder builder = new NodeBuilder("periodic").periodic("count", Count.class, 50, () -> {
            if (calls.incrementAndGet() == 2) {
                throw new IOException("unplugged");
            }
            return new Count(calls.get(), "");
        });
        try (Node node = builder.start(dac.channel)) {
            dac.eventually("periodic", "count", ledger -> Dac.number(ledger, "received") >= 5);
            Map<String, Object> outcome = dac.command("node", "periodic", "instance", "count", "command", "hertz", "hertz", 100.0);
            assertEquals(100.0, outcome.get("hertz"), outcome::toString);
            assertEquals(false, dac.command("node", "periodic", "instance", "count", "command", "disable").get("enabled"));
            long before = calls.get();
            dac.command("node", "periodic", "instance", "count", "command", "sample-now");
            assertEquals(before + 1, calls.get());
            assertEquals(true, dac.command("node", "periodic", "instance", "count", "command", "enable").get("enabled"));
            dac.eventually("periodic", "count", ledger -> Dac.number(ledger, "received") > before + 5);
            Map<String, Object> refused = dac.command("node", "periodic", "instance", "count", "command", "trigger");
            assertTrue(refused.toString().contains("no flight recorder"), refused::toString);
        }
    }

    @Probe(name = "Plant::Load", demandMin = 1, demandMax = 50)
    record Load(@Metric(unit = "1", kind = "gauge") double load) {}

    @Test
    void aPeriodicProbeFollowsTheDemandOfItsReaders() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (Node node = new NodeBuilder("demanded").periodic("load", Load.class, 5, () -> new Load(calls.incrementAndGet())).start(dac.channel)) {
            dac.eventually("demanded", "load", ledger -> Dac.number(ledger, "received") > 2);
            assertTrue(dac.get("/api/v1/instances").toString().contains("demand={min=1.0, max=50.0"));
            // At the lowest rate this would take a minute and a half.
            assertEquals(100, dac.tail("demanded/load", 100).size());
        }
    }

    @Test
    void aDisabledProbeTakesNothing() throws Exception {
        NodeBuilder builder = new NodeBuilder("disabled");
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        builder.disabled("count");
        try (Node node = builder.start(dac.channel)) {
            assertFalse(probe.isEnabled());
            assertTrue(probe.flush(new Count(1, "")));
            dac.eventually("disabled", "count", ledger -> Dac.number(ledger, "received") == 0);
            dac.command("node", "disabled", "instance", "count", "command", "enable");
            assertTrue(probe.isEnabled() && probe.flush(new Count(2, "")));
            assertLedger(dac.eventually("disabled", "count", ledger -> Dac.number(ledger, "received") == 1), 1, 0);
        }
    }

    @Test
    void aProbeOnChangeKeepsWhatMovedWithTheStateItWasIn() throws Exception {
        NodeBuilder builder = new NodeBuilder("changing");
        PushedProbe<Count> probe = builder.onChange("count", SampleType.of(Count.class), Map.of("count", 1.5));
        try (Node node = builder.start(dac.channel)) {
            for (int count = 0; count < 10; count++) {
                probe.setState(count / 8);
                assertTrue(probe.flush(new Count(count, "")));
            }
            assertLedger(dac.eventually("changing", "count", ledger -> Dac.number(ledger, "received") == 5), 5, 0);
            Map<String, Object> done = dac.command("node", "changing", "instance", "count", "command", "deadband", "metric", "count");
            assertEquals(true, done.get("enabled"), done::toString);
            probe.flush(new Count(9, ""));
            assertLedger(dac.eventually("changing", "count", ledger -> Dac.number(ledger, "received") == 6), 6, 0);
        }
    }

    @Test
    void aFlightRecorderSendsWhatLiesAroundATrigger() throws Exception {
        NodeBuilder builder = new NodeBuilder("recording");
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        // Room for three samples: a row of 9 bytes, and 64.
        builder.record("count", new FlightRecorder(Duration.ofMinutes(1), Duration.ZERO, 3 * 73, List.of("count > 90")));
        for (int turn = 0; turn < 10; turn++) {
            probe.flush(new Count(20, ""));
        }
        probe.flush(new Count(95, ""));
        try (Node node = builder.start(dac.channel)) {
            Map<String, Object> ledger = dac.eventually("recording", "count", found -> Dac.number(found, "received") == 4);
            assertLedger(ledger, 4, 7);
            assertTrue(ledger.get("gaps").toString().contains("kept_back"), ledger::toString);
        }
    }

    @Test
    void aNameThatAnotherNodeHasIsAnError() throws Exception {
        NodeBuilder builder = new NodeBuilder("twice");
        builder.pushed("count", Count.class);
        try (Node node = builder.start(dac.channel)) {
            dac.eventually("twice", "count", ledger -> true);
            Node other = new NodeBuilder("twice").start(dac.channel);
            String message = assertThrows(Node.RefusedException.class, other::close).getMessage();
            assertTrue(message.contains("name_taken"), message);
        }
    }

    @Test
    void whatAFullSpoolDropsWhileNoDacRunsIsExplained(@TempDir Path folder) throws Exception {
        String archive = folder.resolve("archive").toString();
        NodeBuilder builder = new NodeBuilder("small").spoolBytes(20_000).batchSamples(10);
        PushedProbe<Count> probe = builder.pushed("count", SampleType.of(Count.class), 4 << 20, Overflow.DROP_NEWEST);
        Dac first = Dac.start("--archive", archive);
        try (Node node = builder.start(first.channel)) {
            assertTrue(probe.flush(new Count(1, "first")));
            first.eventually("small", "count", ledger -> Dac.number(ledger, "received") == 1);
            first.kill();
            for (int count = 2; count <= 5_000; count++) {
                assertTrue(probe.flush(new Count(count, "text that is not always the same: " + count * count)));
            }
            try (Dac second = Dac.at(first.channel, "--archive", archive)) {
                second.eventually("small", "count", ledger -> Dac.number(ledger, "last_sequence") == 5_000);
                // A gap that a drop has left is known when the next sample comes.
                assertTrue(probe.flush(new Count(5_001, "last")));
                Map<String, Object> ledger = second.eventually("small", "count", found -> Dac.number(found, "last_sequence") == 5_001);
                Map<String, Object> counts = Json.asObject(ledger.get("node"), "node");
                assertEquals(0L, Dac.number(ledger, "unexplained"), ledger::toString);
                // The first sample may have been received, not stored, and forgotten: then it is `before_epoch`.
                long others = Dac.number(ledger, "missing") - (Long) counts.get("spool_full");
                assertTrue(others == 0 || others == 1, ledger::toString);
                assertTrue((Long) counts.get("spool_full") > 1_000 && node.spoolBytes() <= 20_000, ledger::toString);
            }
        } finally {
            first.close();
        }
    }

    @Test
    void aNodeSpeaksTls(@TempDir Path folder) throws Exception {
        Path ca = folder.resolve("ca");
        Dac.run("ca", "--ca-dir", ca.toString(), "init");
        Dac.run("ca", "--ca-dir", ca.toString(), "issue", "server", "127.0.0.1");
        String certificate = ca.resolve("server-127.0.0.1.pem").toString();
        String key = ca.resolve("server-127.0.0.1.key").toString();
        try (Dac secure = Dac.start("--tls-certificate", certificate, "--tls-key", key)) {
            String address = secure.channel.substring("tls://".length());
            Node plain = new NodeBuilder("plain").start(address);
            assertTrue(assertThrows(Node.RefusedException.class, plain::close).getMessage().contains("tls_required"));
            NodeBuilder builder = new NodeBuilder("secure").ca(ca.resolve("ca.pem"));
            PushedProbe<Count> probe = builder.pushed("count", Count.class);
            assertThrows(IllegalArgumentException.class, () -> builder.start(address), "not by mistake without TLS");
            Node node = builder.start(secure.channel);
            assertTrue(probe.flush(new Count(1, "encrypted")));
            node.close();
            assertTrue(node.wasTaken());
            Node stranger = new NodeBuilder("stranger").start(secure.channel);
            stranger.close();
            assertFalse(stranger.wasTaken(), "the platform does not trust this CA");
        }
        assertThrows(IllegalArgumentException.class, () -> new NodeBuilder("none").ca(folder.resolve("nothing.pem")));
    }

    @Test
    void manyThreadsFlushOneProbe() throws Exception {
        NodeBuilder builder = new NodeBuilder("threads");
        PushedProbe<Count> probe = builder.pushed("count", SampleType.of(Count.class), 1 << 16, Overflow.DROP_OLDEST);
        try (Node node = builder.start(dac.channel)) {
            List<Thread> threads = List.of(1, 2, 3, 4).stream().map(number -> new Thread(() -> {
                for (int count = 0; count < 20_000; count++) {
                    probe.flush(new Count(count, "thread " + number));
                }
            })).toList();
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            probe.flush(new Count(0, "last"));
            Map<String, Object> ledger = dac.eventually("threads", "count", found -> Dac.number(found, "received") + Dac.number(found, "missing") == 80_001);
            assertEquals(0L, Dac.number(ledger, "unexplained"));
        }
    }

    @Test
    void aDacThatIsKilledAndStartedAgainHasEverySample(@TempDir Path folder) throws Exception {
        String archive = folder.resolve("archive").toString();
        NodeBuilder builder = new NodeBuilder("plant");
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        Dac first = Dac.start("--archive", archive);
        String channel = first.channel;
        long count = 0;
        try (Node node = builder.start(channel)) {
            for (int life = 0; life < 3; life++) {
                for (int turn = 0; turn < 300; turn++) {
                    assertTrue(probe.flush(new Count(++count, "")));
                }
                long flushed = count;
                first.eventually("plant", "count", ledger -> Dac.number(ledger, "last_sequence") == flushed);
                if (life % 2 == 0) {
                    first.kill();
                } else {
                    first.close();
                }
                for (int turn = 0; turn < 100; turn++) {
                    assertTrue(probe.flush(new Count(++count, "while no DAC runs")));
                }
                first = Dac.at(channel, "--archive", archive);
            }
            long all = count;
            Map<String, Object> ledger = first.eventually("plant", "count", found -> Dac.number(found, "last_sequence") == all);
            assertEquals(List.of(0L, 0L), List.of(Dac.number(ledger, "missing"), Dac.number(ledger, "unexplained")), ledger::toString);
        } finally {
            first.close();
        }
        List<String> answer = Dac.run("sql", "--archive", archive, "--format", "csv", "SELECT count(*), count(DISTINCT count), min(count), max(count) FROM Count");
        assertEquals(count + "," + count + ",1," + count, answer.get(1));
    }
}
