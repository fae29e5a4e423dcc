package oasis.lab.push;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Parameters of a query or a body. */
public final class Form {
    /** Longest body of a request. */
    public static final int MAX_BODY = 4096;

    private Form() {}

    static Map<String, String> parse(String text) {
        Map<String, String> form = new HashMap<>();
        if (text == null) return form;
        for (String pair : text.split("&")) {
            int equals = pair.indexOf('=');
            if (equals < 0) continue;
            form.put(pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
        }
        return form;
    }

    static long number(Map<String, String> form, String name) {
        try {
            return Long.parseLong(form.getOrDefault(name, "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
