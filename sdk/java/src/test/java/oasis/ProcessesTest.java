package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs, their processes and threads, and how they end (docs/sdk/java.md): accepted samples are stored, or declared as lost. */
class ProcessesTest {
    private static final long PATIENCE = 120;

    @TempDir
    static Path folder;
    private static Dac dac;

    @BeforeAll
    static void startADac() throws IOException {
        dac = Dac.start("--archive", folder.resolve("archive").toString());
    }

    @AfterAll
    static void endIt() throws InterruptedException {
        dac.close();
    }

    /** A process of {@link Program}. */
    private record Running(Process process, Path out, Path err) {
        static Running start(String mode, String name) throws IOException {
            // Shells ignore SIGINT for programs in the background, nohup ignores SIGHUP, and children inherit that.
            List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT,HUP"));
            command.addAll(Program.command(mode, dac.channel, name));
            Path out = Files.createTempFile(folder, "out", "");
            Path err = Files.createTempFile(folder, "err", "");
            return new Running(new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start(), out, err);
        }

        /** Lets it continue. */
        void say(String line) throws IOException {
            OutputStream in = process.getOutputStream();
            in.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            in.flush();
        }

        /** Waits for its end, and returns its status. */
        int end() throws Exception {
            assertTrue(process.waitFor(PATIENCE, TimeUnit.SECONDS), "it hangs");
            return process.exitValue();
        }

        /** Returns the samples that were accepted, also those of its children. */
        long accepted() throws IOException {
            return Files.readAllLines(out).stream().mapToLong(line -> Long.parseLong(line.substring("accepted ".length()))).sum();
        }

        String log() throws IOException {
            return Files.readString(err);
        }
    }

    /** Checks that so many samples are stored, and none is missing. */
    private static void assertStored(String node, String instance, long samples) throws Exception {
        Map<String, Object> ledger = dac.eventually(node, instance, found -> stored(found) == samples);
        assertEquals(List.of(samples, 0L, 0L), List.of(Dac.number(ledger, "received"), Dac.number(ledger, "missing"), Dac.number(ledger, "unexplained")),
                ledger::toString);
    }

    private static long stored(Map<String, Object> ledger) {
        // The archive has not looked yet at an instance that has just been registered.
        return ledger.get("archive") instanceof Map<?, ?> archive && archive.get("stored") instanceof Long stored ? stored : 0;
    }

    @ParameterizedTest
    @CsvSource({"main, 0", "exit, 3", "throw, 1", "close, 0", "exit-after-close, 3"})
    void theEndOfAProgramDeliversItsLastSamples(String mode, int status) throws Exception {
        Running program = Running.start(mode, "end-" + mode);
        assertEquals(status, program.end(), program::toString);
        assertEquals(Program.SAMPLES, program.accepted());
        assertStored("end-" + mode, "count", Program.SAMPLES);
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143", "INT, 130", "HUP, 129"})
    void aSignalDeliversTheLastSamplesOfThreadsThatGoOn(String signal, int status) throws Exception {
        String name = "signal-" + signal;
        Running program = Running.start("threads", name);
        dac.eventually(name, "count", ledger -> stored(ledger) > Program.SAMPLES);
        assertEquals(0, new ProcessBuilder("kill", "-" + signal, Long.toString(program.process.pid())).start().waitFor());
        assertEquals(status, program.end(), program.log());
        Map<String, Object> ledger = dac.eventually(name, "count", found -> stored(found) == Dac.number(found, "received"));
        // A ring that was full has refused samples: they are missing, and were not accepted.
        long refused = ledger.get("causes") instanceof Map<?, ?> causes && causes.get("ring_full") instanceof Long count ? count : 0;
        assertEquals(program.accepted(), stored(ledger) + Dac.number(ledger, "missing") - refused, ledger::toString);
        assertEquals(0L, Dac.number(ledger, "unexplained"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"halt", "wait"})
    void aProcessThatIsKilledLosesItsLastSamplesOnly(String mode) throws Exception {
        String name = "killed-" + mode;
        Running killed = Running.start(mode, name);
        assertStored(name, "count", Program.SAMPLES);
        killed.say("go on");
        if (mode.equals("wait")) {
            killed.process.destroyForcibly(); // SIGKILL, perhaps while it flushes
        }
        assertEquals(mode.equals("halt") ? 3 : 137, killed.end());
        // Its next run has the name, and numbers of its own.
        Running next = Running.start("wait", name);
        next.say("go on");
        long all = 2L * Program.SAMPLES;
        dac.eventually(name, "count", ledger -> Dac.number(ledger, "last_sequence") == all && Dac.number(ledger, "received") >= 3L * Program.SAMPLES);
        next.say("end");
        assertEquals(0, next.end());
        Map<String, Object> ledger = dac.eventually(name, "count", found -> stored(found) == Dac.number(found, "received"));
        long accounted = stored(ledger) + Dac.number(ledger, "missing");
        assertTrue(accounted >= Program.SAMPLES + all && accounted <= 2 * all, ledger::toString);
        assertEquals(0L, Dac.number(ledger, "unexplained"), ledger::toString);
        assertTrue(stored(ledger) <= killed.accepted() + next.accepted() || mode.equals("wait"), ledger::toString);
    }

    @Test
    void aSecondProcessOfTheSameNameIsToldOnStandardError() throws Exception {
        Running first = Running.start("wait", "same");
        assertStored("same", "count", Program.SAMPLES);
        for (String mode : List.of("main", "exit")) {
            Running second = Running.start(mode, "same");
            second.end();
            String log = second.log();
            assertTrue(log.contains("name_taken") && log.contains(Program.SAMPLES + " samples were not received"), log);
        }
        Running closing = Running.start("close", "same");
        assertEquals(1, closing.end(), "close throws");
        assertTrue(closing.log().contains("RefusedException"), closing.log());
        first.say("go on");
        first.say("end");
        assertEquals(0, first.end(), first.log());
        assertStored("same", "count", first.accepted());
        assertEquals("", first.log());
    }

    @Test
    void aProcessThatAProgramStartsHasItsOwnNode() throws Exception {
        Running tree = Running.start("parent", "tree");
        assertEquals(0, tree.end(), tree.log());
        assertEquals(4L * Program.SAMPLES, tree.accepted());
        assertStored("tree", "count", 2L * Program.SAMPLES);
        assertStored("tree-1", "count", Program.SAMPLES);
        assertStored("tree-2", "count", Program.SAMPLES);
    }

    record Count(@Metric(unit = "1") long count) {}

    /** Starts a thread: a virtual one if this platform has them. */
    private static Thread start(Runnable run, boolean isVirtual) throws ReflectiveOperationException {
        if (isVirtual && Runtime.version().feature() >= 21) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
        }
        Thread thread = new Thread(run);
        thread.start();
        return thread;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void threadsFlushAtOnceWhileOthersLog(boolean isVirtual) throws Exception {
        String name = isVirtual ? "virtual" : "threads";
        NodeBuilder builder = new NodeBuilder(name);
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        LogHandler handler = new LogHandler(builder, "log", 1 << 20);
        Logger logger = Logger.getLogger("threads." + name);
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        AtomicLong accepted = new AtomicLong();
        try (Node node = builder.start(dac.channel)) {
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < 16; number++) {
                threads.add(start(() -> IntStream.range(0, 500).forEach(count -> accepted.addAndGet(probe.flush(new Count(count)) ? 1 : 0)), isVirtual));
                threads.add(start(() -> IntStream.range(0, 50).forEach(count -> logger.info("turn " + count)), isVirtual));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } finally {
            logger.removeHandler(handler);
        }
        // Samples without room are missing, also after the last one with room.
        Map<String, Object> ledger = dac.eventually(name, "count", found -> stored(found) == accepted.get());
        assertEquals(List.of(8_000L, 0L), List.of(stored(ledger) + Dac.number(ledger, "missing"), Dac.number(ledger, "unexplained")), ledger::toString);
        assertStored(name, "log", 800);
    }

    @Test
    void aClosedNodeRefusesSamplesAndClosesAgain() throws Exception {
        NodeBuilder builder = new NodeBuilder("closed");
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        Logger logger = Logger.getLogger("closed");
        logger.setUseParentHandlers(false);
        logger.addHandler(new LogHandler(builder));
        Node node = builder.start(dac.channel);
        assertTrue(probe.flush(new Count(1)));
        node.close();
        assertFalse(probe.flush(new Count(2)) || probe.flush(null));
        logger.warning("too late for the node, and no error");
        node.close();
        assertStored("closed", "count", 1);
    }

    @Test
    void aLargeRingIsEmptiedAtTheEnd() throws Exception {
        NodeBuilder builder = new NodeBuilder("large");
        PushedProbe<Count> probe = builder.pushed("count", SampleType.of(Count.class), 16 << 20, Overflow.DROP_NEWEST);
        // More than the collector takes at once.
        int samples = 3 * Batch.MAX_SAMPLES;
        for (int count = 0; count < samples; count++) {
            assertTrue(probe.flush(new Count(count)));
        }
        builder.start(dac.channel).close();
        assertStored("large", "count", samples);
    }
}
