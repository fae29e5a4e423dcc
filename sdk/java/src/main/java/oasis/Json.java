package oasis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON (RFC 8259) as schemas and control messages use it: maps, lists, texts, {@code Long} or {@code Double}, booleans, null. */
final class Json {
    /** Deepest nesting that is read: a struct in a schema takes four levels. */
    private static final int MAX_DEPTH = 128;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads a document. Memory is a small multiple of the text. */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.blanks();
        if (json.at < text.length()) {
            throw json.error("expected the end");
        }
        return value;
    }

    /** Writes a document on one line. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    /** Returns an object of names and values in turn, without the values that are null. */
    static Map<String, Object> object(Object... pairs) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int index = 0; index < pairs.length; index += 2) {
            if (pairs[index + 1] != null) {
                object.put((String) pairs[index], pairs[index + 1]);
            }
        }
        return object;
    }

    @SuppressWarnings("unchecked") // the parser's objects have texts as names
    static Map<String, Object> asObject(Object value, String what) {
        if (value instanceof Map<?, ?> map) {
            return (Map<String, Object>) map;
        }
        throw new IllegalArgumentException(what + ": expected a JSON object");
    }

    @SuppressWarnings("unchecked") // a list of any values
    static List<Object> asList(Object value, String what) {
        if (value instanceof List<?> list) {
            return (List<Object>) list;
        }
        throw new IllegalArgumentException(what + ": expected a JSON list");
    }

    static String text(Map<String, Object> object, String name) {
        if (object.get(name) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException("field \"" + name + "\" is missing, or no text");
    }

    static long integer(Object value, String what) {
        if (value instanceof Long number) {
            return number;
        }
        throw new IllegalArgumentException(what + ": expected an integer");
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(before);
                quote(entry.getKey().toString(), out);
                out.append(':');
                write(entry.getValue(), out);
                before = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object element : list) {
                out.append(before);
                write(element, out);
                before = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else if (value instanceof String text) {
            quote(text, out);
        } else if (value instanceof Double number && (number.isNaN() || number.isInfinite())) {
            throw new IllegalArgumentException("JSON has no " + number + ": use a finite number");
        } else {
            out.append(value);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int index = 0; index < text.length(); index++) {
            char one = text.charAt(index);
            switch (one) {
                case '"', '\\' -> out.append('\\').append(one);
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                default -> {
                    // A lone surrogate has no UTF-8; escaped it stays what it is.
                    if (one < ' ' || Character.isSurrogate(one)) {
                        out.append(String.format("\\u%04x", (int) one));
                    } else {
                        out.append(one);
                    }
                }
            }
        }
        out.append('"');
    }

    private Object value(int depth) {
        if (depth > MAX_DEPTH) {
            throw error("nested too deep");
        }
        blanks();
        return switch (peek()) {
            case '{' -> readObject(depth);
            case '[' -> readList(depth);
            case '"' -> readText();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> readNumber();
        };
    }

    private Map<String, Object> readObject(int depth) {
        Map<String, Object> object = new LinkedHashMap<>();
        at++;
        blanks();
        if (skip('}')) {
            return object;
        }
        do {
            blanks();
            String name = readText();
            blanks();
            expect(':');
            object.put(name, value(depth + 1));
            blanks();
        } while (skip(','));
        expect('}');
        return object;
    }

    private List<Object> readList(int depth) {
        List<Object> list = new ArrayList<>();
        at++;
        blanks();
        if (skip(']')) {
            return list;
        }
        do {
            list.add(value(depth + 1));
            blanks();
        } while (skip(','));
        expect(']');
        return list;
    }

    private String readText() {
        expect('"');
        int end = at;
        while (end < text.length() && text.charAt(end) != '"' && text.charAt(end) != '\\' && text.charAt(end) >= ' ') {
            end++;
        }
        StringBuilder out = new StringBuilder(text.substring(at, end));
        at = end;
        while (!skip('"')) {
            char one = next();
            if (one < ' ') {
                throw error("a text contains a control character");
            }
            out.append(one == '\\' ? readEscape() : one);
        }
        return out.toString();
    }

    private char readEscape() {
        char one = next();
        return switch (one) {
            case '"', '\\', '/' -> one;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                int code = 0;
                for (int digit = 0; digit < 4; digit++) {
                    int value = Character.digit(next(), 16);
                    if (value < 0) {
                        throw error("expected four hexadecimal digits");
                    }
                    code = code * 16 + value;
                }
                yield (char) code;
            }
            default -> throw error("unknown escape");
        };
    }

    private Number readNumber() {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(start, at);
        try {
            boolean isInteger = number.chars().allMatch(one -> one == '-' || one >= '0' && one <= '9');
            // Clocks and sequence numbers are unsigned: a long carries their bits.
            if (isInteger) {
                return number.startsWith("-") ? Long.parseLong(number) : Long.parseUnsignedLong(number);
            }
            return Double.valueOf(number);
        } catch (NumberFormatException invalid) {
            at = start;
            throw error("expected a value");
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw error("expected a value");
        }
        at += word.length();
        return value;
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw error("ends too early");
        }
        return text.charAt(at);
    }

    private char next() {
        char one = peek();
        at++;
        return one;
    }

    private boolean skip(char one) {
        boolean isNext = at < text.length() && text.charAt(at) == one;
        at += isNext ? 1 : 0;
        return isNext;
    }

    private void expect(char one) {
        if (!skip(one)) {
            throw error("expected " + one);
        }
    }

    private IllegalArgumentException error(String problem) {
        return new IllegalArgumentException("invalid JSON at character " + at + ": " + problem);
    }
}
