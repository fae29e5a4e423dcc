package oasis;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A node that has not started yet.
 *
 * <pre>{@code
 * record Engine(@Metric(unit = "/min") int speed, @Metric(unit = "Cel", alarmAbove = 90) double temperature) {}
 *
 * NodeBuilder builder = new NodeBuilder("machine");
 * PushedProbe<Engine> engine = builder.pushed("engine", Engine.class);
 * try (Node node = builder.start("127.0.0.1:7071")) {
 *     engine.flush(new Engine(2900, 81.5));
 * }
 * }</pre>
 */
public final class NodeBuilder {
    private static final int RING_BYTES = 64 * 1024;
    private static final int MAX_NAME = 1_024;
    private static final int PROTOCOL = 1;
    private static final String SOFTWARE = "oasis-java 0.1.0";
    /** RFC 4122, appendix C. */
    private static final UUID OID = UUID.fromString("6ba7b812-9dad-11d1-80b4-00c04fd430c8");

    private final String name;
    private final List<Instance> instances = new ArrayList<>();
    private final Bell bell = new Bell();
    private UUID uuid;
    private SSLContext tls;
    private int spoolBytes = 16 << 20;
    private int batchSamples = 1_024;
    private Duration linger = Duration.ofMillis(10);
    private boolean followsDemand = true;
    private boolean hasStarted;

    /**
     * Begins a node. Its name is unique among the nodes of a DAC.
     *
     * @throws IllegalArgumentException if a DAC would refuse the name
     */
    public NodeBuilder(String name) {
        this.name = checkName("node", name);
        if (name.contains("/") || name.contains("*")) {
            throw new IllegalArgumentException(
                    "name of the node \"" + name + "\" is refused: use no / and no *, which patterns such as NODE/* would take for theirs");
        }
    }

    private static String checkName(String what, String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > MAX_NAME || name.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("name of the " + what + " \"" + (name.length() > 64 ? name.substring(0, 64) + "…" : name) + "\" is refused: use 1 to "
                    + MAX_NAME + " bytes without control characters, such as line ends");
        }
        return name;
    }

    /** Sets the node's identity across runs; by default it follows from host and name. */
    public NodeBuilder uuid(UUID uuid) {
        this.uuid = uuid;
        return this;
    }

    /** Sets the most bytes of batches that wait for the DAC or for its acknowledgement, 16 MiB by default; above, the oldest unsent are dropped and counted. */
    public NodeBuilder spoolBytes(int bytes) {
        spoolBytes = bytes;
        return this;
    }

    /** Sets the most samples in a batch, 1 to 65,535; 1,024 by default. */
    public NodeBuilder batchSamples(int samples) {
        batchSamples = Math.max(1, Math.min(samples, Batch.MAX_SAMPLES));
        return this;
    }

    /** Sets how long a sample of a busy stream waits for others, 10 ms by default. */
    public NodeBuilder linger(Duration linger) {
        this.linger = linger;
        return this;
    }

    /** Sets whether probes whose type allows it follow the demand of readers; they do by default. */
    public NodeBuilder followsDemand(boolean follows) {
        followsDemand = follows;
        return this;
    }

    /** Sets the context for addresses with {@code tls://}: it trusts the CA of the DAC, and has the node's certificate if the DAC asks for one. */
    public NodeBuilder tls(SSLContext context) {
        tls = context;
        return this;
    }

    /**
     * Trusts the CA in a PEM file, and no other, for addresses with {@code tls://}. Without it those of the Java platform are trusted.
     *
     * @throws IllegalArgumentException if the file has no certificate
     */
    public NodeBuilder ca(Path pem) {
        try (InputStream file = Files.newInputStream(pem)) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            int number = 0;
            for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
                trusted.setCertificateEntry("ca-" + number++, certificate);
            }
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            tls = SSLContext.getInstance("TLS");
            tls.init(null, managers.getTrustManagers(), null);
            if (number > 0) {
                return this;
            }
        } catch (IOException | GeneralSecurityException unusable) {
            throw new IllegalArgumentException("cannot use the CA in " + pem + ": " + unusable + ": name the ca.pem of the DAC", unusable);
        }
        throw new IllegalArgumentException("no certificate in " + pem + ": name the ca.pem of the DAC");
    }

    int batchSamples() {
        return batchSamples;
    }

    long lingerNanos() {
        return linger.toNanos();
    }

    /**
     * Adds a probe that the program flushes, with a ring of 64 KiB that drops the newest samples when it is full.
     *
     * @throws IllegalArgumentException if the record is no probe, or the node has an instance of this name
     */
    public <R extends Record> PushedProbe<R> pushed(String instance, Class<R> type) {
        return pushed(instance, SampleType.of(type), RING_BYTES, Overflow.DROP_NEWEST);
    }

    /**
     * Adds a probe that the program flushes. A sample takes its row, rounded up to eight bytes, and 24 bytes of the ring, whose size is rounded up to a power of
     * two.
     *
     * @throws IllegalArgumentException if the node has an instance of this name, or the ring is larger than 1 GiB
     */
    public <S> PushedProbe<S> pushed(String instance, SampleType<S> type, int ringBytes, Overflow overflow) {
        return addPushed(instance, "pushed", type, ringBytes, overflow);
    }

    /** Adds a probe that the program flushes on each event. Events do not wait for others to share a batch. */
    public <S> PushedProbe<S> event(String instance, SampleType<S> type) {
        return addPushed(instance, "event", type, RING_BYTES, Overflow.DROP_NEWEST);
    }

    /**
     * Adds a probe that the program flushes, and that keeps only samples in which a metric has moved by more than its deadband. Any change of a metric without a
     * deadband counts.
     *
     * @throws IllegalArgumentException if the node has an instance of this name, or a deadband is of no number
     */
    public <S> PushedProbe<S> onChange(String instance, SampleType<S> type, Map<String, Double> deadbands) {
        ChangeFilter filter = new ChangeFilter(type.type(), deadbands);
        PushedProbe<S> probe = addPushed(instance, "on-change", type, RING_BYTES, Overflow.DROP_NEWEST);
        last().changesOnly(filter);
        return probe;
    }

    private <S> PushedProbe<S> addPushed(String instance, String kind, SampleType<S> type, int ringBytes, Overflow overflow) {
        checkNew(instance);
        if (ringBytes < 0 || ringBytes > Ring.MAX_BYTES) {
            throw new IllegalArgumentException("a ring of " + ringBytes + " bytes for \"" + instance + "\": the limit is " + Ring.MAX_BYTES);
        }
        PushedProbe<S> probe = new PushedProbe<>(type, new Ring(ringBytes, overflow), bell);
        instances.add(new Instance(instances.size(), instance, kind, type.type(), probe, null, 0, this));
        return probe;
    }

    /**
     * Adds a probe that the node calls at a rate in hertz, 0.01 to 1,000, on a thread of its own. A probe that throws yields no sample; the node logs why, and
     * calls it again at its rate.
     *
     * @throws IllegalArgumentException if the rate is out of range, or the node has an instance of this name
     */
    public <R extends Record> NodeBuilder periodic(String instance, Class<R> type, double hertz, Callable<R> sample) {
        return periodic(instance, SampleType.of(type), hertz, sample);
    }

    /** As above, for any type. */
    public <S> NodeBuilder periodic(String instance, SampleType<S> type, double hertz, Callable<S> sample) {
        return addPeriodic(instance, "periodic", type, hertz, sample);
    }

    /** Adds a probe that the node calls, and that keeps only samples in which a metric has moved by more than its deadband. */
    public <S> NodeBuilder periodicOnChange(String instance, SampleType<S> type, double hertz, Map<String, Double> deadbands, Callable<S> sample) {
        ChangeFilter filter = new ChangeFilter(type.type(), deadbands);
        addPeriodic(instance, "on-change", type, hertz, sample);
        last().changesOnly(filter);
        return this;
    }

    private <S> NodeBuilder addPeriodic(String instance, String kind, SampleType<S> type, double hertz, Callable<S> sample) {
        checkNew(instance);
        Writer row = new Writer.Row(SampleType.MAX_ROW);
        Callable<Writer> write = () -> {
            S taken = sample.call();
            row.clear();
            type.write(taken, row);
            return row;
        };
        instances.add(new Instance(instances.size(), instance, kind, type.type(), null, write, Instance.checkHertz(hertz), this));
        return this;
    }

    /**
     * Gives an added probe a flight recorder: only its samples around a trigger are sent.
     *
     * @throws IllegalArgumentException if there is no such instance, or a trigger is of no number of it
     */
    public NodeBuilder record(String instance, FlightRecorder recorder) {
        find(instance).record(recorder);
        return this;
    }

    /** Starts an added probe disabled: it takes no samples until a command enables it. */
    public NodeBuilder disabled(String instance) {
        find(instance).setEnabled(false);
        return this;
    }

    private Instance find(String instance) {
        return instances.stream().filter(known -> known.name.equals(instance)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("node \"" + name + "\" has no instance \"" + instance + "\": add the probe first"));
    }

    private Instance last() {
        return instances.get(instances.size() - 1);
    }

    private void checkNew(String instance) {
        checkName("instance", instance);
        if (instances.stream().anyMatch(known -> known.name.equals(instance))) {
            throw new IllegalArgumentException("duplicate instance \"" + instance + "\" of node \"" + name + "\": names must be unique within a node");
        }
    }

    /**
     * Starts to sample and to connect to the data channel of a DAC, {@code HOST:PORT} or {@code tls://HOST:PORT}. While none answers, the node tries again and keeps samples, within bounds.
     * With several DACs it goes to the next one when it loses one.
     *
     * @throws IllegalArgumentException if an address has no port
     * @throws IllegalStateException if the builder has started a node before
     */
    public Node start(String... dacs) {
        if (hasStarted) {
            throw new IllegalStateException("a builder makes only one node: make another builder");
        }
        List<String> addresses = dacs.length == 0 ? List.of("127.0.0.1:7071") : Arrays.stream(dacs).map(this::checkAddress).toList();
        hasStarted = true;
        Outbox outbox = new Outbox(spoolBytes, instances);
        Collector collector = new Collector(instances, outbox, bell);
        Node node = new Node(outbox, collector, new Shipper(addresses, tls, hello(), instances, followsDemand, outbox, collector));
        node.start();
        return node;
    }

    private String checkAddress(String address) {
        if (!address.matches("(tls://)?[^/]+:[0-9]{1,5}") || Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)) > 65_535) {
            throw new IllegalArgumentException("invalid address \"" + address + "\" of a DAC: use HOST:PORT, for example 127.0.0.1:7071, or tls://HOST:PORT");
        }
        if (tls != null && !address.startsWith(Channel.TLS)) {
            throw new IllegalArgumentException("address \"" + address + "\" is without TLS, although the node has a CA: use tls://" + address);
        }
        return address;
    }

    private Map<String, Object> hello() {
        UUID secret = UUID.randomUUID();
        String host = host();
        UUID identity = uuid != null ? uuid : derived((byte) 0x50, "SHA-1", bytes(OID), ("oasis node " + host + "/" + name).getBytes(StandardCharsets.UTF_8));
        UUID run = run(secret);
        Map<String, Object> node = Json.object("name", name, "uuid", identity.toString(), "run", run.toString(), "host", host, "software", SOFTWARE, "pid",
                ProcessHandle.current().pid());
        return Json.object("op", "hello", "protocol", PROTOCOL, "node", node, "secret", secret.toString(), "drains", true);
    }

    /** Returns the run that only the owner of a secret can begin and resume (docs/reference/data-channel.md#a-conversation). */
    static UUID run(UUID secret) {
        return derived((byte) 0x80, "SHA-256", "OASIS run of a node".getBytes(StandardCharsets.US_ASCII), bytes(secret));
    }

    /** Returns a UUID of a version, with bits of a digest (RFC 9562, 5.5 and 5.8). */
    private static UUID derived(byte version, String algorithm, byte[] first, byte[] then) {
        try {
            MessageDigest digest = MessageDigest.getInstance(algorithm);
            digest.update(first);
            byte[] bytes = digest.digest(then);
            bytes[6] = (byte) (bytes[6] & 0x0f | version);
            bytes[8] = (byte) (bytes[8] & 0x3f | 0x80);
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            return new UUID(buffer.getLong(), buffer.getLong());
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(algorithm + " is missing: every Java platform must have it", missing);
        }
    }

    private static byte[] bytes(UUID uuid) {
        return ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits()).array();
    }

    /** Returns the host's name as the kernel knows it; asking the name service could take seconds. */
    private static String host() {
        try {
            String kernel = Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
            if (!kernel.isEmpty()) {
                return kernel;
            }
        } catch (IOException | SecurityException elsewhere) {
            Node.LOG.log(System.Logger.Level.DEBUG, "no host name in /proc: {0}", elsewhere.getMessage());
        }
        String named = System.getenv("HOSTNAME") != null ? System.getenv("HOSTNAME") : System.getenv("COMPUTERNAME");
        return named == null || named.isBlank() ? "localhost" : named;
    }
}
