package oasis;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import oasis.MetricType.Primitive;

/** Measures what a flush costs the watched thread: `make bench-java`. */
final class FlushBench {
    private static final int BLOCK = 1_000;
    private static final int BLOCKS = 2_000;

    private FlushBench() {}

    record Loop(double lateness, double busy, @Metric(type = Primitive.UINT64) long turns, @Metric(type = Primitive.UINT8) int phase) {}

    public static void main(String[] arguments) throws InterruptedException {
        NodeBuilder builder = new NodeBuilder("bench");
        SampleType<Loop> type = SampleType.of(Loop.class);
        PushedProbe<Loop> room = builder.pushed("room", type, 1 << 20, Overflow.DROP_NEWEST);
        PushedProbe<Loop> full = builder.pushed("full", type, 64, Overflow.DROP_NEWEST);
        PushedProbe<Loop> oldest = builder.pushed("oldest", type, 4_096, Overflow.DROP_OLDEST);
        PushedProbe<Loop> disabled = builder.pushed("disabled", type, 64, Overflow.DROP_NEWEST);
        builder.disabled("disabled");
        try (Node node = builder.start("127.0.0.1:1")) {
            for (int warm = 0; warm < 2; warm++) {
                boolean prints = warm == 1;
                measure("the clock alone", prints, turn -> PushedProbe.now() > 0);
                measure("flush, ring with room", prints, turn -> room.flush(new Loop(turn * 0.1, turn * 0.2, turn, turn & 3)));
                measure("flush, ring full", prints, turn -> full.flush(new Loop(turn * 0.1, turn * 0.2, turn, turn & 3)));
                measure("flush, drop oldest", prints, turn -> oldest.flush(new Loop(turn * 0.1, turn * 0.2, turn, turn & 3)));
                measure("flush, disabled", prints, turn -> disabled.flush(new Loop(turn * 0.1, turn * 0.2, turn, turn & 3)));
            }
        }
    }

    /** One flush. */
    private interface Flush {
        boolean run(int turn);
    }

    private static void measure(String name, boolean prints, Flush flush) throws InterruptedException {
        long[] times = new long[BLOCKS];
        int taken = 0;
        for (int block = 0; block < BLOCKS; block++) {
            long began = System.nanoTime();
            for (int turn = 0; turn < BLOCK; turn++) {
                taken += flush.run(turn) ? 1 : 0;
            }
            times[block] = System.nanoTime() - began;
            if (block % 10 == 0) {
                TimeUnit.MILLISECONDS.sleep(5); // the node empties the ring
            }
        }
        Arrays.sort(times);
        if (prints) {
            System.out.printf("%-24s median %4d ns, p99 of blocks of %,d: %5d ns, taken %d%%%n", name, times[BLOCKS / 2] / BLOCK, BLOCK, times[BLOCKS * 99 / 100] / BLOCK,
                    100L * taken / BLOCK / BLOCKS);
        }
    }
}
