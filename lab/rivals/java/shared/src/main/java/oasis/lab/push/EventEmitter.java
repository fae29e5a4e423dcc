package oasis.lab.push;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Emits an event at an interval to the requests that have registered for it. */
final class EventEmitter {
    private final String name;
    private final ScheduledExecutorService timer;
    /** Guarded by itself, and only for as long as it takes to copy it. */
    private final List<PushRequest> requests = new ArrayList<>();
    /** Emits of an earlier interval end when it changes. */
    private volatile int generation;

    EventEmitter(String name) {
        this.name = name;
        timer = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "emitter");
            thread.setDaemon(true);
            return thread;
        });
    }

    void add(PushRequest request) {
        synchronized (requests) {
            requests.add(request);
        }
    }

    synchronized void start(long interval) {
        generation++;
        schedule(interval, interval, generation);
    }

    synchronized void stop() {
        generation++;
    }

    /** The next emit begins an interval after this one, or when this one ends if it takes longer. */
    private void schedule(long delay, long interval, int generation) {
        timer.schedule(() -> {
            if (generation != this.generation) return;
            long began = System.nanoTime();
            try {
                emit(began);
            } catch (RuntimeException e) {
                Log.line("emit failed: " + e);
            }
            long taken = (System.nanoTime() - began) / 1_000_000;
            schedule(Math.max(0, interval - taken), interval, generation);
        }, delay, TimeUnit.MILLISECONDS);
    }

    private void emit(long began) {
        long created = System.currentTimeMillis();
        List<PushRequest> current;
        synchronized (requests) {
            current = new ArrayList<>(requests);
            requests.clear();
        }
        List<PushRequest> waiting = new ArrayList<>();
        int place = 0;
        for (PushRequest request : current) {
            place++;
            if (request.emit(event(began, created, current.size(), place))) waiting.add(request);
        }
        synchronized (requests) {
            requests.addAll(waiting);
        }
        Log.line("emitted " + name + " to " + current.size());
    }

    private String event(long began, long created, int total, int place) {
        return "{\"event\":{\"timings\":{\"duration\":" + Json.millis(began, System.nanoTime())
                + ",\"sent\":" + System.currentTimeMillis() + ",\"created\":" + created
                + "},\"name\":" + Json.text(name)
                + ",\"connections\":{\"total\":" + total + ",\"place\":" + place + "}}}";
    }
}
