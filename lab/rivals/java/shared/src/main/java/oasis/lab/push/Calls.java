package oasis.lab.push;

import java.util.Map;

/** The calls that are answered at once: time stamper, log manager, event manager. */
public final class Calls {
    private Calls() {}

    /** Answers a call, or returns null if there is none at this path. */
    public static String answer(String path, String query) {
        Map<String, String> form = Form.parse(query);
        switch (path) {
            case "/timestamp":
                return "{\"client\":" + Form.number(form, "client") + ",\"server\":" + System.currentTimeMillis() + "}\n";
            case "/log":
                Log.isEnabled = Boolean.parseBoolean(form.get("enabled"));
                return "{\"logging\":" + Log.isEnabled + "}\n";
            case "/event/set":
                String name = form.getOrDefault("name", "");
                long interval = Form.number(form, "interval");
                EventManager.set(name, interval);
                return "{\"event\":{\"name\":" + Json.text(name) + ",\"interval\":" + interval + "}}\n";
            case "/event/clear":
                EventManager.clear();
                return "{\"cleared\":true}\n";
            default:
                return null;
        }
    }
}
