import oasis.Metric;
import oasis.Node;
import oasis.NodeBuilder;
import oasis.Probe;
import oasis.PushedProbe;

/** A motor, a hundred times a second. */
public class Main {
    enum Mode { IDLE, RUNNING }

    /** A record is a probe type, and each component a metric. */
    @Probe(name = "Machine::Motor", version = "1.0", uuid = "@uuid@")
    record Motor(
            @Metric(unit = "/min", label = "Speed", max = 9000) double speed,
            @Metric(unit = "Cel", label = "Temperature", warnAbove = 80, alarmAbove = 95) double temperature,
            Mode mode) {}

    private static String variable(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    public static void main(String[] arguments) throws InterruptedException {
        if (!variable("OASIS_CONFIG", "").isEmpty()) {
            System.err.println("@name@: OASIS_CONFIG is refused: a node in Java has its settings in code; unset it, and set OASIS_DAC");
            System.exit(1);
        }
        // With several, separated by commas, the node goes to the next one when it loses one.
        String dac = arguments.length > 0 ? arguments[0] : variable("OASIS_DAC", "127.0.0.1:7071");
        NodeBuilder builder = new NodeBuilder("@name@");
        PushedProbe<Motor> probe = builder.pushed("motor", Motor.class);
        try (Node node = builder.start(dac.split(","))) {
            System.out.println("@name@ runs; Ctrl-C ends it.");
            for (int turn = 0; ; turn++) {
                double seconds = turn / 100.0;
                // Never waits: if the ring is full, the sample is dropped and counted.
                probe.flush(new Motor(3000 + 500 * Math.sin(seconds), 70 + 15 * Math.sin(seconds / 10), Mode.RUNNING));
                Thread.sleep(10);
            }
        }
    }
}
