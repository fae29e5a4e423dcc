package oasis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** A program with a node, for {@link ProcessesTest}: it says on standard output how many samples were accepted. */
final class Program {
    static final int SAMPLES = 200;
    private static final int THREADS = 4;
    private static final long PACE = 200_000;

    private static volatile boolean isEnding;

    private Program() {}

    record Count(@Metric(unit = "1") long count) {}

    public static void main(String[] arguments) throws Exception {
        String mode = arguments[0];
        String channel = arguments[1];
        String name = arguments[2];
        NodeBuilder builder = new NodeBuilder(name);
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        Node node = builder.start(channel);
        if (mode.equals("threads")) {
            flushUntilTheEnd(node, probe);
            return;
        }
        say(flush(probe));
        switch (mode) {
            case "main" -> { }
            case "exit" -> System.exit(3);
            case "throw" -> throw new IllegalStateException("a mistake of the program");
            case "close" -> node.close();
            case "exit-after-close" -> {
                node.close();
                System.exit(3);
            }
            case "parent" -> {
                for (int child = 1; child <= 2; child++) {
                    ProcessBuilder started = new ProcessBuilder(command("main", channel, name + "-" + child));
                    started.inheritIO().start().waitFor();
                }
                say(flush(probe));
            }
            case "halt" -> {
                listen();
                say(flush(probe));
                Runtime.getRuntime().halt(3);
            }
            case "wait" -> {
                listen();
                say(flush(probe));
                listen();
            }
            default -> throw new IllegalArgumentException(mode);
        }
    }

    static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-cp", "target/classes:target/test-classes", "oasis.Program"));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Returns how many of some samples were accepted. */
    private static long flush(PushedProbe<Count> probe) {
        long accepted = 0;
        for (int count = 0; count < SAMPLES; count++) {
            accepted += probe.flush(new Count(count)) ? 1 : 0;
        }
        return accepted;
    }

    private static synchronized void say(long accepted) {
        System.out.println("accepted " + accepted);
    }

    /** Waits for a line of the parent. */
    private static void listen() throws IOException {
        for (int octet = System.in.read(); octet >= 0 && octet != '\n'; octet = System.in.read()) { }
    }

    /** Flushes from several threads until a signal ends the program. They go on while the node ends. */
    private static void flushUntilTheEnd(Node node, PushedProbe<Count> probe) throws InterruptedException {
        AtomicLong accepted = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < THREADS; number++) {
            Thread thread = new Thread(() -> {
                while (!isEnding) {
                    accepted.addAndGet(probe.flush(new Count(0)) ? 1 : 0);
                    LockSupport.parkNanos(PACE);
                }
            });
            threads.add(thread);
            thread.start();
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            // Whichever hook is first: the node of this program is closed once.
            node.close();
            isEnding = true;
            threads.forEach(thread -> Node.join(thread, 0));
            say(accepted.get());
        }));
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
