package oasis.lab.push;

/** The little of JSON that answers need. */
final class Json {
    private Json() {}

    static String text(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Milliseconds between two readings of the clock, to a thousandth. */
    static double millis(long from, long to) {
        return (to - from) / 1000 / 1000.0;
    }
}
