package oasis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import oasis.MetricType.Primitive;

/** The test vectors that every language reads (vectors/README.md). */
final class Vectors {
    private Vectors() {}

    static Object read(String file) {
        try {
            return Json.parse(Files.readString(Path.of("../../vectors", file)));
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    static byte[] hex(Object text) {
        return HexFormat.of().parseHex((String) text);
    }

    static List<Map<String, Object>> objects(Object list) {
        return Json.asList(list, "vectors").stream().map(one -> Json.asObject(one, "vectors")).toList();
    }

    /** Returns a value of a vector as what a sample of run-time types has. */
    static Object value(Object exact, MetricType type) {
        if (type instanceof MetricType.Vector vector) {
            return Json.asList(exact, "vector").stream().map(one -> value(one, vector.element())).toList();
        }
        if (type instanceof MetricType.Struct struct) {
            List<Object> values = new ArrayList<>();
            for (int index = 0; index < struct.members().size(); index++) {
                values.add(value(Json.asList(exact, "struct").get(index), struct.members().get(index).type()));
            }
            return values;
        }
        return switch ((Primitive) type) {
            case STRING -> Json.text(Json.asObject(exact, "text"), "text");
            case BOOLEAN -> exact;
            case REAL32 -> Float.intBitsToFloat(Integer.parseUnsignedInt(Json.text(Json.asObject(exact, "real"), "bits"), 16));
            case REAL64 -> Double.longBitsToDouble(Long.parseUnsignedLong(Json.text(Json.asObject(exact, "real"), "bits"), 16));
            default -> {
                BigInteger number = new BigInteger((String) exact);
                yield number.bitLength() > 63 ? number : (Object) number.longValueExact();
            }
        };
    }

    static List<Object> sample(Object values, ProbeType type) {
        List<Object> sample = new ArrayList<>();
        for (int index = 0; index < type.metrics().size(); index++) {
            sample.add(value(Json.asList(values, "values").get(index), type.metrics().get(index).type()));
        }
        return sample;
    }
}
