package oasis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A node beside peers that are no DACs, or mad ones: the program notices nothing, memory stays bounded, and the log names place and remedy. */
class HostileDacTest {
    private static final int SPOOL = 100_000;
    private static final BlockingQueue<String> LOG = new LinkedBlockingQueue<>();
    private static final Logger LOGGER = Logger.getLogger("oasis");
    private static final Handler LISTENER = new Handler() {
        @Override
        public void publish(LogRecord record) {
            LOG.add(new SimpleFormatter().formatMessage(record));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    record Count(long count) {}

    /** What a peer does with a connection. */
    private interface Manners {
        void answer(Socket node) throws IOException;
    }

    @BeforeAll
    static void listen() {
        LOGGER.addHandler(LISTENER);
    }

    @AfterAll
    static void stopListening() {
        LOGGER.removeHandler(LISTENER);
    }

    private static byte[] frame(String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(new byte[] {(byte) (body.length + 1), (byte) (body.length + 1 >>> 8), (byte) (body.length + 1 >>> 16), (byte) (body.length + 1 >>> 24), 2});
        out.write(body);
        return out.toByteArray();
    }

    private static Manners sends(byte[] bytes) {
        return node -> {
            node.getOutputStream().write(bytes);
            drain(node.getInputStream());
        };
    }

    private static Manners afterWelcome(String json) {
        return node -> {
            node.getOutputStream().write(frame("{\"op\":\"welcome\",\"protocol\":1,\"epoch\":\"1\",\"software\":\"mad\",\"safe\":\"stored\"}"));
            node.getOutputStream().write(frame("{\"op\":\"registered\",\"topics\":[{\"instance\":\"count\",\"topic\":1}]}"));
            node.getOutputStream().write(frame(json));
            drain(node.getInputStream());
        };
    }

    private static void drain(InputStream in) throws IOException {
        while (in.read() >= 0) {
            continue;
        }
    }

    private static byte[] garbage() {
        byte[] bytes = new byte[5_000];
        new Random(3).nextBytes(bytes);
        bytes[4] = 9;
        bytes[3] = 0;
        bytes[2] = 0;
        return bytes;
    }

    private static Map<String, Map.Entry<Manners, String>> peers() throws IOException {
        Map<String, Map.Entry<Manners, String>> peers = new LinkedHashMap<>();
        peers.put("garbage", Map.entry(sends(garbage()), "expected a control message (2): is this the data channel of a DAC?"));
        peers.put("a huge frame", Map.entry(sends(new byte[] {-1, -1, -1, -1, 2, 0}), "a frame of 4294967295 bytes, expected 1 to "));
        peers.put("an empty frame", Map.entry(sends(new byte[] {0, 0, 0, 0, 2}), "a frame of 0 bytes"));
        peers.put("a batch", Map.entry(sends(new byte[] {2, 0, 0, 0, 1, 1}), "a frame of kind 1"));
        peers.put("HTTP", Map.entry(sends("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII)), "use that of the data channel (HOST:7071 by default)"));
        peers.put("no JSON", Map.entry(sends(frame("{\"op\":")), "a message of the DAC is invalid: invalid JSON at character 6: ends too early"));
        peers.put("a JSON bomb", Map.entry(sends(frame("[".repeat(60_000))), "nested too deep"));
        peers.put("another message", Map.entry(sends(frame("{\"op\":\"pong\\n\\u001b[2J\"}")), "expected welcome, got pong??[2J"));
        peers.put("a refusal with a forged line", Map.entry(sends(frame("{\"op\":\"refused\",\"code\":\"no\",\"message\":\"a\\nb" + "x".repeat(9_000) + "\"}")), "refused by the DAC: a?bxxx"));
        peers.put("half a frame, then its end", Map.entry(node -> {
            node.getOutputStream().write(new byte[] {100, 0, 0, 0, 2, '{'});
            node.close();
        }, "the DAC has closed the connection"));
        peers.put("the end", Map.entry(Socket::close, "the DAC has closed the connection"));
        peers.put("no topics", Map.entry(node -> {
            node.getOutputStream().write(frame("{\"op\":\"welcome\",\"epoch\":\"1\"}"));
            node.getOutputStream().write(frame("{\"op\":\"registered\",\"topics\":[]}"));
            drain(node.getInputStream());
        }, "gave 0 of 1 instances a topic"));
        peers.put("a wrong acknowledgement", Map.entry(afterWelcome("{\"op\":\"ack\",\"topics\":[[1]]}"), "expected pairs of topic and sequence number"));
        peers.put("an unknown message", Map.entry(afterWelcome("{\"op\":\"format-disk\"}"), "unknown op \"format-disk\""));
        peers.put("a command without an id", Map.entry(afterWelcome("{\"op\":\"command\",\"instance\":\"count\",\"command\":\"enable\"}"), "id: expected an integer"));
        peers.put("a command with an endless name", Map.entry(afterWelcome("{\"op\":\"command\",\"id\":1,\"instance\":\"" + "x".repeat(5_000) + "\",\"command\":\"enable\"}"),
                "a name of 5000 characters, the limit is 1024"));
        return peers;
    }

    @TestFactory
    Stream<DynamicTest> thePeerSends() throws IOException {
        return peers().entrySet().stream().map(peer -> dynamicTest(peer.getKey(), () -> meet(peer.getValue().getKey(), peer.getValue().getValue())));
    }

    /** Runs a node beside a peer until the log says what is wrong. */
    private static void meet(Manners manners, String complaint) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            serve(server, manners);
            NodeBuilder builder = new NodeBuilder("plant").spoolBytes(SPOOL);
            PushedProbe<Count> probe = builder.pushed("count", SampleType.of(Count.class), 1 << 20, Overflow.DROP_NEWEST);
            LOG.clear();
            String address = "127.0.0.1:" + server.getLocalPort();
            Node node = builder.start(address);
            flush(probe);
            String line;
            do {
                line = LOG.poll(60, TimeUnit.SECONDS);
                assertTrue(line != null, "the log never said: " + complaint);
            } while (!line.contains(complaint));
            assertTrue(line.contains(address) && line.length() < 800 && line.chars().noneMatch(Character::isISOControl), line);
            flush(probe);
            assertTrue(node.spoolBytes() <= SPOOL, "the spool is bounded");
            end(node);
        }
    }

    private static void flush(PushedProbe<Count> probe) {
        for (int count = 0; count < 20_000; count++) {
            probe.flush(new Count(count * 31L * count));
        }
    }

    /** A peer may have refused the node. Nothing else is thrown. */
    private static void end(Node node) {
        try {
            node.close();
            assertNull(node.refusal());
        } catch (Node.RefusedException refused) {
            assertEquals(node.refusal(), refused.getMessage());
        }
    }

    private static void serve(ServerSocket server, Manners manners) {
        Node.thread("peer", () -> {
            while (!server.isClosed()) {
                try {
                    Socket node = server.accept();
                    Node.thread("manners", () -> {
                        try (node) {
                            manners.answer(node);
                        } catch (IOException gone) {
                            return; // the node has closed it
                        }
                    }).start();
                } catch (IOException closed) {
                    return;
                }
            }
        }).start();
    }

    record Text(String text) {}

    @Test
    void aPeerThatReadsNothingAndKeepsTalkingIsLeft() throws Exception {
        Manners reader = node -> {
            node.getOutputStream().write(frame("{\"op\":\"welcome\",\"epoch\":\"1\"}"));
            node.getOutputStream().write(frame("{\"op\":\"registered\",\"topics\":[{\"instance\":\"text\",\"topic\":1}]}"));
            byte[] drip = frame("{\"op\":\"ack\",\"topics\":[]}");
            while (true) {
                node.getOutputStream().write(drip);
                LockSupport.parkNanos(50_000_000);
            }
        };
        try (ServerSocket server = new ServerSocket()) {
            server.setReceiveBufferSize(4_096);
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            serve(server, reader);
            NodeBuilder builder = new NodeBuilder("plant").spoolBytes(32 << 20);
            PushedProbe<Text> probe = builder.pushed("text", SampleType.of(Text.class), 64 << 20, Overflow.DROP_NEWEST);
            String text = "x".repeat(400_000);
            for (int count = 0; count < 100; count++) {
                probe.flush(new Text(text));
            }
            LOG.clear();
            String address = "127.0.0.1:" + server.getLocalPort();
            // A node that knows two DACs is less patient.
            Node node = builder.start(address, address);
            String line;
            do {
                line = LOG.poll(60, TimeUnit.SECONDS);
                assertTrue(line != null, "the node stays");
            } while (!line.contains("no message from the DAC, or no progress, in 1500 ms"));
            assertTrue(probe.flush(new Text("still")), "the program goes on");
            end(node);
        }
    }

    @Test
    void aFloodOfCommandsIsAnsweredWithinBounds() throws Exception {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            serve(server, node -> {
                node.getOutputStream().write(frame("{\"op\":\"welcome\",\"epoch\":\"1\"}"));
                node.getOutputStream().write(frame("{\"op\":\"registered\",\"topics\":[{\"instance\":\"count\",\"topic\":1}]}"));
                for (int id = 0; id < 20_000; id++) {
                    node.getOutputStream().write(frame("{\"op\":\"command\",\"id\":" + id + ",\"instance\":\"nothing\",\"command\":\"enable\"}"));
                }
                byte[] heard = node.getInputStream().readNBytes(100_000);
                answers.add(new String(heard, StandardCharsets.ISO_8859_1));
            });
            NodeBuilder builder = new NodeBuilder("plant");
            PushedProbe<Count> probe = builder.pushed("count", Count.class);
            Node node = builder.start("127.0.0.1:" + server.getLocalPort());
            probe.flush(new Count(1));
            String heard = answers.poll(60, TimeUnit.SECONDS);
            assertTrue(heard != null && heard.contains("unknown_instance"), "commands are answered");
            end(node);
        }
    }

    @Test
    void aPortWhereNothingListensIsNamed() throws Exception {
        LOG.clear();
        int port;
        try (ServerSocket unused = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = unused.getLocalPort();
        }
        Node node = new NodeBuilder("plant").start("127.0.0.1:" + port);
        String line = LOG.poll(60, TimeUnit.SECONDS);
        assertTrue(line != null && line.contains("connection refused by 127.0.0.1:" + port + ": is the DAC running? (oasis dac)"), line);
        end(node);
    }

    @Test
    void anAddressWithoutAPortIsRefusedAtOnce() {
        for (String address : List.of("plant", "http://127.0.0.1:7070", "plant:http", ":7071", "plant:99999")) {
            String message = org.junit.jupiter.api.Assertions.assertThrows(IllegalArgumentException.class, () -> new NodeBuilder("plant").start(address)).getMessage();
            assertTrue(message.contains("use HOST:PORT"), message);
        }
    }
}
