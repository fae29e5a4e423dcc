package oasis;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import oasis.Filling.NewBatch;

/** A probe instance inside the node: the source of its samples, and the commands to it. Owned by the collector thread. */
final class Instance {
    /** Points missed by a shorter delay lower the rate of a busy host's probe, and are not counted. */
    private static final long STOPPED = 1_000_000_000;
    /** How long the end waits for threads that are writing to a ring, in nanoseconds. */
    private static final long LAST_WRITE = 1_000_000_000;
    private static final double MIN_HERTZ = 0.01;
    private static final double MAX_HERTZ = 1_000;

    final String name;
    final String kind;
    final ProbeType type;
    private final Filling filling;
    private final Filling.Sample sample = new Filling.Sample();
    /** Of a pushed probe. */
    private final PushedProbe<?> pushed;
    private final Ring.Record record = new Ring.Record();
    /** Of a periodic probe: writes a row. */
    private final Callable<Writer> periodic;
    private ChangeFilter changes;
    private Recorder recorder;
    private double hertz;
    private long next;
    private boolean enabled = true;
    private boolean isFailing;
    /** Last sequence number given. */
    private long sequence;
    /** Samples missing since the last one that was passed on. */
    private Missing missing = new Missing();
    /** All samples of {@link #missing}, those that the ring dropped included. */
    private long hole;
    private long taken;

    Instance(int index, String name, String kind, ProbeType type, PushedProbe<?> pushed, Callable<Writer> periodic, double hertz, NodeBuilder node) {
        this.name = name;
        this.kind = kind;
        this.type = type;
        this.pushed = pushed;
        this.periodic = periodic;
        this.hertz = hertz;
        filling = new Filling(index, name, type, node.batchSamples(), kind.equals("event") ? 0 : node.lingerNanos());
    }

    static double checkHertz(double hertz) {
        if (!(hertz >= MIN_HERTZ && hertz <= MAX_HERTZ)) {
            throw new IllegalArgumentException("a rate of " + hertz + " Hz: use 0.01 to 1,000 Hz");
        }
        return hertz;
    }

    void changesOnly(ChangeFilter filter) {
        changes = filter;
    }

    void record(FlightRecorder settings) {
        recorder = new Recorder(type, settings);
    }

    void setEnabled(boolean enabled) {
        this.enabled = enabled;
        if (pushed != null) {
            pushed.setEnabled(enabled);
        }
    }

    boolean isPeriodic() {
        return periodic != null;
    }

    /** Handles a new DAC, which has none of the samples so far: a probe on change sends its next sample in any case. */
    void renew() {
        if (changes != null) {
            changes.renew();
        }
    }

    /** Returns the state that commands change, as the DAC receives it. */
    Map<String, Object> state() {
        return Json.object("hertz", isPeriodic() ? hertz : null, "enabled", enabled, "recorder", recorder == null ? null : recorder.span());
    }

    /** Returns the samples taken since the run began. */
    long taken() {
        // A ring does not always know its drops: what was reported once stays.
        taken = Math.max(taken, sequence + hole + (pushed == null ? 0 : pushed.ring().pendingDrops()));
        return taken;
    }

    /** Returns what is missing after the last batch, if no sample waits anywhere, up to the number that {@link #taken} has returned. */
    Missing missing() {
        // A flight recorder may still send what it has.
        boolean isWaiting = pushed != null && !pushed.ring().isEmpty();
        return isWaiting || recorder != null ? new Missing() : filling.missingTo(taken, missing);
    }

    /** Begins: a periodic probe is due now. */
    void begin(long now) {
        next = now;
    }

    /** Takes the samples that are due. Returns whether the program has pushed some. */
    boolean collect(long now, List<NewBatch> out) {
        boolean hasPushed = false;
        if (!isPeriodic()) {
            hasPushed = drain(out);
        } else if (enabled && now - next >= 0) {
            long missed = advance(now);
            // Changes before this call are unknown: a probe on change has numbers for changes only.
            if (changes == null) {
                missing.notTaken += missed;
                hole += missed;
            }
            call(false, out);
        }
        filling.flushIfDue(now, out);
        return hasPushed;
    }

    /** Returns whether its ring must be polled. */
    boolean isPolled() {
        return pushed != null;
    }

    /** Advances to the next future point of the grid. Returns the points that a stopped process has missed. */
    private long advance(long now) {
        long period = (long) (1e9 / hertz);
        long delay = now - next;
        long points = delay / period;
        next += (points + 1) * period;
        return delay >= STOPPED ? points : 0;
    }

    private void call(boolean keepsAny, List<NewBatch> out) {
        Writer row;
        long time = PushedProbe.now();
        try {
            row = periodic.call();
        } catch (Throwable failed) { // a probe of the program ends neither its program nor the other probes
            if (!isFailing) {
                Node.LOG.log(Level.WARNING, "probe \"{0}\" failed to take a sample: {1}: the node retries at the probe''s rate", name, failed);
            }
            isFailing = true;
            return;
        }
        isFailing = false;
        pass(time, 0, row.bytes, row.length, keepsAny, out);
    }

    /** Takes samples from the ring. Returns whether there were any. */
    private boolean drain(List<NewBatch> out) {
        int count = 0;
        // A bounded number at once, so that one busy probe cannot starve the others.
        for (; count < Batch.MAX_SAMPLES && pushed.ring().pop(record); count++) {
            hole += record.dropped;
            if (record.isInvalid) {
                takeInvalid(out);
            } else {
                pass(record.time, record.state, record.row, record.length, false, out);
            }
        }
        return count > 0;
    }

    private void pass(long time, int state, byte[] row, int length, boolean keepsAny, List<NewBatch> out) {
        if (changes != null) {
            if (!keepsAny && !changes.isChange(row, length)) {
                return;
            }
            changes.keep(row, length);
        }
        sample.sequence = number();
        sample.time = time;
        sample.state = state;
        sample.before = missing;
        sample.row = row;
        sample.length = length;
        missing = new Missing();
        if (recorder == null) {
            filling.take(sample, out);
        } else {
            recorder.take(sample, filling, out);
        }
    }

    private long number() {
        sequence += hole + 1;
        hole = 0;
        return sequence;
    }

    private void takeInvalid(List<NewBatch> out) {
        String why = pushed.takeProblem();
        long number = number();
        if (recorder == null) {
            filling.takeInvalid(number, missing, why == null ? "its value does not fit" : why, out);
        } else {
            missing.invalidRow++;
            recorder.miss(missing);
        }
        missing = new Missing();
    }

    /** Takes what is left and sends it: the node ends. */
    void finish(List<NewBatch> out) {
        if (pushed != null) {
            close();
            long deadline = System.nanoTime() + LAST_WRITE;
            while (!pushed.ring().isEmpty() && System.nanoTime() - deadline < 0) {
                if (drain(out)) {
                    deadline = System.nanoTime() + LAST_WRITE;
                } else {
                    Thread.onSpinWait();
                }
            }
        }
        filling.flush(out);
    }

    /** Refuses samples of the program from now on. Any thread may call it. */
    void close() {
        if (pushed != null) {
            pushed.ring().close();
        }
    }

    /** Returns when the collector must call this instance next, by {@code System.nanoTime}, apart from polls of its ring. */
    long wakeAt(long now) {
        long due = filling.due(now);
        return enabled && pushed == null ? Math.min(due, next) : due;
    }

    /**
     * Executes a command.
     *
     * @throws Refusal if it is not for this probe
     */
    void command(Action command, long now, List<NewBatch> out) throws Refusal {
        switch (command.verb()) {
            case "hertz" -> {
                if (!isPeriodic()) {
                    throw new Refusal("not_periodic", "\"" + name + "\" is pushed by its application and has no rate");
                }
                hertz = checkedHertz(command.hertz());
                next = now;
            }
            case "enable" -> {
                // The points while it was disabled were not due.
                next = enabled ? next : now;
                setEnabled(true);
            }
            case "disable" -> setEnabled(false);
            case "sample-now" -> {
                if (!isPeriodic()) {
                    throw new Refusal("not_periodic", "\"" + name + "\" is pushed by its application and cannot be sampled from outside");
                }
                call(true, out);
                filling.flush(out);
            }
            case "trigger" -> {
                if (recorder == null) {
                    throw new Refusal("no_recorder", "\"" + name + "\" has no flight recorder");
                }
                if (pushed != null) {
                    drain(out); // pushed before the command, so they belong before it
                }
                recorder.fire(PushedProbe.now(), filling, out);
            }
            case "deadband" -> setDeadband(command);
            default -> throw new Refusal("unknown_command", "this node does not know the command \"" + command.verb() + "\"");
        }
    }

    private double checkedHertz(Double wanted) throws Refusal {
        try {
            return checkHertz(wanted == null ? Double.NaN : wanted);
        } catch (IllegalArgumentException invalid) {
            throw new Refusal("hertz_invalid", invalid.getMessage());
        }
    }

    private void setDeadband(Action command) throws Refusal {
        if (changes == null) {
            throw new Refusal("not_on_change", "\"" + name + "\" is not a probe on change: it has no deadbands");
        }
        try {
            changes.set(command.metric(), command.deadband());
        } catch (IllegalArgumentException invalid) {
            throw new Refusal("deadband_invalid", invalid.getMessage());
        }
    }

    /**
     * A command from the DAC.
     *
     * @param id repeated in the answer
     * @param uuid under which it is executed at most once; null from an older DAC
     * @param action what to do
     */
    record Command(long id, UUID uuid, Action action) {}

    /**
     * Action of a command.
     *
     * @param instance the instance's name
     * @param verb what to do
     * @param hertz the rate, or null
     * @param metric the metric, or null
     * @param deadband the deadband, or null
     */
    record Action(String instance, String verb, Double hertz, String metric, Double deadband) {}

    /** Why a command was refused. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;

        final String code;

        Refusal(String code, String message) {
            super(message);
            this.code = code;
        }
    }
}
