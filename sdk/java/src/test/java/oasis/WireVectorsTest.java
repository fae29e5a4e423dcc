package oasis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The wire agrees with every other language on every byte of the vectors. */
class WireVectorsTest {
    private static final Map<String, Object> BATCHES = Json.asObject(Vectors.read("native-batch.json"), "file");
    private static final Map<String, Object> PACKETS = Json.asObject(Vectors.read("eisa.json"), "file");
    private static final List<String> ENCODINGS = List.of("plain", "delta", "rice", "xor", "rows", "constant");

    private static SampleType<List<Object>> type(Map<String, Object> of) {
        return SampleType.of(ProbeType.ofJson(Json.asObject(of.get("schema"), "schema")));
    }

    @TestFactory
    Stream<DynamicTest> aBatchIsDecoded() {
        return Vectors.objects(BATCHES.get("valid")).stream().map(of -> dynamicTest((String) of.get("name"), () -> {
            SampleType<List<Object>> type = type(of);
            Map<String, Object> header = Json.asObject(of.get("header"), "header");
            Batch<List<Object>> batch = Batch.decode(Vectors.hex(of.get("bytes")), type);
            assertEquals(header(header), batch.header());
            List<Batch.Timed<List<Object>>> expected = new ArrayList<>();
            for (Map<String, Object> sample : Vectors.objects(of.get("samples"))) {
                expected.add(new Batch.Timed<>(number(sample.get("time")), boxed(type, Vectors.sample(sample.get("values"), type.type()))));
            }
            assertEquals(expected.size(), batch.samples().size());
            for (int index = 0; index < expected.size(); index++) {
                assertEquals(expected.get(index).time(), batch.samples().get(index).time());
                assertArrayEquals(type.toRow(expected.get(index).sample()), type.toRow(batch.samples().get(index).sample()), "sample " + index);
            }
        }));
    }

    private static List<Object> boxed(SampleType<List<Object>> type, List<Object> sample) {
        return type.fromRow(type.toRow(sample));
    }

    private static long number(Object text) {
        return Long.parseUnsignedLong((String) text);
    }

    private static Batch.Header header(Map<String, Object> of) {
        return new Batch.Header((int) (long) (Long) of.get("state"), (int) (long) (Long) of.get("topic"), number(of.get("first_sequence")), number(of.get("offset")),
                number(of.get("node_time")), number(of.get("dac_time")), (int) (long) (Long) of.get("dropped_before"), (int) (long) (Long) of.get("count"));
    }

    @TestFactory
    Stream<DynamicTest> aBatchIsEncodedAsTheVectorsSay() {
        return Vectors.objects(BATCHES.get("valid")).stream().map(of -> dynamicTest((String) of.get("name"), () -> {
            byte[] expected = Vectors.hex(of.get("bytes"));
            int[] encodings = Json.asList(of.get("encodings"), "encodings").stream().mapToInt(ENCODINGS::indexOf).toArray();
            assertArrayEquals(expected, encoded(of, encodings), "in these encodings");
            SampleType<List<Object>> type = type(of);
            byte[] smallest = encoded(of, null);
            Batch<List<Object>> ours = Batch.decode(smallest, type);
            Batch<List<Object>> theirs = Batch.decode(expected, type);
            for (int index = 0; index < theirs.samples().size(); index++) {
                assertArrayEquals(type.toRow(theirs.samples().get(index).sample()), type.toRow(ours.samples().get(index).sample()), "sample " + index);
            }
            if (smallest.length > expected.length) {
                throw new AssertionError("the encoder takes " + smallest.length + " bytes, the vectors take " + expected.length);
            }
        }));
    }

    /** Encodes the samples, and stamps what the DAC stamps. */
    private static byte[] encoded(Map<String, Object> of, int[] encodings) {
        SampleType<List<Object>> type = type(of);
        BatchEncoder encoder = new BatchEncoder(type.type());
        for (Map<String, Object> sample : Vectors.objects(of.get("samples"))) {
            byte[] row = type.toRow(Vectors.sample(sample.get("values"), type.type()));
            encoder.push(number(sample.get("time")), row, row.length);
        }
        Batch.Header header = header(Json.asObject(of.get("header"), "header"));
        byte[] bytes = encoder.finish(header.topic(), header.state(), header.firstSequence(), header.nodeTime(), encodings);
        BatchEncoder.stamp(bytes, header.topic(), header.droppedBefore());
        Writer stamped = new Writer.Row(8);
        stamped.little(header.offset(), 8);
        System.arraycopy(stamped.bytes, 0, bytes, 16, 8);
        stamped.clear();
        stamped.little(header.dacTime(), 8);
        System.arraycopy(stamped.bytes, 0, bytes, 32, 8);
        return bytes;
    }

    @TestFactory
    Stream<DynamicTest> anInvalidBatchIsRefused() {
        Map<String, Object> invalid = Json.asObject(BATCHES.get("invalid"), "invalid");
        ProbeType.Builder builder = ProbeType.named("Invalid");
        Json.asList(Json.asObject(invalid.get("schema"), "schema").get("metrics"), "metrics").forEach(metric -> builder.add(ProbeType.Field.ofJson(metric)));
        SampleType<List<Object>> type = SampleType.of(builder.build());
        return Vectors.objects(invalid.get("cases")).stream().map(of -> dynamicTest((String) of.get("name"),
                () -> assertThrows(DecodeException.class, () -> Batch.decode(Vectors.hex(of.get("bytes")), type))));
    }

    @TestFactory
    Stream<DynamicTest> noPartOfABatchIsABatch() {
        return Vectors.objects(BATCHES.get("valid")).stream().map(of -> dynamicTest((String) of.get("name"), () -> {
            byte[] bytes = Vectors.hex(of.get("bytes"));
            SampleType<List<Object>> type = type(of);
            for (int length = 0; length < bytes.length; length += Math.max(1, bytes.length / 300)) {
                byte[] part = Arrays.copyOf(bytes, length);
                assertThrows(DecodeException.class, () -> Batch.decode(part, type));
            }
        }));
    }

    @TestFactory
    Stream<DynamicTest> aPacketIsWrittenAndReadInBothOrders() {
        return Vectors.objects(PACKETS.get("cases")).stream().map(of -> dynamicTest((String) of.get("name"), () -> {
            SampleType<List<Object>> type = type(of);
            Map<String, Object> about = Json.asObject(of.get("packet"), "packet");
            List<Map<String, Object>> samples = Vectors.objects(of.get("samples"));
            for (int index = 0; index < samples.size(); index++) {
                long time = number(samples.get(index).get("time"));
                long sequence = (Long) about.get("first_sequence") + index & 0xffff_ffffL;
                EisaPacket<List<Object>> packet = new EisaPacket<>((String) about.get("instance"), boxed(type, Vectors.sample(samples.get(index).get("values"), type.type())),
                        sequence, Long.divideUnsigned(time, 1_000_000_000) & 0xffff_ffffL, Long.remainderUnsigned(time, 1_000_000_000) / 1000, (int) (long) (Long) about.get("state"));
                agree(packet, type, Vectors.hex(Json.asList(of.get("little"), "little").get(index)), ByteOrder.LITTLE_ENDIAN);
                agree(packet, type, Vectors.hex(Json.asList(of.get("big"), "big").get(index)), ByteOrder.BIG_ENDIAN);
            }
        }));
    }

    private static void agree(EisaPacket<List<Object>> packet, SampleType<List<Object>> type, byte[] bytes, ByteOrder order) {
        EisaPacket<List<Object>> decoded = EisaPacket.decode(bytes, type, order);
        assertArrayEquals(type.toRow(packet.sample()), type.toRow(decoded.sample()));
        assertEquals(packet.seconds(), decoded.seconds());
        if (bytes[5] == 1) {
            assertArrayEquals(bytes, packet.encode(type, order));
        }
    }

    @Test
    void theCapturedPacketIsReadGarbageInItsPaddingIncluded() {
        ProbeType.Builder builder = ProbeType.named("ProcessorProbe").uuid("b049990b-17aa-4ca2-8806-e89329963788");
        for (int counter = 0; counter < 7; counter++) {
            builder.metric("counter" + counter, MetricType.Primitive.UINT64);
        }
        EisaPacket<List<Object>> packet = EisaPacket.decode(Vectors.hex(PACKETS.get("captured")), SampleType.of(builder.build()), ByteOrder.LITTLE_ENDIAN);
        assertEquals("ProcessorProbe_SmokeTest", packet.instance());
        assertEquals(List.of(1L, 22873L, 209292L), List.of(packet.sequence(), packet.seconds(), packet.microseconds()));
        assertEquals(List.of(8011350L, 69249L), packet.sample().subList(0, 2));
    }
}
