package oasis.lab.push;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A request of the request manager: comet requests stay, a long poll ends with its first event or its maximum duration. */
public final class PushRequest {
    /** How a version of Tomcat answers. */
    public interface Response {
        /** Writes and flushes a line, and ends the response if it is the last. */
        void write(String line, boolean isLast) throws IOException;
    }

    /** Requests that wait for an event, all events together. */
    private static final AtomicInteger CONNECTIONS = new AtomicInteger();

    private final boolean isComet;
    private final long duration;
    private final String[] events;
    private final String data;
    private final long created = System.currentTimeMillis();
    private final long clock = System.nanoTime();
    private final int start = CONNECTIONS.incrementAndGet();
    private final AtomicBoolean isOpen = new AtomicBoolean(true);
    private final Response response;

    private PushRequest(Map<String, String> form, Response response) {
        String type = form.getOrDefault("type", "");
        String names = form.getOrDefault("events", "");
        events = names.split(",");
        isComet = type.equals("comet");
        duration = Form.number(form, "duration");
        String quoted = names.isEmpty() ? "" : Json.text(names).replace(",", "\",\"");
        data = "{\"type\":" + Json.text(type) + ",\"events\":[" + quoted + "],\"duration\":" + duration + "}";
        this.response = response;
    }

    /** Parses a request. */
    public static PushRequest prepare(String body, Response response) {
        PushRequest request = new PushRequest(Form.parse(body), response);
        Log.line("request " + request.data);
        return request;
    }

    /** Registers it with its events. From here on another thread may answer. */
    public void register() {
        for (String event : events) {
            if (!event.isEmpty()) EventManager.emitter(event).add(this);
        }
    }

    /** How long it may wait, in milliseconds; zero for no limit. */
    public long duration() {
        return isComet ? 0 : duration;
    }

    /** Returns whether the request waits for more. */
    boolean emit(String event) {
        if (isComet) return isOpen.get() && send(event, false);
        if (claim()) finish(event);
        return false;
    }

    /** Answers a request whose maximum duration is over. */
    public void timeOut() {
        if (claim()) finish("{\"timeout\":true}");
    }

    /** The client has gone, or everything is sent. */
    public void end() {
        if (claim()) CONNECTIONS.decrementAndGet();
    }

    /** Of an event and a timeout at the same time one answers. */
    private boolean claim() {
        return isOpen.compareAndSet(true, false);
    }

    private void finish(String content) {
        send(content, true);
        CONNECTIONS.decrementAndGet();
    }

    private boolean send(String content, boolean isLast) {
        String line = "{\"response\":" + content + ",\"request\":" + data
                + ",\"timings\":{\"duration\":" + Json.millis(clock, System.nanoTime())
                + ",\"sent\":" + System.currentTimeMillis() + ",\"created\":" + created
                + "},\"connections\":{\"finish\":" + CONNECTIONS.get() + ",\"start\":" + start + "}}\n";
        try {
            response.write(line, isLast);
            return true;
        } catch (IOException | RuntimeException e) {
            Log.line("a client has gone: " + e);
            end();
            return false;
        }
    }
}
