package oasis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A probe type: what a DAC and its readers learn of a probe (docs/reference/schema.md).
 *
 * @param name the scoped PDL name
 * @param uuid identifies the type; with the version it names one layout
 * @param version {@code major.minor}
 * @param more other fields of the schema, such as {@code doc} and {@code rate}
 * @param metrics in wire order
 */
public record ProbeType(String name, UUID uuid, String version, Map<String, Object> more, List<Field> metrics) {
    /** Most metrics, struct members included. */
    private static final int MAX_METRICS = 65_534;

    /** Copies the collections. */
    public ProbeType {
        more = inOrder(more);
        metrics = List.copyOf(metrics);
        if (name.isBlank()) {
            throw new IllegalArgumentException("a probe type has no name: give it one, such as Plant::Engine");
        }
        int members = metrics.stream().mapToInt(metric -> metric.type.countMembers(metric.name, 0)).sum();
        if (members > MAX_METRICS) {
            throw new IllegalArgumentException("probe type " + name + " has " + members + " metrics and members, the limit is " + MAX_METRICS);
        }
    }

    /**
     * A metric, or a member of a struct.
     *
     * @param name a PDL identifier
     * @param type its type
     * @param meaning other fields of the schema, such as {@code unit}, {@code min} and {@code alarm}
     */
    public record Field(String name, MetricType type, Map<String, Object> meaning) {
        /** Copies the meaning. */
        public Field {
            meaning = inOrder(meaning);
            if (!name.matches("[A-Za-z][A-Za-z0-9_]*")) {
                throw new IllegalArgumentException("invalid name of a metric \"" + name + "\": use letters, digits and _, a letter first");
            }
        }

        Map<String, Object> toJson() {
            Map<String, Object> json = Json.object("name", name, "type", type.toJson());
            json.putAll(meaning);
            return json;
        }

        static Field ofJson(Object json) {
            Map<String, Object> meaning = new LinkedHashMap<>(Json.asObject(json, "metric"));
            String name = Json.text(meaning, "name");
            MetricType type = MetricType.ofJson(meaning.get("type"));
            meaning.keySet().removeAll(List.of("name", "type"));
            meaning.values().removeIf(value -> value == null);
            return new Field(name, type, meaning);
        }
    }

    /** Copies a map; schemas keep their order. */
    private static Map<String, Object> inOrder(Map<String, Object> map) {
        return Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }

    /** Returns the schema as JSON on one line. */
    public String toJson() {
        return Json.write(json());
    }

    Map<String, Object> json() {
        Map<String, Object> json = Json.object("name", name, "uuid", uuid.toString(), "version", version);
        json.putAll(more);
        json.put("metrics", metrics.stream().map(Field::toJson).toList());
        return json;
    }

    /**
     * Reads a schema: one type, or the type of this name in what {@code oasis pdl compile --lang json} writes.
     *
     * @throws IllegalArgumentException if the text is no schema, or has no such type
     */
    public static ProbeType parse(String json, String name) {
        Object document = Json.parse(json);
        List<Object> types = document instanceof List<?> ? Json.asList(document, "schemas") : List.of(document);
        for (Object type : types) {
            Map<String, Object> fields = Json.asObject(type, "schema");
            if (name.equals(fields.get("name"))) {
                return ofJson(fields);
            }
        }
        throw new IllegalArgumentException("no probe type " + name + " in this schema: check its name, with its modules");
    }

    static ProbeType ofJson(Map<String, Object> json) {
        Map<String, Object> more = new LinkedHashMap<>(json);
        more.keySet().removeAll(List.of("name", "uuid", "version", "metrics"));
        more.values().removeIf(value -> value == null);
        List<Field> metrics = Json.asList(json.get("metrics"), "metrics").stream().map(Field::ofJson).toList();
        return new ProbeType(Json.text(json, "name"), UUID.fromString(Json.text(json, "uuid")), Json.text(json, "version"), more, metrics);
    }

    /** Begins a type that the program declares, such as {@code Plant::Engine}. */
    public static Builder named(String name) {
        return new Builder(name);
    }

    /** A type under construction. */
    public static final class Builder {
        private final String name;
        private final List<Field> metrics = new ArrayList<>();
        private final Map<String, Object> more = new LinkedHashMap<>();
        private UUID uuid;
        private String version = "1.0";

        private Builder(String name) {
            this.name = name;
        }

        /** Sets the identity. Without it, it follows from name, version and layout: another layout is another type. */
        public Builder uuid(String uuid) {
            this.uuid = UUID.fromString(uuid);
            return this;
        }

        /** Sets the version; the default is 1.0. */
        public Builder version(String version) {
            this.version = version;
            return this;
        }

        /** Documents the type. */
        public Builder doc(String doc) {
            more.put("doc", doc);
            return this;
        }

        /** Lets readers decide the rate of a periodic probe, between these rates in hertz. */
        public Builder demand(double min, double max) {
            more.put("rate", Map.of("demand", Json.object("min", min, "max", max)));
            return this;
        }

        /** Adds a metric. */
        public Builder metric(String name, MetricType type) {
            return metric(name, type, meaning -> { });
        }

        /** Adds a metric with a meaning. */
        public Builder metric(String name, MetricType type, Consumer<Meaning> describe) {
            Meaning meaning = new Meaning();
            describe.accept(meaning);
            return add(new Field(name, type, meaning.fields));
        }

        Builder add(Field metric) {
            if (metrics.stream().anyMatch(known -> known.name.equals(metric.name))) {
                throw new IllegalArgumentException("duplicate metric \"" + metric.name + "\" of " + name + ": names must be unique within a type");
            }
            metrics.add(metric);
            return this;
        }

        /** Returns the type. */
        public ProbeType build() {
            String layout = name + version + metrics.stream().map(metric -> metric.name + " " + metric.type.layout()).toList();
            UUID derived = UUID.nameUUIDFromBytes(layout.getBytes(StandardCharsets.UTF_8));
            return new ProbeType(name, uuid == null ? derived : uuid, version, more, metrics);
        }
    }

    /** The meaning of a metric under construction. */
    public static final class Meaning {
        private final Map<String, Object> fields = new LinkedHashMap<>();

        private Meaning() {}

        /** Sets the unit, in UCUM. */
        public Meaning unit(String unit) {
            return set("unit", unit);
        }

        /** Sets {@code counter}, {@code gauge}, {@code state} or {@code event}. */
        public Meaning kind(String kind) {
            if (!List.of("counter", "gauge", "state", "event").contains(kind)) {
                throw new IllegalArgumentException("unknown kind \"" + kind + "\" of a metric: use counter, gauge, state or event");
            }
            return set("kind", kind);
        }

        /** Sets a name for people. */
        public Meaning label(String label) {
            return set("label", label);
        }

        /** Documents the metric. */
        public Meaning doc(String doc) {
            return set("doc", doc);
        }

        /** Sets the least value that makes sense. */
        public Meaning min(double min) {
            return set("min", finite(min));
        }

        /** Sets the greatest value that makes sense. */
        public Meaning max(double max) {
            return set("max", finite(max));
        }

        /** Warns of values above this one. */
        public Meaning warnAbove(double limit) {
            return limit("warn", "above", limit);
        }

        /** Warns of values below this one. */
        public Meaning warnBelow(double limit) {
            return limit("warn", "below", limit);
        }

        /** Raises an alarm for values above this one. */
        public Meaning alarmAbove(double limit) {
            return limit("alarm", "above", limit);
        }

        /** Raises an alarm for values below this one. */
        public Meaning alarmBelow(double limit) {
            return limit("alarm", "below", limit);
        }

        Meaning set(String name, Object value) {
            fields.put(name, value);
            return this;
        }

        private Meaning limit(String what, String side, double limit) {
            Map<String, Object> limits = new LinkedHashMap<>();
            if (fields.get(what) != null) {
                limits.putAll(Json.asObject(fields.get(what), what));
            }
            limits.put(side, finite(limit));
            return set(what, limits);
        }

        private static double finite(double value) {
            if (!Double.isFinite(value)) {
                throw new IllegalArgumentException("a limit of a metric is " + value + ": use a finite number");
            }
            return value;
        }

        Map<String, Object> fields() {
            return fields;
        }
    }
}
