package oasis;

import java.lang.reflect.Array;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import oasis.MetricType.Primitive;

/** Writes and reads the values of one type: of a record's component, or boxed values of a type that is known only at run time. */
abstract class Codec {
    /** The metric, for errors. */
    final String metric;

    Codec(String metric) {
        this.metric = metric;
    }

    abstract void write(Object value, Writer to);

    abstract Object read(Reader from);

    /** As {@link #write}, without a box. */
    void writeLong(long value, Writer to) {
        write(value, to);
    }

    /** As {@link #write}, without a box. */
    void writeDouble(double value, Writer to) {
        write(value, to);
    }

    final EncodeException refused(Object value, String expected) {
        String text = String.valueOf(value);
        return new EncodeException(metric, "expected " + expected + ", got " + (text.length() > 64 ? text.substring(0, 64) + "…" : text));
    }

    /** Returns a codec of boxed values: numbers, booleans, texts, and lists of them for vectors and structs. */
    static Codec boxed(MetricType type, String metric) {
        if (type instanceof MetricType.Vector vector) {
            return new Elements(metric, boxed(vector.element(), metric), List.class);
        }
        if (type instanceof MetricType.Struct struct) {
            return new Members(metric, struct.members().stream().map(member -> boxed(member.type(), metric + "." + member.name())).toList());
        }
        return primitive((Primitive) type, metric, null);
    }

    /** Returns a codec that reads values of a class; without one, boxed values. */
    static Codec primitive(Primitive type, String metric, Class<?> wanted) {
        return switch (type) {
            case REAL32, REAL64 -> new Real(metric, type, wanted);
            case BOOLEAN -> new Truth(metric);
            case STRING -> new Text(metric);
            default -> new IntegerCodec(metric, type, wanted);
        };
    }

    private static final class IntegerCodec extends Codec {
        private final Primitive type;
        private final Class<?> wanted;

        IntegerCodec(String metric, Primitive type, Class<?> wanted) {
            super(metric);
            this.type = type;
            this.wanted = wanted;
        }

        @Override
        void write(Object value, Writer to) {
            if (value instanceof BigInteger large && type == Primitive.UINT64 && large.signum() >= 0 && large.bitLength() <= 64) {
                to.fixed(large.longValue(), 8);
            } else if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
                writeLong(((Number) value).longValue(), to);
            } else {
                throw refused(value, type.pdlName() + " (" + type.range() + ")");
            }
        }

        @Override
        void writeLong(long value, Writer to) {
            if (!type.fits(value)) {
                throw refused(value, type.pdlName() + " (" + type.range() + ")");
            }
            to.fixed(value, type.width());
        }

        @Override
        Object read(Reader from) {
            long bits = from.fixed(type.width());
            int unused = 64 - 8 * type.width();
            long value = type.isSigned() ? bits << unused >> unused : bits;
            if (wanted == byte.class || wanted == Byte.class) {
                return (byte) value;
            } else if (wanted == short.class || wanted == Short.class) {
                return (short) value;
            } else if (wanted == int.class || wanted == Integer.class) {
                return (int) value;
            }
            return wanted == null && value < 0 && type == Primitive.UINT64 ? new BigInteger(Long.toUnsignedString(value)) : (Object) value;
        }
    }

    private static final class Real extends Codec {
        private final boolean isShort;
        private final boolean wantsFloat;

        Real(String metric, Primitive type, Class<?> wanted) {
            super(metric);
            isShort = type == Primitive.REAL32;
            wantsFloat = wanted == float.class || wanted == Float.class || wanted == null && isShort;
        }

        @Override
        void write(Object value, Writer to) {
            if (value instanceof Float number && isShort) {
                to.fixed(Float.floatToRawIntBits(number), 4);
            } else if (value instanceof Number number && !(value instanceof BigInteger)) {
                writeDouble(number.doubleValue(), to);
            } else {
                throw refused(value, "a number");
            }
        }

        @Override
        void writeDouble(double value, Writer to) {
            to.fixed(isShort ? Float.floatToRawIntBits((float) value) : Double.doubleToRawLongBits(value), isShort ? 4 : 8);
        }

        @Override
        Object read(Reader from) {
            if (isShort) {
                float value = Float.intBitsToFloat((int) from.fixed(4));
                return wantsFloat ? (Object) value : (Object) (double) value;
            }
            double value = Double.longBitsToDouble(from.fixed(8));
            return wantsFloat ? (Object) (float) value : (Object) value;
        }
    }

    private static final class Truth extends Codec {
        Truth(String metric) {
            super(metric);
        }

        @Override
        void write(Object value, Writer to) {
            if (!(value instanceof Boolean truth)) {
                throw refused(value, "true or false");
            }
            to.octet(truth ? 1 : 0);
        }

        @Override
        Object read(Reader from) {
            return from.truth();
        }
    }

    private static final class Text extends Codec {
        Text(String metric) {
            super(metric);
        }

        @Override
        void write(Object value, Writer to) {
            if (!(value instanceof String text)) {
                throw refused(value, "a text");
            }
            to.text(text, metric);
        }

        @Override
        Object read(Reader from) {
            return from.text();
        }
    }

    /** The constants of a Java enum as numbers. */
    static final class Constants extends Codec {
        private final Codec number;
        private final Class<?> type;
        private final long[] numbers;
        private final Map<Long, Object> constants;

        Constants(Codec number, Class<?> type, long[] numbers, Map<Long, Object> constants) {
            super(number.metric);
            this.number = number;
            this.type = type;
            this.numbers = numbers;
            this.constants = constants;
        }

        @Override
        void write(Object value, Writer to) {
            if (!type.isInstance(value)) {
                throw refused(value, "a constant of " + type.getSimpleName());
            }
            number.writeLong(numbers[((Enum<?>) value).ordinal()], to);
        }

        @Override
        Object read(Reader from) {
            int at = from.at;
            Object constant = constants.get((Long) number.read(from));
            if (constant == null) {
                throw new DecodeException(at, "no constant of " + type.getSimpleName() + " has this number");
            }
            return constant;
        }
    }

    /** A vector: a list, or an array. */
    static final class Elements extends Codec {
        private final Codec element;
        private final Class<?> container;

        Elements(String metric, Codec element, Class<?> container) {
            super(metric);
            this.element = element;
            this.container = container;
        }

        @Override
        void write(Object value, Writer to) {
            if (value instanceof double[] reals) {
                to.count(reals.length);
                for (double real : reals) {
                    element.writeDouble(real, to);
                }
            } else if (value instanceof Collection<?> list) {
                to.count(list.size());
                list.forEach(one -> element.write(one, to));
            } else if (value != null && value.getClass().isArray()) {
                int count = Array.getLength(value);
                to.count(count);
                for (int index = 0; index < count; index++) {
                    element.write(Array.get(value, index), to);
                }
            } else {
                throw refused(value, "a list or an array");
            }
        }

        @Override
        Object read(Reader from) {
            int count = from.count();
            List<Object> list = new ArrayList<>();
            for (int index = 0; index < count; index++) {
                list.add(element.read(from));
            }
            if (!container.isArray()) {
                return list;
            }
            Object array = Array.newInstance(container.getComponentType(), count);
            for (int index = 0; index < count; index++) {
                Array.set(array, index, list.get(index));
            }
            return array;
        }
    }

    /** The metrics of a sample, or the members of a struct, as a list. */
    static final class Members extends Codec {
        private final List<Codec> members;

        Members(String metric, List<Codec> members) {
            super(metric);
            this.members = members;
        }

        @Override
        void write(Object value, Writer to) {
            if (!(value instanceof List<?> list) || list.size() != members.size()) {
                throw refused(value, "a list of " + members.size() + " values");
            }
            for (int index = 0; index < members.size(); index++) {
                members.get(index).write(list.get(index), to);
            }
        }

        @Override
        Object read(Reader from) {
            List<Object> list = new ArrayList<>();
            members.forEach(member -> list.add(member.read(from)));
            return list;
        }
    }

    /** Advances past a value without reading it, and checks it. */
    static void skip(MetricType type, Reader from) {
        if (type instanceof MetricType.Vector vector) {
            int count = from.count();
            for (int index = 0; index < count; index++) {
                skip(vector.element(), from);
            }
        } else if (type instanceof MetricType.Struct struct) {
            for (ProbeType.Field member : struct.members()) {
                skip(member.type(), from);
            }
        } else if (type == Primitive.STRING) {
            from.text();
        } else if (type == Primitive.BOOLEAN) {
            from.truth();
        } else {
            from.take(type.width());
        }
    }
}
