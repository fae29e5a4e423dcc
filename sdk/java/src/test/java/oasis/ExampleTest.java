package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The example of docs/sdk/java.md, started as its readers start it. */
class ExampleTest {
    private static Process start(Dac dac) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        return new ProcessBuilder(java, "-cp", "target/classes", "examples/Bench.java", dac.channel).inheritIO().start();
    }

    @Test
    void itsSamplesArriveAlsoTheLastOnesAndARestartIsAnotherRun() throws Exception {
        try (Dac dac = Dac.start()) {
            for (int run = 1; run <= 2; run++) {
                long before = 3L * (run - 1);
                Process example = start(dac);
                try {
                    dac.eventually("bench", "engine", ledger -> Dac.number(ledger, "received") >= before + 3);
                } finally {
                    example.destroy();
                    assertTrue(example.waitFor(60, TimeUnit.SECONDS), "a hook sends the last samples, and ends");
                }
                Map<String, Object> ledger = dac.ledger("bench", "engine");
                assertEquals(List.of(0L, 0L), List.of(Dac.number(ledger, "missing"), Dac.number(ledger, "unexplained")), ledger::toString);
            }
            Map<String, Object> sample = dac.tail("bench/engine", 1).get(0);
            assertEquals(80.0, ((Number) sample.get("temperature")).doubleValue());
        }
    }
}
