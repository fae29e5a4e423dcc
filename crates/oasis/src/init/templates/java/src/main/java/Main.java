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

    public static void main(String[] arguments) throws InterruptedException {
        NodeBuilder builder = new NodeBuilder("@name@");
        PushedProbe<Motor> probe = builder.pushed("motor", Motor.class);
        try (Node node = arguments.length > 0 ? builder.start(arguments[0]) : builder.start("127.0.0.1:7071")) {
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
