import oasis.Metric;
import oasis.Node;
import oasis.NodeBuilder;
import oasis.PushedProbe;

/** An engine on its test bench, ten times a second: docs/sdk/java.md says how to run it. */
public class Engine {
    record Sample(@Metric(unit = "/min") double speed, @Metric(unit = "Cel", warnAbove = 95) double temperature) {}

    public static void main(String[] arguments) throws InterruptedException {
        NodeBuilder builder = new NodeBuilder("bench");
        PushedProbe<Sample> engine = builder.pushed("engine", Sample.class);
        try (Node node = builder.start(arguments)) {
            for (int turn = 0; turn < 600; turn++) {
                engine.flush(new Sample(2900 + 100 * Math.sin(turn / 20.0), 80 + turn / 30.0));
                Thread.sleep(100);
            }
        }
    }
}
