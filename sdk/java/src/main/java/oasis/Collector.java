package oasis;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import oasis.Filling.NewBatch;
import oasis.Instance.Action;
import oasis.Instance.Command;
import oasis.Instance.Refusal;

/** The node's collector thread: calls the periodic probes, drains the rings, encodes batches, executes commands. */
final class Collector implements Runnable {
    /** Commands that may wait. */
    private static final int ORDERS = 256;
    /** Executed commands that are remembered: one that comes again is answered, and not executed. */
    private static final int REMEMBERED = 1_000;
    /** Longest wait, in nanoseconds. */
    private static final long MAX_WAIT = 250_000_000;

    private final List<Instance> instances;
    private final Outbox outbox;
    private final Bell bell;
    private final List<NewBatch> batches = new ArrayList<>();
    private final ArrayBlockingQueue<Order> orders = new ArrayBlockingQueue<>(ORDERS);
    private final Map<UUID, Executed> executed = new LinkedHashMap<>();
    private volatile boolean isStopping;
    private volatile boolean isFinishing;

    Collector(List<Instance> instances, Outbox outbox, Bell bell) {
        this.instances = instances;
        this.outbox = outbox;
        this.bell = bell;
    }

    /** What another thread asks for: a command, or without one, to treat the DAC as new. */
    private record Order(Command command) {}

    private record Executed(Action action, Map<String, Object> state) {}

    /** Passes a command on. Returns false if too many wait. */
    boolean pass(Command command) {
        boolean hasRoom = orders.offer(new Order(command));
        bell.ring();
        return hasRoom;
    }

    /** Reports that the node has connected to another DAC, or to one that has restarted. */
    void meetNewDac() {
        orders.offer(new Order(null));
        bell.ring();
    }

    /** Ends the thread, after the last samples. Further ones are refused at once. */
    void stop() {
        instances.forEach(Instance::close);
        isStopping = true;
        bell.ring();
    }

    /** Returns whether the thread takes the last samples, or has taken them: no probe of the program is being called. */
    boolean isFinishing() {
        return isFinishing;
    }

    @Override
    public void run() {
        bell.connect();
        long begin = System.nanoTime();
        instances.forEach(instance -> instance.begin(begin));
        while (!isStopping) {
            survive(this::turn);
        }
        isFinishing = true;
        survive(() -> {
            instances.forEach(instance -> instance.finish(batches));
            deliver();
        });
    }

    /** Whatever fails, the program and the other probes go on. */
    private void survive(Runnable work) {
        try {
            work.run();
        } catch (Throwable failed) {
            Node.LOG.log(Level.ERROR, "the node failed to collect samples: it continues, please report this", failed);
        }
    }

    /** Takes the samples that are due, then waits for an order or the next sample. */
    private void turn() {
        long now = System.nanoTime();
        long wake = now + MAX_WAIT;
        boolean hasSamples = false;
        boolean isPolled = false;
        for (Instance instance : instances) {
            hasSamples |= instance.collect(now, batches);
            isPolled |= instance.isPolled();
            wake = earlier(wake, instance.wakeAt(now));
        }
        if (isPolled) {
            wake = earlier(wake, bell.nextPoll(now, hasSamples));
        }
        if (!batches.isEmpty() || outbox.hasNewSamples(instances)) {
            deliver(); // also of drops that no sample has followed
        }
        Order order = orders.poll();
        if (order == null && !isStopping) {
            LockSupport.parkNanos(this, wake - System.nanoTime());
            order = orders.poll();
        }
        if (Thread.interrupted()) {
            isStopping = true; // somebody ends all threads of the program
        }
        if (order != null && order.command == null) {
            instances.forEach(Instance::renew);
        } else if (order != null) {
            Map<String, Object> answer = obey(order.command);
            deliver();
            outbox.say(answer);
        }
    }

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
    }

    private void deliver() {
        outbox.deliver(instances, batches);
        batches.clear();
    }

    /** Executes a command, unless it was executed before. Returns the answer. */
    private Map<String, Object> obey(Command command) {
        Action action = command.action();
        try {
            Executed before = command.uuid() == null ? null : executed.get(command.uuid());
            if (before != null && !before.action.equals(action)) {
                throw new Refusal("uuid_reused", "UUID " + command.uuid() + " names another command, which was executed: give each command its own");
            }
            Map<String, Object> state = before == null ? execute(action) : before.state;
            if (command.uuid() != null) {
                executed.put(command.uuid(), new Executed(action, state));
                if (executed.size() > REMEMBERED) {
                    executed.remove(executed.keySet().iterator().next());
                }
            }
            return Json.object("op", "result", "id", command.id(), "done", state);
        } catch (Refusal refusal) {
            return failed(command, refusal.code, refusal.getMessage());
        }
    }

    static Map<String, Object> failed(Command command, String code, String message) {
        return Json.object("op", "result", "id", command.id(), "failed", Json.object("code", code, "message", message));
    }

    private Map<String, Object> execute(Action action) throws Refusal {
        for (Instance instance : instances) {
            if (instance.name.equals(action.instance())) {
                instance.command(action, System.nanoTime(), batches);
                Node.LOG.log(Level.DEBUG, "command {0}", action);
                return instance.state();
            }
        }
        throw new Refusal("unknown_instance", "this node has no instance \"" + action.instance() + "\"");
    }
}
