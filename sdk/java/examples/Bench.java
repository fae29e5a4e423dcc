import oasis.Metric;
import oasis.Node;
import oasis.NodeBuilder;
import oasis.PushedProbe;

/** An engine on its test bench, ten times a second for a minute: docs/sdk/java.md says how to run it. */
public class Bench {
    record Engine(@Metric(unit = "/min") double speed, @Metric(unit = "Cel", warnAbove = 95) double temperature) {}

    public static void main(String[] arguments) throws InterruptedException {
        NodeBuilder builder = new NodeBuilder("bench");
        PushedProbe<Engine> probe = builder.pushed("engine", Engine.class);
        try (Node node = builder.start(arguments)) {
            for (int turn = 0; turn < 600; turn++) {
                probe.flush(new Engine(2900 + 100 * Math.sin(turn / 20.0), 80 + turn / 30.0));
                Thread.sleep(100);
            }
        }
    }
}
