package oasis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import oasis.MetricType.Primitive;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Records and lists agree with the generated code of every other language on every byte of vectors/shapes.json. */
class ShapesTest {
    private static final List<Map<String, Object>> CASES = Vectors.objects(Json.asObject(Vectors.read("shapes.json"), "file").get("cases"));

    @Test
    void everyProbeHasACase() {
        Set<Object> names = CASES.stream().map(of -> of.get("probe")).collect(Collectors.toSet());
        assertEquals(Shapes.PROBES.keySet(), names);
    }

    @TestFactory
    Stream<DynamicTest> aSampleIsTheSameInEveryForm() {
        return CASES.stream().map(of -> dynamicTest((String) of.get("name"), () -> check(SampleType.of(Shapes.PROBES.get(of.get("probe"))), of)));
    }

    private static <R extends Record> void check(SampleType<R> type, Map<String, Object> of) {
        byte[] row = Vectors.hex(of.get("row"));
        SampleType<List<Object>> lists = SampleType.of(type.type());
        assertArrayEquals(row, lists.toRow(Vectors.sample(of.get("values"), type.type())), "of lists");
        R sample = type.fromRow(row);
        assertArrayEquals(row, type.toRow(sample), "of a record");
        assertArrayEquals(row, lists.toRow(lists.fromRow(row)), "of lists that were read");
        EisaPacket<R> packet = new EisaPacket<>("shapes", sample, 41, 1_763_683_199, 999_000, 2);
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            byte[] expected = Vectors.hex(of.get(order == ByteOrder.BIG_ENDIAN ? "big" : "little"));
            assertArrayEquals(expected, packet.encode(type, order), "a packet, " + order);
            EisaPacket<R> read = EisaPacket.decode(expected, type, order);
            assertArrayEquals(row, type.toRow(read.sample()));
            assertEquals(List.of("shapes", 41L, 1_763_683_199L, 999_000L, 2), List.of(read.instance(), read.sequence(), read.seconds(), read.microseconds(), read.state()));
            for (int length = 0; length < expected.length; length++) {
                byte[] part = Arrays.copyOf(expected, length);
                assertThrows(DecodeException.class, () -> EisaPacket.decode(part, type, order));
            }
        }
        for (int length = 0; length < row.length; length++) {
            byte[] part = Arrays.copyOf(row, length);
            assertThrows(DecodeException.class, () -> type.fromRow(part));
        }
        byte[] batch = Vectors.hex(of.get("batch"));
        Batch.decode(batch, type).samples().forEach(one -> assertArrayEquals(row, type.toRow(one.sample())));
    }

    @Test
    void garbageIsRefusedAndNothingElseIsThrown() {
        Random random = new Random(7);
        SampleType<Shapes.Structs> type = SampleType.of(Shapes.Structs.class);
        for (int turn = 0; turn < 20_000; turn++) {
            byte[] garbage = new byte[random.nextInt(80)];
            random.nextBytes(garbage);
            try {
                type.fromRow(garbage);
            } catch (DecodeException expected) {
                assertTrue(expected.offset() <= garbage.length);
            }
            try {
                EisaPacket.decode(garbage, type, ByteOrder.LITTLE_ENDIAN);
            } catch (DecodeException expected) {
                assertTrue(expected.offset() <= garbage.length);
            }
        }
    }

    @Test
    void aDamagedBatchIsRefusedOrRead() {
        Random random = new Random(8);
        List<Map<String, Object>> cases = Vectors.objects(Json.asObject(Vectors.read("native-batch.json"), "file").get("valid"));
        for (Map<String, Object> of : cases) {
            SampleType<List<Object>> type = SampleType.of(ProbeType.ofJson(Json.asObject(of.get("schema"), "schema")));
            byte[] bytes = Vectors.hex(of.get("bytes"));
            for (int turn = 0; turn < 50; turn++) {
                byte[] damaged = bytes.clone();
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
                try {
                    Batch.decode(damaged, type);
                } catch (DecodeException expected) {
                    assertTrue(expected.offset() <= damaged.length);
                }
            }
        }
    }

    @Test
    void aValueThatItsMetricCannotCarryIsNamed() {
        record Speed(@Metric(type = Primitive.UINT16) int speed) {}

        SampleType<Speed> type = SampleType.of(Speed.class);
        assertEquals("Speed.speed: expected uint16 (0 to 65535), got 70000", assertThrows(EncodeException.class, () -> type.toRow(new Speed(70_000))).getMessage());
        SampleType<Shapes.Texts> texts = SampleType.of(Shapes.Texts.class);
        assertEquals("Shapes::Texts.text: the text contains half of a surrogate pair",
                assertThrows(EncodeException.class, () -> texts.toRow(new Shapes.Texts("\ud800", true, List.of()))).getMessage());
        assertEquals("Shapes::Texts.texts: expected a list or an array, got null",
                assertThrows(EncodeException.class, () -> texts.toRow(new Shapes.Texts("", true, null))).getMessage());
    }

    @Test
    void aRecordThatIsNoProbeIsRefusedWithAReason() {
        record Wrong(Object thing) {}

        record Endless(List<Endless> more) {}

        record Twice(int one, @Metric(name = "one") int other) {}

        assertTrue(assertThrows(IllegalArgumentException.class, () -> SampleType.of(Wrong.class)).getMessage().startsWith("Wrong.thing: java.lang.Object is no type"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> SampleType.of(Endless.class)).getMessage().contains("deeper than 16"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> SampleType.of(Twice.class)).getMessage().contains("duplicate metric \"one\""));
    }

    @Test
    void anotherLayoutIsAnotherType() {
        ProbeType one = ProbeType.named("Plant::Engine").metric("speed", Primitive.UINT16, about -> about.unit("/min")).build();
        ProbeType same = ProbeType.named("Plant::Engine").metric("speed", Primitive.UINT16).build();
        ProbeType other = ProbeType.named("Plant::Engine").metric("speed", Primitive.UINT32).build();
        assertEquals(one.uuid(), same.uuid());
        assertTrue(!one.uuid().equals(other.uuid()));
    }

    @Test
    void aSchemaSurvivesJson() {
        ProbeType type = ProbeType.named("Plant::Engine").doc("An \"engine\".").demand(1, 100)
                .metric("speed", Primitive.REAL64, about -> about.unit("/min").kind("gauge").label("Speed").doc("é").min(0).max(5000).warnAbove(4000).alarmBelow(1))
                .metric("names", new MetricType.Vector(Primitive.STRING)).build();
        assertEquals(type, ProbeType.parse(type.toJson(), "Plant::Engine"));
        assertThrows(IllegalArgumentException.class, () -> ProbeType.parse(type.toJson(), "Plant::Pump"));
    }
}
