package oasis;

import java.lang.System.Logger.Level;

/**
 * A running node: it sends the samples of its probes to a DAC, and executes commands. Close it at the end of the program; what a program that ends without has
 * not sent, a hook of the virtual machine sends.
 */
public final class Node implements AutoCloseable {
    static final System.Logger LOG = System.getLogger("oasis");

    /** How long the end waits for a periodic probe that is being called, in milliseconds. */
    private static final long LAST_CALL = 2_000;
    /** How long it waits for the last samples of large rings. */
    private static final long LAST_SAMPLES = 60_000;
    /** How long it waits for the DAC: an acknowledgement in 2 s, and its goodbye in half a second. */
    private static final long LAST_WORDS = 4_000;

    private final Outbox outbox;
    private final Collector collector;
    private final Shipper shipper;
    private final Thread collecting;
    private final Thread shipping;
    private final Thread hook;
    private boolean isClosed;

    Node(Outbox outbox, Collector collector, Shipper shipper) {
        this.outbox = outbox;
        this.collector = collector;
        this.shipper = shipper;
        collecting = thread("oasis-collector", collector);
        shipping = thread("oasis-shipper", shipper);
        hook = new Thread(this::endWithProgram, "oasis-last-samples");
    }

    void start() {
        collecting.start();
        shipping.start();
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Makes a thread that does not keep the program running. */
    static Thread thread(String name, Runnable run) {
        Thread thread = new Thread(run, name);
        thread.setDaemon(true);
        return thread;
    }

    /** A DAC has refused the node, such as for a name that another node has: it has not received the samples. */
    public static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RefusedException(String message) {
            super(message);
        }
    }

    /** Returns why the DAC that answered last has refused the node; null once a DAC has taken it, and before any has answered. */
    public String refusal() {
        return outbox.with(held -> held.refusal);
    }

    /** Returns whether a DAC has taken the node since it started. */
    public boolean wasTaken() {
        return outbox.with(held -> held.wasTaken);
    }

    /** Returns the memory of batches that wait for the DAC, in bytes. */
    public long spoolBytes() {
        return outbox.with(held -> held.spool.bytes());
    }

    /**
     * Takes the last samples, sends them, and waits up to two seconds until the DAC has them. Probes refuse samples from then on. A second call changes nothing.
     *
     * @throws RefusedException if the DAC refuses the node
     */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ends) {
            LOG.log(Level.DEBUG, "the program ends already");
        }
        String lost = end();
        if (lost != null) {
            LOG.log(Level.WARNING, lost);
        }
        String refusal = refusal();
        if (refusal != null) {
            throw new RefusedException(refusal);
        }
    }

    /** Ends the node with its program. Another hook may have closed the program's log already. */
    private void endWithProgram() {
        String lost = end();
        String refusal = refusal();
        if (refusal != null) {
            System.err.println("oasis: " + refusal);
        }
        if (lost != null) {
            System.err.println("oasis: " + lost);
        }
    }

    /** Ends the node, once. Returns what was lost, or null. */
    private synchronized String end() {
        if (isClosed) {
            return null;
        }
        isClosed = true;
        collector.stop();
        join(collecting, LAST_CALL);
        if (collector.isFinishing()) {
            join(collecting, LAST_SAMPLES);
        }
        if (collecting.isAlive()) {
            LOG.log(Level.WARNING, "a periodic probe does not return: samples of this node may be missing");
        }
        outbox.with(held -> held.isClosing = true);
        join(shipping, LAST_WORDS);
        shipper.abort();
        long left = outbox.with(held -> held.spool.countUnreceived());
        return left == 0 ? null : left + " samples were not received by a DAC: keep the node open until it has connected, or start the DAC first";
    }

    static void join(Thread thread, long millis) {
        try {
            thread.join(millis);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
