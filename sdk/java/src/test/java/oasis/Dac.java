package oasis;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A real DAC for the tests, and what it says of a node. OASIS_BIN names the program. */
final class Dac implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final long PATIENCE = 60;

    final String channel;
    private final String http;
    private final Process process;

    private Dac(Process process, Map<String, Object> ready) {
        this.process = process;
        channel = Json.text(ready, "channel");
        http = Json.text(ready, "http");
    }

    static Path program() {
        String named = System.getenv("OASIS_BIN");
        return Path.of(named == null ? "../../target/debug/oasis" : named).toAbsolutePath().normalize();
    }

    /** Starts a DAC on ports of its own. */
    static Dac start(String... arguments) throws IOException {
        return at("127.0.0.1:0", arguments);
    }

    /** Starts a DAC with this data channel. */
    static Dac at(String channel, String... arguments) throws IOException {
        if (!Files.isExecutable(program())) {
            throw new IOException("no program " + program() + ": build it (cargo build), or let OASIS_BIN name one");
        }
        List<String> command = new ArrayList<>(List.of(program().toString(), "dac", "--listen", "127.0.0.1:0", "--channel-listen", channel, "--ready-json"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
        // Accounts and audit log are not those of the developer.
        builder.environment().put("XDG_STATE_HOME", Files.createTempDirectory("oasis-java").toString());
        Process process = builder.start();
        BufferedReader out = process.inputReader();
        String ready = out.readLine();
        if (ready == null) {
            throw new IOException("the DAC has ended: " + String.join(" ", command));
        }
        return new Dac(process, Json.asObject(Json.parse(ready), "ready"));
    }

    /** Ends it with SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(PATIENCE, TimeUnit.SECONDS);
    }

    /** Lets it end. */
    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(PATIENCE, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
    }

    /** Fetches a document of the API. */
    Map<String, Object> get(String path) throws IOException, InterruptedException {
        return answer(HttpRequest.newBuilder(URI.create(http + path)).build());
    }

    /** Sends a command and returns its outcome. */
    Map<String, Object> command(Object... fields) throws IOException, InterruptedException {
        HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(Json.write(Json.object(fields)));
        return answer(HttpRequest.newBuilder(URI.create(http + "/api/v1/commands")).header("Content-Type", "application/json").POST(body).build());
    }

    private static Map<String, Object> answer(HttpRequest request) throws IOException, InterruptedException {
        return Json.asObject(Json.parse(HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body()), "answer");
    }

    /** Returns what is known of an instance's samples, or null. */
    Map<String, Object> ledger(String node, String instance) throws IOException, InterruptedException {
        for (Object one : Json.asList(get("/api/v1/ledger").get("instances"), "instances")) {
            Map<String, Object> entry = Json.asObject(one, "instance");
            if (node.equals(entry.get("node")) && instance.equals(entry.get("instance"))) {
                return Json.asObject(entry.get("ledger"), "ledger");
            }
        }
        return null;
    }

    /** Waits for a ledger of which something holds. */
    Map<String, Object> eventually(String node, String instance, Predicate<Map<String, Object>> holds) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);
        while (true) {
            Map<String, Object> ledger = ledger(node, instance);
            if (ledger != null && holds.test(ledger)) {
                return ledger;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("the ledger is still " + ledger);
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** Returns the metrics of the first samples of {@code NODE/INSTANCE}, waiting for so many. */
    List<Map<String, Object>> tail(String instance, int count) throws IOException {
        String url = http.replace("http:", "ws:") + "/ws";
        List<String> lines = run("tail", instance, "--from-earliest", "--format", "json", "--count", Integer.toString(count), "--url", url);
        return lines.stream().map(line -> Json.asObject(Json.asObject(Json.parse(line), "sample").get("metrics"), "metrics")).toList();
    }

    static long number(Map<String, Object> object, String name) {
        return Json.integer(object.get(name), name);
    }

    /** Runs a verb of the program and returns its lines. */
    static List<String> run(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(program().toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start().inputReader().lines().toList();
    }
}
