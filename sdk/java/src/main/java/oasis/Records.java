package oasis;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import oasis.MetricType.Primitive;

/** Makes probe types and codecs of record classes. */
final class Records {
    private static final Map<Class<?>, Primitive> PRIMITIVES = new HashMap<>();

    static {
        PRIMITIVES.putAll(Map.of(byte.class, Primitive.INT8, short.class, Primitive.INT16, int.class, Primitive.INT32, long.class, Primitive.INT64));
        PRIMITIVES.putAll(Map.of(Byte.class, Primitive.INT8, Short.class, Primitive.INT16, Integer.class, Primitive.INT32, Long.class, Primitive.INT64));
        PRIMITIVES.putAll(Map.of(float.class, Primitive.REAL32, double.class, Primitive.REAL64, boolean.class, Primitive.BOOLEAN));
        PRIMITIVES.putAll(Map.of(Float.class, Primitive.REAL32, Double.class, Primitive.REAL64, Boolean.class, Primitive.BOOLEAN, String.class, Primitive.STRING));
    }

    private Records() {}

    /** A type as it goes over the wire, its codec, and its enum if it is one. */
    private record Shape(MetricType type, Codec codec, Map<String, Object> enumeration) {}

    static <R extends Record> SampleType<R> sampleType(Class<R> of) {
        Probe head = of.getAnnotation(Probe.class);
        ProbeType.Builder builder = ProbeType.named(nameOf(of));
        if (head != null) {
            builder.version(head.version());
            if (!head.uuid().isEmpty()) {
                builder.uuid(head.uuid());
            }
            if (!head.doc().isEmpty()) {
                builder.doc(head.doc());
            }
            if (!Double.isNaN(head.demandMax())) {
                builder.demand(head.demandMin(), head.demandMax());
            }
        }
        List<Shape> shapes = new ArrayList<>();
        fields(of, nameOf(of), 0, shapes).forEach(builder::add);
        return new SampleType<>(builder.build(), codec(of, nameOf(of), shapes));
    }

    private static String nameOf(Class<?> type) {
        Probe head = type.getAnnotation(Probe.class);
        return head == null || head.name().isEmpty() ? type.getSimpleName() : head.name();
    }

    private static List<ProbeType.Field> fields(Class<?> of, String path, int depth, List<Shape> shapes) {
        List<ProbeType.Field> fields = new ArrayList<>();
        for (RecordComponent component : of.getRecordComponents()) {
            Metric about = component.getAnnotation(Metric.class);
            String name = about == null || about.name().isEmpty() ? component.getName() : about.name();
            Primitive wanted = about == null || about.type().length == 0 ? null : about.type()[0];
            Shape shape = shape(component.getGenericType(), wanted, path + "." + name, depth + 1);
            shapes.add(shape);
            fields.add(new ProbeType.Field(name, shape.type, meaning(about, shape.enumeration)));
        }
        return fields;
    }

    private static Map<String, Object> meaning(Metric about, Map<String, Object> enumeration) {
        Map<String, Object> fields = new HashMap<>();
        ProbeType.named("Meaning").metric("of", Primitive.BOOLEAN, meaning -> {
            describe(about, meaning);
            if (enumeration != null) {
                meaning.set("enum", enumeration);
            }
            fields.putAll(meaning.fields());
        });
        return fields;
    }

    private static void describe(Metric about, ProbeType.Meaning meaning) {
        if (about == null) {
            return;
        }
        given(about.unit(), meaning::unit);
        given(about.kind(), meaning::kind);
        given(about.label(), meaning::label);
        given(about.doc(), meaning::doc);
        given(about.min(), meaning::min);
        given(about.max(), meaning::max);
        given(about.warnAbove(), meaning::warnAbove);
        given(about.warnBelow(), meaning::warnBelow);
        given(about.alarmAbove(), meaning::alarmAbove);
        given(about.alarmBelow(), meaning::alarmBelow);
    }

    private static void given(String text, java.util.function.Consumer<String> set) {
        if (!text.isEmpty()) {
            set.accept(text);
        }
    }

    private static void given(double number, java.util.function.DoubleConsumer set) {
        if (!Double.isNaN(number)) {
            set.accept(number);
        }
    }

    private static Shape shape(Type type, Primitive wanted, String path, int depth) {
        if (depth > MetricType.MAX_DEPTH + 1) {
            throw new IllegalArgumentException(path + ": vectors and records nest deeper than " + MetricType.MAX_DEPTH);
        }
        if (type instanceof ParameterizedType generic && generic.getRawType() == List.class) {
            return vector(shape(generic.getActualTypeArguments()[0], wanted, path, depth + 1), path, List.class);
        }
        if (type instanceof GenericArrayType || !(type instanceof Class<?> of)) {
            throw unsupported(type, path);
        }
        if (of.isArray()) {
            return vector(shape(of.getComponentType(), wanted, path, depth + 1), path, of);
        }
        if (of.isRecord()) {
            List<Shape> shapes = new ArrayList<>();
            MetricType struct = new MetricType.Struct(nameOf(of), fields(of, path, depth, shapes));
            return new Shape(struct, codec(of, path, shapes), null);
        }
        if (of.isEnum()) {
            return enumeration(of, wanted, path);
        }
        Primitive own = PRIMITIVES.get(of);
        if (own == null || wanted != null && (own.isInteger() != wanted.isInteger() || own.isReal() != wanted.isReal() || !own.isNumber())) {
            throw unsupported(type, path);
        }
        Primitive on = wanted == null ? own : wanted;
        return new Shape(on, Codec.primitive(on, path, of), null);
    }

    private static Shape vector(Shape element, String path, Class<?> container) {
        return new Shape(new MetricType.Vector(element.type), new Codec.Elements(path, element.codec, container), element.enumeration);
    }

    private static Shape enumeration(Class<?> of, Primitive wanted, String path) {
        Object[] constants = of.getEnumConstants();
        long[] numbers = Arrays.stream(constants).mapToLong(one -> one instanceof Numbered numbered ? numbered.number() : ((Enum<?>) one).ordinal()).toArray();
        Map<Long, Object> byNumber = new HashMap<>();
        List<Object> values = new ArrayList<>();
        for (int index = 0; index < constants.length; index++) {
            String name = ((Enum<?>) constants[index]).name();
            if (byNumber.put(numbers[index], constants[index]) != null) {
                throw new IllegalArgumentException(path + ": two constants of " + of.getSimpleName() + " have the number " + numbers[index]);
            }
            values.add(Json.object("name", name, "value", numbers[index]));
        }
        Primitive type = wanted == null ? smallest(numbers) : wanted;
        if (!type.isInteger() || !Arrays.stream(numbers).allMatch(type::fits)) {
            throw new IllegalArgumentException(path + ": the numbers of " + of.getSimpleName() + " do not fit " + type.pdlName());
        }
        Codec number = Codec.primitive(type, path, long.class);
        Codec codec = new Codec.Constants(number, of, numbers, byNumber);
        return new Shape(type, codec, Json.object("name", nameOf(of), "values", values));
    }

    private static Primitive smallest(long[] numbers) {
        for (Primitive type : List.of(Primitive.UINT8, Primitive.INT16)) {
            if (Arrays.stream(numbers).allMatch(type::fits)) {
                return type;
            }
        }
        return Primitive.INT32;
    }

    private static IllegalArgumentException unsupported(Type type, String path) {
        return new IllegalArgumentException(path + ": " + type.getTypeName() + " is no type of a metric, or not with this `type`: use numbers, boolean, String, "
                + "enums, records, and arrays or Lists of these");
    }

    private static Codec codec(Class<?> of, String path, List<Shape> shapes) {
        RecordComponent[] components = of.getRecordComponents();
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(of, MethodHandles.lookup());
            List<Component> parts = new ArrayList<>();
            for (int index = 0; index < components.length; index++) {
                MethodHandle getter = lookup.unreflect(components[index].getAccessor());
                parts.add(new Component(getter, components[index].getType(), shapes.get(index).codec));
            }
            Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            MethodHandle constructor = lookup.findConstructor(of, MethodType.methodType(void.class, types));
            return new RecordCodec(path, of, parts.toArray(Component[]::new), constructor.asSpreader(Object[].class, types.length));
        } catch (ReflectiveOperationException closed) {
            throw new IllegalArgumentException("cannot read the components of " + of.getName() + ": its module must open the package, `opens "
                    + of.getPackageName() + ";`", closed);
        }
    }

    /** One component of a record. */
    private static final class Component {
        private enum Kind { LONG, DOUBLE, OBJECT }

        private final Codec codec;
        private final Kind kind;
        private final MethodHandle getter;

        Component(MethodHandle getter, Class<?> type, Codec codec) {
            this.codec = codec;
            boolean isWhole = type == byte.class || type == short.class || type == int.class || type == long.class;
            // A float stays boxed: widened and narrowed again, a NaN may have other bits.
            kind = isWhole ? Kind.LONG : type == double.class ? Kind.DOUBLE : Kind.OBJECT;
            Class<?> as = isWhole ? long.class : type == double.class ? double.class : Object.class;
            this.getter = getter.asType(MethodType.methodType(as, Object.class));
        }

        void write(Object of, Writer to) throws Throwable {
            switch (kind) {
                case LONG -> codec.writeLong((long) getter.invokeExact(of), to);
                case DOUBLE -> codec.writeDouble((double) getter.invokeExact(of), to);
                default -> codec.write((Object) getter.invokeExact(of), to);
            }
        }
    }

    private static final class RecordCodec extends Codec {
        private final Class<?> of;
        private final Component[] components;
        private final MethodHandle constructor;

        RecordCodec(String metric, Class<?> of, Component[] components, MethodHandle constructor) {
            super(metric);
            this.of = of;
            this.components = components;
            this.constructor = constructor.asType(MethodType.methodType(Object.class, Object[].class));
        }

        @Override
        void write(Object value, Writer to) {
            if (!of.isInstance(value)) {
                throw refused(value, "a " + of.getSimpleName());
            }
            try {
                for (Component component : components) {
                    component.write(value, to);
                }
            } catch (RuntimeException | Error failed) {
                throw failed;
            } catch (Throwable failed) {
                throw new EncodeException(metric, "an accessor failed: " + failed);
            }
        }

        @Override
        Object read(Reader from) {
            Object[] values = new Object[components.length];
            for (int index = 0; index < values.length; index++) {
                values[index] = components[index].codec.read(from);
            }
            try {
                return (Object) constructor.invokeExact(values);
            } catch (RuntimeException | Error failed) {
                throw failed;
            } catch (Throwable failed) {
                throw new IllegalArgumentException(metric + ": the constructor failed", failed);
            }
        }
    }
}
