package oasis;

import java.util.List;
import java.util.Map;
import oasis.MetricType.Primitive;

/** The types of vectors/shapes.pdl as a Java program declares them. */
final class Shapes {
    private Shapes() {}

    @Probe(name = "Shapes::Mode")
    enum Mode implements Numbered {
        DOWN(0), UP(7), DRAINING(8);

        private final int number;

        Mode(int number) {
            this.number = number;
        }

        @Override
        public int number() {
            return number;
        }
    }

    @Probe(name = "Shapes::Trend")
    enum Trend implements Numbered {
        FALLING(-300), LEVEL(0), RISING(300);

        private final int number;

        Trend(int number) {
            this.number = number;
        }

        @Override
        public int number() {
            return number;
        }
    }

    @Probe(name = "Shapes::Port", doc = "One port of a switch.")
    record Port(String name, @Metric(unit = "By", kind = "counter", type = Primitive.UINT64) long bytes, boolean up, Mode mode) {}

    @Probe(name = "Shapes::Rack", doc = "Switches in one place.")
    record Rack(float temperature, List<Port> ports) {}

    @Probe(name = "Shapes::Numbers", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b01", doc = "Every simple type, in an order that needs padding in CDR.")
    record Numbers(
            @Metric(name = "int8_value") byte int8,
            @Metric(name = "int64_value") long int64,
            @Metric(name = "uint8_value", type = Primitive.UINT8) short uint8,
            @Metric(name = "int16_value") short int16,
            @Metric(name = "real64_value", unit = "1", kind = "gauge", label = "Ratio", min = -1.5, warnAbove = 0.5, doc = "The ratio that nobody understands.")
            double real64,
            @Metric(name = "uint16_value", type = Primitive.UINT16) int uint16,
            @Metric(name = "int32_value") int int32,
            @Metric(name = "boolean_value") boolean truth,
            @Metric(name = "uint32_value", type = Primitive.UINT32) long uint32,
            @Metric(name = "real32_value") float real32,
            @Metric(name = "uint64_value", type = Primitive.UINT64) long uint64) {}

    @Probe(name = "Shapes::Texts", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b02")
    record Texts(String text, boolean between, List<String> texts) {}

    @Probe(name = "Shapes::Vectors", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b03")
    record Nested(@Metric(type = Primitive.UINT8) int[] bytes, double[] reals, List<List<Integer>> rows, boolean[] flags, List<List<List<String>>> deep) {}

    @Probe(name = "Shapes::Structs", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b04", version = "1.7")
    record Structs(Port uplink, List<Rack> racks, List<List<Port>> groups) {}

    @Probe(name = "Shapes::Enums", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b05")
    record Enums(Mode mode, Trend trend, List<Trend> trends) {}

    @Probe(name = "Shapes::Nothing", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b06")
    record Nothing() {}

    @Probe(name = "Shapes::Inner::Numbers", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b07", doc = "A probe of its own name in another module.")
    record InnerNumbers(@Metric(type = Primitive.UINT64) long ticks, Mode mode, Rack rack) {}

    @Probe(name = "Shapes::Inner::Words", uuid = "0c1d4a36-5c2a-4d0b-9b3c-6a4f0e9d2b08", doc = "Words that some language keeps for itself.")
    record Words(@Metric(name = "class") int class_, int type, int def, int self, int delete, int read, int write, int name, int from, int operator,
            @Metric(name = "None") int none) {}

    static final Map<String, Class<? extends Record>> PROBES = Map.of("Shapes::Numbers", Numbers.class, "Shapes::Texts", Texts.class, "Shapes::Vectors", Nested.class,
            "Shapes::Structs", Structs.class, "Shapes::Enums", Enums.class, "Shapes::Nothing", Nothing.class, "Shapes::Inner::Numbers", InnerNumbers.class,
            "Shapes::Inner::Words", Words.class);
}
