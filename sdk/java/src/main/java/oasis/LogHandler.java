package oasis;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;

/**
 * Turns records of {@code java.util.logging} into samples, as every language of OASIS does (docs/guides/log-from-your-program.md). A thread that logs never
 * waits; a record that finds the ring full is dropped and counted. Texts have bounds: a longer one is cut, and its missing bytes are counted.
 *
 * <pre>{@code
 * Logger.getLogger("").addHandler(new LogHandler(builder));
 * }</pre>
 */
public final class LogHandler extends Handler {
    private static final int RING_BYTES = 256 * 1024;
    private static final int MESSAGE = 2_048;
    private static final int NAME = 128;
    private static final int THREAD = 64;
    private static final int VALUE = 256;
    private static final String CUT = "…";

    private final PushedProbe<Row> probe;
    private final Formatter formatter = new SimpleFormatter();

    @Probe(name = "OASIS::Program::LogLevel")
    private enum Severity implements Numbered {
        TRACE(1), DEBUG(5), INFO(9), WARN(13), ERROR(17), FATAL(21);

        private final int number;

        Severity(int number) {
            this.number = number;
        }

        @Override
        public int number() {
            return number;
        }

        static Severity of(Level level) {
            int value = level.intValue();
            if (value >= Level.SEVERE.intValue()) {
                return ERROR;
            } else if (value >= Level.WARNING.intValue()) {
                return WARN;
            } else if (value >= Level.INFO.intValue()) {
                return INFO;
            }
            return value >= Level.FINE.intValue() ? DEBUG : TRACE;
        }
    }

    @Probe(name = "OASIS::Program::Field")
    private record Field(String name, String value) {}

    private record Row(Severity level, String target, String message, String file, @Metric(type = MetricType.Primitive.UINT32) int line, String thread, String span,
            List<Field> fields, @Metric(type = MetricType.Primitive.UINT64) long cut) {}

    /** Adds the instance {@code log} to a node. */
    public LogHandler(NodeBuilder node) {
        this(node, "log", RING_BYTES);
    }

    /**
     * Adds an instance to a node.
     *
     * @param ringBytes the ring between the threads that log and the node; a record takes the bytes of its texts and about 70 more
     * @throws IllegalArgumentException if the node has an instance of this name
     */
    public LogHandler(NodeBuilder node, String instance, int ringBytes) {
        probe = node.pushed(instance, SampleType.of(Row.class, type()), ringBytes, Overflow.DROP_NEWEST);
    }

    private static ProbeType type() {
        try (InputStream schema = LogHandler.class.getResourceAsStream("log.json")) {
            return ProbeType.parse(new String(schema.readAllBytes(), StandardCharsets.UTF_8), "OASIS::Program::LogProbe");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Override
    public void publish(LogRecord record) {
        // The node's own log would only fill its ring.
        String target = record == null ? "oasis" : String.valueOf(record.getLoggerName());
        if (!probe.isEnabled() || !isLoggable(record) || target.equals("oasis")) {
            return;
        }
        try {
            probe.flushAt(record.getInstant().getEpochSecond() * 1_000_000_000 + record.getInstant().getNano(), row(record, target));
        } catch (RuntimeException | StackOverflowError failed) { // of an object in the message
            reportError("cannot format a record of " + target + ": " + failed, null, java.util.logging.ErrorManager.FORMAT_FAILURE);
        }
    }

    private Row row(LogRecord record, String target) {
        Cutter cutter = new Cutter();
        Throwable thrown = record.getThrown();
        String message = formatter.formatMessage(record);
        String text = thrown == null ? message : message + System.lineSeparator() + trace(thrown);
        List<Field> fields = thrown == null ? List.of() : List.of(new Field("exception", cutter.text(thrown.getClass().getName(), VALUE)));
        return new Row(Severity.of(record.getLevel()), cutter.text(target, NAME), cutter.text(text == null ? "" : text, MESSAGE), "", 0,
                cutter.text(Thread.currentThread().getName(), THREAD), "", fields, cutter.cut);
    }

    private static String trace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    /** Cuts texts to their bounds, and counts the bytes. */
    private static final class Cutter {
        private long cut;

        String text(String text, int bytes) {
            // Half of a surrogate pair has no UTF-8; Java writes a question mark.
            byte[] whole = text.getBytes(StandardCharsets.UTF_8);
            if (whole.length <= bytes) {
                return new String(whole, StandardCharsets.UTF_8);
            }
            int end = bytes - CUT.getBytes(StandardCharsets.UTF_8).length;
            while ((whole[end] & 0xc0) == 0x80) {
                end--;
            }
            cut += whole.length - end;
            return new String(whole, 0, end, StandardCharsets.UTF_8) + CUT;
        }
    }

    /** Does nothing: the node sends records as they come. */
    @Override
    public void flush() {}

    /** Does nothing: the node ends on its own. */
    @Override
    public void close() {}
}
