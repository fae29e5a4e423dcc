package oasis;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLContext;
import oasis.Channel.Timeouts;
import oasis.Instance.Action;
import oasis.Instance.Command;

/** The node's shipper thread: keeps a connection to a DAC and sends what is in the outbox. A listener thread for each connection receives. */
final class Shipper implements Runnable {
    private static final long MS = 1_000_000;
    private static final long FIRST_PAUSE = 50 * MS;
    private static final long LONGEST_PAUSE = 1_000 * MS;
    /** A connection that lasted longer has worked: the next pause is the first one. */
    private static final long LASTED = 200 * MS;
    /** How long a node that ends, or leaves a DAC that ends, waits for the last acknowledgements. */
    private static final long FAREWELL = 2_000 * MS;
    /** How long a node that has said goodbye waits for the DAC to close. */
    private static final long LEAVE = 500 * MS;
    private static final int BATCHES = 256;
    /** Longest name in a command. */
    private static final int MAX_NAME = 1_024;

    private final List<String> addresses;
    private final SSLContext tls;
    private final Map<String, Object> hello;
    private final List<Instance> instances;
    private final boolean followsDemand;
    private final Outbox outbox;
    private final Collector collector;
    private final Timeouts timeouts;
    private final int maxBody;
    private volatile Channel channel;
    /** The connection of this number among all of the run is the node's home. */
    private long attach;
    private String epoch;
    private boolean hasConnected;
    private String logged;

    Shipper(List<String> addresses, SSLContext tls, Map<String, Object> hello, List<Instance> instances, boolean followsDemand, Outbox outbox, Collector collector) {
        this.addresses = addresses;
        this.tls = tls;
        this.hello = hello;
        this.instances = instances;
        this.followsDemand = followsDemand;
        this.outbox = outbox;
        this.collector = collector;
        timeouts = addresses.size() > 1 ? Timeouts.SEVERAL_DACS : Timeouts.ONE_DAC;
        // The longest message is that of an answer or acknowledgement of all instances: a name may be escaped, six characters for one.
        long most = 64 * 1024 + instances.stream().mapToLong(instance -> 6L * instance.name.length() + 96).sum();
        maxBody = (int) Math.min(4 * 1024 * 1024, most);
    }

    /** Ends the connection, whatever it is doing. */
    void abort() {
        Channel open = channel;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void run() {
        long pause = FIRST_PAUSE;
        int tried = 0;
        // At least once: a program may end before this thread starts.
        do {
            String address = addresses.get(tried % addresses.size());
            long began = System.nanoTime();
            Exception failed = attempt(address);
            boolean lasted = hasConnected && System.nanoTime() - began > LASTED;
            pause = lasted ? FIRST_PAUSE : pause;
            tried++;
            boolean isRoundOver = tried % addresses.size() == 0;
            long wait = jittered(isRoundOver ? pause : FIRST_PAUSE);
            pause = isRoundOver ? Math.min(2 * pause, LONGEST_PAUSE) : pause;
            log(address, failed);
            hasConnected = false;
            outbox.await(wait, held -> held.isClosing, held -> null);
        } while (!outbox.with(held -> held.isClosing) && !Thread.currentThread().isInterrupted());
    }

    /** Adds or subtracts up to a quarter, so that a hundred nodes do not connect in the same millisecond. */
    private static long jittered(long pause) {
        return pause * ThreadLocalRandom.current().nextInt(12, 21) / 16;
    }

    /** Connects and sends until the connection ends. Returns why it has, or null if the node ended it. */
    private Exception attempt(String address) {
        try {
            converse(address);
            return null;
        } catch (ChannelException failed) {
            outbox.with(held -> held.refusal = failed.isFinal() ? failed.getMessage() : held.refusal);
            return failed;
        } catch (Exception failed) {
            return failed;
        } catch (Throwable failed) { // such as no memory: the next attempt may have some
            return new IOException("the node failed to send: " + failed);
        } finally {
            abort();
        }
    }

    private void log(String address, Exception failed) {
        String error = failed == null ? null : String.valueOf(failed.getMessage() == null ? failed : failed.getMessage());
        if (error == null || outbox.with(held -> held.isClosing && held.wasTaken)) {
            return;
        }
        if (hasConnected) {
            Node.LOG.log(Level.WARNING, "lost the connection to the DAC at {0}: {1}: the node connects again", address, error);
        } else if (!error.equals(logged)) {
            Node.LOG.log(Level.WARNING, "cannot connect to the DAC at {0}: {1}: the node tries again every second, and keeps samples", address, error);
        }
        logged = error;
    }

    private void converse(String address) throws IOException {
        Channel open = Channel.open(address, tls, timeouts, maxBody);
        channel = open;
        Map<String, Object> first = new LinkedHashMap<>(hello);
        first.put("attach", ++attach);
        open.send(List.of(first), List.of());
        Map<String, Object> welcome = expect(open, "welcome");
        List<Map<String, Object>> announce = new ArrayList<>();
        String safeWhen = welcome.get("safe") instanceof String safe ? safe : null;
        if (safeWhen != null) {
            announce.add(Json.object("op", "keep-until-safe"));
        }
        announce.add(registration());
        open.send(announce, List.of());
        Map<Integer, Integer> topics = topics(expect(open, "registered"));
        String met = String.valueOf(welcome.get("epoch"));
        boolean isNewDac = epoch != null && !epoch.equals(met);
        epoch = met;
        if (isNewDac) {
            collector.meetNewDac();
        }
        hasConnected = true;
        Node.LOG.log(logged == null ? Level.DEBUG : Level.INFO, "connected to the DAC at {0}", address);
        logged = null;
        outbox.with(held -> {
            held.spool.connected(topics, isNewDac, safeWhen);
            held.ended = null;
            held.refusal = null;
            held.wasTaken = true;
            held.isDraining = false;
            held.messages.clear(); // answers to a DAC that is gone
            return null;
        });
        Thread listener = Node.thread("oasis-listener", () -> listen(open));
        listener.start();
        try {
            ship(open);
        } catch (IOException failed) {
            throw heard(open, listener, failed);
        }
    }

    /** Returns why a connection ended: the DAC's last message explains more than the failed write that it caused. */
    private IOException heard(Channel open, Thread listener, IOException failed) {
        open.close();
        Node.join(listener, 1_000);
        Exception ended = outbox.with(held -> held.ended);
        return !(failed instanceof ChannelException) && ended instanceof ChannelException explains ? explains : failed;
    }

    private static Map<String, Object> expect(Channel open, String op) throws IOException {
        Map<String, Object> message = open.receive();
        if (!op.equals(message.get("op"))) {
            throw new ChannelException("expected " + op + ", got " + Channel.printable(String.valueOf(message.get("op"))) + ": is this the data channel of a DAC?");
        }
        return message;
    }

    private Map<String, Object> registration() {
        Map<Object, Object> types = new LinkedHashMap<>();
        List<Object> announced = new ArrayList<>();
        List<Map<String, Object>> states = outbox.with(held -> List.copyOf(held.states));
        for (int index = 0; index < instances.size(); index++) {
            Instance instance = instances.get(index);
            types.putIfAbsent(instance.type.uuid(), instance.type.json());
            Object rate = instance.type.more().get("rate");
            Object demand = followsDemand && instance.kind.equals("periodic") && rate instanceof Map<?, ?> map ? map.get("demand") : null;
            Map<String, Object> entry = Json.object("name", instance.name, "type", instance.type.uuid().toString(), "kind", instance.kind, "demand", demand);
            entry.putAll(states.get(index));
            announced.add(entry);
        }
        return Json.object("op", "register", "types", List.copyOf(types.values()), "instances", announced);
    }

    /** Returns the topic of each instance. */
    private Map<Integer, Integer> topics(Map<String, Object> registered) throws ChannelException {
        Map<Integer, Integer> topics = new HashMap<>();
        Map<String, Integer> indices = new HashMap<>();
        for (int index = 0; index < instances.size(); index++) {
            indices.put(instances.get(index).name, index);
        }
        try {
            for (Object entry : Json.asList(registered.get("topics"), "topics")) {
                Map<String, Object> assigned = Json.asObject(entry, "topic");
                Integer index = indices.get(Json.text(assigned, "instance"));
                if (index != null) {
                    topics.put(index, (int) Json.integer(assigned.get("topic"), "topic"));
                }
            }
        } catch (IllegalArgumentException invalid) {
            throw new ChannelException("a message of the DAC is invalid: " + invalid.getMessage());
        }
        if (topics.size() < instances.size()) {
            throw new ChannelException("the DAC gave " + topics.size() + " of " + instances.size() + " instances a topic: please report this");
        }
        return topics;
    }

    private void listen(Channel open) {
        Exception why;
        try {
            while (true) {
                hear(open.receive());
            }
        } catch (Exception ended) {
            why = ended;
        } catch (Throwable ended) {
            why = new IOException("the node failed to receive: " + ended);
        }
        // A write that the DAC does not take returns now.
        open.close();
        Exception reason = why;
        outbox.with(held -> held.ended = channel == open ? reason : held.ended);
    }

    private void hear(Map<String, Object> message) throws ChannelException {
        try {
            switch (Json.text(message, "op")) {
                case "ack" -> acknowledged(message, (spool, topic, sequence) -> spool.acknowledge(topic, sequence));
                case "safe" -> acknowledged(message, (spool, topic, sequence) -> spool.safe(topic, sequence));
                case "pong" -> {
                    long now = PushedProbe.now();
                    long sent = Json.integer(message.get("node_time"), "node_time");
                    long dac = Json.integer(message.get("dac_time"), "dac_time");
                    outbox.with(held -> {
                        held.clock.exchange(sent, dac, now);
                        return null;
                    });
                }
                case "command" -> {
                    Command command = command(message);
                    if (!collector.pass(command)) {
                        outbox.say(Collector.failed(command, "too_many_commands", "too many commands wait at this node: try again soon"));
                    }
                }
                case "drain" -> outbox.with(held -> held.isDraining = true);
                case "kept-ahead" -> { } // this node sends nothing ahead
                default -> throw new IllegalArgumentException("unknown op \"" + Channel.printable(String.valueOf(message.get("op"))) + "\"");
            }
        } catch (IllegalArgumentException invalid) {
            throw new ChannelException("a message of the DAC is invalid: " + invalid.getMessage());
        }
    }

    /** What an acknowledgement does. */
    private interface Acknowledgement {
        void apply(Spool spool, int topic, long sequence);
    }

    private void acknowledged(Map<String, Object> message, Acknowledgement acknowledgement) {
        List<long[]> pairs = new ArrayList<>();
        for (Object pair : Json.asList(message.get("topics"), "topics")) {
            List<Object> numbers = Json.asList(pair, "topics");
            if (numbers.size() != 2) {
                throw new IllegalArgumentException("topics: expected pairs of topic and sequence number");
            }
            pairs.add(new long[] {Json.integer(numbers.get(0), "topic"), Json.integer(numbers.get(1), "sequence")});
        }
        outbox.with(held -> {
            pairs.forEach(pair -> acknowledgement.apply(held.spool, (int) pair[0], pair[1]));
            return null;
        });
    }

    private static Command command(Map<String, Object> message) {
        // Remembered for a thousand commands, so in its short form.
        UUID uuid = message.get("uuid") instanceof String text ? UUID.fromString(text) : null;
        String metric = message.get("metric") instanceof String text ? bounded(text) : null;
        Action action = new Action(bounded(Json.text(message, "instance")), bounded(Json.text(message, "command")), number(message.get("hertz")), metric,
                number(message.get("deadband")));
        return new Command(Json.integer(message.get("id"), "id"), uuid, action);
    }

    private static String bounded(String name) {
        if (name.length() > MAX_NAME) {
            throw new IllegalArgumentException("a name of " + name.length() + " characters, the limit is " + MAX_NAME);
        }
        return name;
    }

    private static Double number(Object value) {
        return value instanceof Number number ? (Double) number.doubleValue() : null;
    }

    /** What the shipper sends in one turn. */
    private record Turn(List<Map<String, Object>> control, List<byte[]> batches, boolean isLast, boolean isLate, Exception ended) {}

    /** Sends until the connection breaks or the node ends. */
    private void ship(Channel open) throws IOException {
        // Before any batch: drops before this connection are not its gaps.
        open.send(List.of(outbox.counters()), List.of());
        Times times = new Times();
        while (true) {
            long wait = times.nextPing - System.nanoTime();
            Turn turn = outbox.await(wait, held -> isDue(held, times), held -> next(held, times));
            if (turn.ended != null) {
                if (turn.ended instanceof IOException failed && !outbox.with(held -> held.isClosing && held.spool.isFinished())) {
                    throw failed;
                }
                return;
            }
            open.send(turn.control, turn.batches);
            if (turn.isLast) {
                // The DAC closes when it has read the goodbye: after that the name is free for another node.
                outbox.await(LEAVE, held -> held.ended != null, held -> null);
                return;
            }
            if (turn.isLate) {
                throw new ChannelException("the DAC did not acknowledge the last samples in 2 s: they may be lost");
            }
        }
    }

    /** When things are due on one connection, by {@code System.nanoTime}. */
    private static final class Times {
        private long nextPing = System.nanoTime();
        private boolean hasFarewell;
        private long farewell;

        boolean isPast(long time) {
            return System.nanoTime() - time >= 0;
        }
    }

    private static boolean isLeaving(Outbox held) {
        return held.isDraining && !held.isClosing;
    }

    private static boolean isDue(Outbox held, Times times) {
        return held.ended != null || held.spool.hasUnsent() && !isLeaving(held) || !held.messages.isEmpty() || held.isClosing && (!times.hasFarewell || isOver(held))
                || isLeaving(held) && (!times.hasFarewell || isOver(held));
    }

    private static boolean isOver(Outbox held) {
        return isLeaving(held) ? held.spool.isSettled() : held.spool.isFinished();
    }

    private Turn next(Outbox held, Times times) {
        if (held.ended != null) {
            return new Turn(List.of(), List.of(), true, false, held.ended);
        }
        List<Map<String, Object>> control = new ArrayList<>(held.messages);
        held.messages.clear();
        boolean isEnding = held.isClosing || isLeaving(held);
        boolean beginsToEnd = isEnding && !times.hasFarewell;
        if (beginsToEnd) {
            times.hasFarewell = true;
            times.farewell = System.nanoTime() + FAREWELL;
        }
        Spool.Shipment shipment = isLeaving(held) ? new Spool.Shipment(List.of(), false) : held.spool.take(BATCHES);
        boolean hasWaited = isEnding && times.isPast(times.farewell);
        // Samples that are received and not safe are worth 2 s, and no failure.
        boolean isLast = isEnding && (isOver(held) || hasWaited && (isLeaving(held) || held.spool.isReceived()));
        boolean isPingDue = times.isPast(times.nextPing);
        if (isPingDue || isLast || beginsToEnd || shipment.reportsDrops()) {
            control.add(held.counters());
        }
        if (isLast) {
            control.add(Json.object("op", "goodbye", "reason", isLeaving(held) ? "drain" : "shutdown"));
        } else if (isPingDue) {
            control.add(ping(held));
            times.nextPing = System.nanoTime() + timeouts.ping() * MS;
        }
        if (isEnding && times.farewell - times.nextPing < 0 && !hasWaited) {
            times.nextPing = times.farewell;
        }
        return new Turn(control, shipment.batches(), isLast, !isLast && hasWaited, null);
    }

    private static Map<String, Object> ping(Outbox held) {
        ClockOffset.Exchange best = held.clock.estimate();
        Map<String, Object> ping = Json.object("op", "ping", "node_time", PushedProbe.now());
        ping.put("clock_offset_ns", best == null ? null : best.offset());
        ping.put("round_trip_ns", best == null ? null : best.roundTrip());
        return ping;
    }
}
