package oasis;

import java.util.stream.IntStream;

/** A program that a server loads by a class loader of its own, for {@link DeploymentTest}. */
public final class Deployed implements AutoCloseable {
    static final int SAMPLES = 100;

    private final Node node;

    record Count(@Metric(unit = "1") long count) {}

    /** Starts a node, which takes {@link #SAMPLES} samples. */
    public Deployed(String dac, String name) {
        NodeBuilder builder = new NodeBuilder(name);
        PushedProbe<Count> probe = builder.pushed("count", Count.class);
        node = builder.start(dac);
        if (!IntStream.range(0, SAMPLES).allMatch(count -> probe.flush(new Count(count)))) {
            throw new IllegalStateException("the ring has no room");
        }
    }

    @Override
    public void close() {
        node.close();
    }
}
