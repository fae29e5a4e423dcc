package oasis;

import java.time.Duration;
import java.util.List;

/**
 * Sends only the samples around a trigger: the command {@code trigger}, or a limit that a metric crosses.
 *
 * @param before how much time before a trigger is sent
 * @param after how long after a trigger samples are sent at once; another trigger restarts it
 * @param bytes memory for the time before, at most 1 GiB; a sample takes its row and 64 bytes
 * @param triggers limits, written {@code metric > limit} or {@code metric < limit}
 */
public record FlightRecorder(Duration before, Duration after, int bytes, List<String> triggers) {
    /** Checks and copies the settings. */
    public FlightRecorder {
        triggers = List.copyOf(triggers);
        if (before.isNegative() || after.isNegative() || bytes < 0 || bytes > Ring.MAX_BYTES) {
            throw new IllegalArgumentException("invalid flight recorder: use times of 0 or more, and 0 to " + Ring.MAX_BYTES + " bytes");
        }
    }

    /** Ten seconds before a trigger, five after it, 16 MiB. */
    public static FlightRecorder of(String... triggers) {
        return new FlightRecorder(Duration.ofSeconds(10), Duration.ofSeconds(5), 16 << 20, List.of(triggers));
    }
}
