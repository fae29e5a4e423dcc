package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records of java.util.logging become samples of the type that every language uses. */
class LogHandlerTest {
    @Test
    void aRecordArrivesWithLevelMessageAndTrace() throws Exception {
        Logger logger = Logger.getLogger("plant.pump");
        logger.setUseParentHandlers(false);
        NodeBuilder builder = new NodeBuilder("logging");
        LogHandler handler = new LogHandler(builder);
        logger.addHandler(handler);
        try (Dac dac = Dac.start(); Node node = builder.start(dac.channel)) {
            logger.log(Level.WARNING, "pressure is {0} bar", 8.1);
            logger.log(Level.SEVERE, "x".repeat(5_000), new IllegalStateException("stuck"));
            logger.log(Level.FINE, "not wanted");
            dac.eventually("logging", "log", ledger -> Dac.number(ledger, "received") == 2);
            List<Map<String, Object>> samples = dac.tail("logging/log", 2);
            assertEquals("pressure is 8.1 bar", samples.get(0).get("message"));
            assertEquals("plant.pump", samples.get(0).get("target"));
            assertEquals(List.of(13L, 17L), samples.stream().map(sample -> sample.get("level")).toList());
            assertTrue(samples.get(1).get("message").toString().endsWith("…"), samples::toString);
            assertTrue(samples.get(1).get("fields").toString().contains("java.lang.IllegalStateException"), samples::toString);
            assertTrue((Long) samples.get(1).get("cut") > 2_900, samples::toString);
        } finally {
            logger.removeHandler(handler);
        }
    }

    @Test
    void theNodeDoesNotLogIntoItself() {
        NodeBuilder builder = new NodeBuilder("itself");
        LogHandler handler = new LogHandler(builder, "log", 4_096);
        handler.publish(new java.util.logging.LogRecord(Level.SEVERE, "lost") {
            private static final long serialVersionUID = 1;

            @Override
            public String getLoggerName() {
                return "oasis";
            }
        });
        handler.publish(null);
        builder.start("127.0.0.1:1").close();
    }

    @Test
    void theSchemaIsThatOfThePdl(@TempDir Path folder) throws Exception {
        Dac.run("pdl", "compile", "--lang", "json", "-o", folder.toString(), "../../pdl/instrument/log.pdl");
        assertEquals(Json.parse(Files.readString(folder.resolve("log.json"))), Json.parse(Files.readString(Path.of("src/main/resources/oasis/log.json"))));
    }

    @Test
    void recordsHaveTheLayoutOfThePdl(@TempDir Path folder) throws Exception {
        Dac.run("pdl", "compile", "--lang", "json", "-o", folder.toString(), "../../vectors/shapes.pdl");
        String schemas = Files.readString(folder.resolve("shapes.json"));
        for (Map.Entry<String, Class<? extends Record>> probe : Shapes.PROBES.entrySet()) {
            ProbeType type = ProbeType.parse(schemas, probe.getKey());
            assertEquals(type, SampleType.of(probe.getValue(), type).type());
            assertEquals(type.uuid(), SampleType.of(probe.getValue()).type().uuid());
        }
    }
}
