package oasis;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The type of a metric: a primitive type, a vector, or a struct. */
public sealed interface MetricType {
    /** Deepest nesting of vectors and structs. */
    int MAX_DEPTH = 16;

    /** A number, a boolean or a text. */
    enum Primitive implements MetricType {
        /** Signed, 8 bits. */
        INT8(1),
        /** Signed, 16 bits. */
        INT16(2),
        /** Signed, 32 bits. */
        INT32(4),
        /** Signed, 64 bits. */
        INT64(8),
        /** Unsigned, 8 bits. */
        UINT8(1),
        /** Unsigned, 16 bits. */
        UINT16(2),
        /** Unsigned, 32 bits. */
        UINT32(4),
        /** Unsigned, 64 bits. A Java {@code long} carries its bits. */
        UINT64(8),
        /** IEEE 754, 32 bits. */
        REAL32(4),
        /** IEEE 754, 64 bits. */
        REAL64(8),
        /** True or false. */
        BOOLEAN(1),
        /** UTF-8. */
        STRING(0);

        private final int width;

        Primitive(int width) {
            this.width = width;
        }

        /** Returns the name in PDL and in schemas. */
        public String pdlName() {
            return name().toLowerCase(Locale.ROOT);
        }

        boolean isInteger() {
            return ordinal() <= UINT64.ordinal();
        }

        boolean isSigned() {
            return ordinal() <= INT64.ordinal();
        }

        boolean isReal() {
            return this == REAL32 || this == REAL64;
        }

        boolean isNumber() {
            return ordinal() <= REAL64.ordinal();
        }

        /** Returns whether 64 bits are a value of this integer type; of {@code UINT64} each is. */
        boolean fits(long value) {
            if (width == 8) {
                return true;
            }
            long least = isSigned() ? -1L << (8 * width - 1) : 0;
            return value >= least && value <= least + (1L << (8 * width)) - 1;
        }

        String range() {
            return switch (this) {
                case INT64 -> Long.MIN_VALUE + " to " + Long.MAX_VALUE;
                case UINT64 -> "0 to 18446744073709551615";
                default -> {
                    long least = isSigned() ? -1L << (8 * width - 1) : 0;
                    yield least + " to " + (least + (1L << (8 * width)) - 1);
                }
            };
        }

        static Primitive named(String name) {
            for (Primitive type : values()) {
                if (type.pdlName().equals(name)) {
                    return type;
                }
            }
            throw new IllegalArgumentException("unknown metric type \"" + name + "\": use int8 to uint64, real32, real64, boolean, string");
        }
    }

    /**
     * Any number of values of one type.
     *
     * @param element the type of the values
     */
    record Vector(MetricType element) implements MetricType {}

    /**
     * Named values.
     *
     * @param name the scoped PDL name
     * @param members the values
     */
    record Struct(String name, List<ProbeType.Field> members) implements MetricType {
        /** Copies the members. */
        public Struct {
            members = List.copyOf(members);
        }
    }

    /** Returns the bytes of a value; 0 if that depends on the value. */
    default int width() {
        return this instanceof Primitive primitive ? primitive.width : 0;
    }

    /** Returns the type as it stands in a schema. */
    default Object toJson() {
        if (this instanceof Vector vector) {
            return Map.of("vector", vector.element.toJson());
        }
        if (this instanceof Struct struct) {
            List<Map<String, Object>> members = struct.members.stream().map(ProbeType.Field::toJson).toList();
            return Map.of("struct", Json.object("name", struct.name, "members", members));
        }
        return ((Primitive) this).pdlName();
    }

    /** Reads a type of a schema. */
    static MetricType ofJson(Object json) {
        if (json instanceof String name) {
            return Primitive.named(name);
        }
        Map<String, Object> object = Json.asObject(json, "type of a metric");
        if (object.containsKey("vector")) {
            return new Vector(ofJson(object.get("vector")));
        }
        Map<String, Object> struct = Json.asObject(object.get("struct"), "struct of a metric");
        List<Object> members = Json.asList(struct.get("members"), "members of a struct");
        return new Struct(Json.text(struct, "name"), members.stream().map(ProbeType.Field::ofJson).toList());
    }

    /** Returns what the bytes of a value depend on, as text. */
    default String layout() {
        if (this instanceof Vector vector) {
            return "<" + vector.element.layout() + ">";
        }
        if (this instanceof Struct struct) {
            return struct.name + struct.members.stream().map(member -> member.name() + " " + member.type().layout()).toList();
        }
        return ((Primitive) this).pdlName();
    }

    /** Returns how many metrics and members this is, and checks the rules of schemas. */
    default int countMembers(String metric, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException("metric \"" + metric + "\" nests vectors and structs deeper than " + MAX_DEPTH);
        }
        if (this instanceof Vector vector) {
            if (vector.element.hasNoBytes()) {
                throw new IllegalArgumentException("metric \"" + metric + "\" is a vector of empty structs: give the struct a member");
            }
            return vector.element.countMembers(metric, depth + 1);
        }
        if (this instanceof Struct struct) {
            return 1 + struct.members.stream().mapToInt(member -> member.type().countMembers(metric, depth + 1)).sum();
        }
        return 1;
    }

    private boolean hasNoBytes() {
        return this instanceof Struct struct && struct.members.stream().allMatch(member -> member.type().hasNoBytes());
    }
}
