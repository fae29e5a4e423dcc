package oasis.lab.push;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Creates, modifies and clears event emitters. */
final class EventManager {
    private static final Map<String, EventEmitter> EMITTERS = new ConcurrentHashMap<>();

    private EventManager() {}

    static EventEmitter emitter(String name) {
        return EMITTERS.computeIfAbsent(name, EventEmitter::new);
    }

    /** Creates the event, or changes its interval. */
    static void set(String name, long interval) {
        emitter(name).start(interval);
    }

    static void clear() {
        EMITTERS.values().forEach(EventEmitter::stop);
    }
}
