package oasis;

/** A value that its metric cannot carry. Nothing is rounded or cut to fit, but for a {@code real32}, which is the nearest single. */
public final class EncodeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final String metric;

    EncodeException(String metric, String problem) {
        super(metric + ": " + problem);
        this.metric = metric;
    }

    /** Returns the metric, such as {@code Plant::Engine.speed}. */
    public String metric() {
        return metric;
    }
}
