package oasis;

import java.util.ArrayDeque;
import java.util.Comparator;

/** The DAC's clock relative to the node's, from ping and pong: the exchange with the shortest round trip is the most accurate (RFC 5905, 10). */
final class ClockOffset {
    private static final int EXCHANGES = 16;
    /** What two clocks drift apart while these are remembered, at most, in nanoseconds: 100 ppm. */
    private static final long DRIFT = 1_500_000;

    /**
     * The result of an exchange.
     *
     * @param roundTrip nanoseconds
     * @param offset DAC clock minus node clock, in nanoseconds
     */
    record Exchange(long roundTrip, long offset) {}

    private final ArrayDeque<Exchange> exchanges = new ArrayDeque<>();

    /** Records an exchange: the ping left at {@code sent}, the DAC's clock read {@code dac}, and the answer arrived at {@code received}. */
    void exchange(long sent, long dac, long received) {
        long roundTrip = received - sent;
        if (roundTrip < 0) {
            return; // the node's clock was set back meanwhile
        }
        long offset = dac - (sent + roundTrip / 2);
        // Both cannot be right: one of the clocks was set meanwhile.
        exchanges.removeIf(known -> Math.abs(known.offset - offset) > known.roundTrip / 2 + roundTrip / 2 + DRIFT);
        if (exchanges.size() == EXCHANGES) {
            exchanges.remove();
        }
        exchanges.add(new Exchange(roundTrip, offset));
    }

    /** Returns the best exchange, or null. */
    Exchange estimate() {
        return exchanges.stream().min(Comparator.comparingLong(Exchange::roundTrip)).orElse(null);
    }
}
