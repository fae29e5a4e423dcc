package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Servers of applications: programs that are loaded again in one JVM, and very many threads (docs/sdk/java.md). */
class DeploymentTest {
    private static final int THREADS = 10_000;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private static Dac dac;

    @BeforeAll
    static void startADac() throws IOException {
        dac = Dac.start();
    }

    @AfterAll
    static void endIt() throws InterruptedException {
        dac.close();
    }

    /** Returns a class loader with an SDK of its own, as a server makes one for each application. */
    private static URLClassLoader loader() throws IOException {
        URL[] folders = {Path.of("target/classes").toUri().toURL(), Path.of("target/test-classes").toUri().toURL()};
        return new URLClassLoader(folders, ClassLoader.getPlatformClassLoader());
    }

    private static AutoCloseable deploy(ClassLoader loader, String name) throws ReflectiveOperationException {
        Class<?> deployed = loader.loadClass(Deployed.class.getName());
        assertNotSame(Deployed.class, deployed);
        return (AutoCloseable) deployed.getConstructor(String.class, String.class).newInstance(dac.channel, name);
    }

    private static void assertReceived(String node, long samples) throws Exception {
        Map<String, Object> ledger = dac.eventually(node, "count", found -> Dac.number(found, "received") >= samples);
        assertEquals(List.of(samples, 0L), List.of(Dac.number(ledger, "received"), Dac.number(ledger, "missing")), ledger::toString);
    }

    @Test
    void aProgramThatIsDeployedAgainIsAnotherRunOfItsNodeAndLeavesNothingBehind() throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int turn = 1; turn <= 3; turn++) {
            try (URLClassLoader loader = loader()) {
                deploy(loader, "again").close();
                loaders.add(new WeakReference<>(loader));
            }
            assertReceived("again", (long) turn * Deployed.SAMPLES);
        }
        long start = System.nanoTime();
        while (loaders.stream().anyMatch(loader -> loader.get() != null)) {
            assertTrue(System.nanoTime() - start < PATIENCE, () -> "something refers to a class of an ended program; threads: " + Thread.getAllStackTraces().keySet());
            System.gc();
        }
    }

    @Test
    void twoProgramsOfOneServerHaveNodesOfTheirOwn() throws Exception {
        try (URLClassLoader one = loader(); URLClassLoader other = loader()) {
            AutoCloseable first = deploy(one, "first");
            AutoCloseable second = deploy(other, "second");
            first.close();
            assertReceived("first", Deployed.SAMPLES);
            assertReceived("second", Deployed.SAMPLES);
            second.close();
        }
    }

    /** Starts a virtual thread if this platform has them. */
    private static Thread start(Runnable run) throws ReflectiveOperationException {
        if (Runtime.version().feature() >= 21) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
        }
        Thread thread = new Thread(run);
        thread.start();
        return thread;
    }

    @Test
    void eachSampleOfTenThousandThreadsIsStoredOrCounted() throws Exception {
        NodeBuilder builder = new NodeBuilder("many");
        PushedProbe<Deployed.Count> probe = builder.pushed("count", Deployed.Count.class);
        AtomicLong accepted = new AtomicLong();
        try (Node node = builder.start(dac.channel)) {
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < THREADS; number++) {
                long count = number;
                threads.add(start(() -> accepted.addAndGet(probe.flush(new Deployed.Count(count)) ? 1 : 0)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        Map<String, Object> ledger = dac.eventually("many", "count", found -> Dac.number(found, "received") + Dac.number(found, "missing") == THREADS);
        assertEquals(List.of(accepted.get(), 0L), List.of(Dac.number(ledger, "received"), Dac.number(ledger, "unexplained")), ledger::toString);
    }
}
