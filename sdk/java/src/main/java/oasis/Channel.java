package oasis;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** One connection to a DAC: frames over TCP or TLS (docs/reference/data-channel.md#frames). One thread sends, one receives, any closes. */
final class Channel implements Closeable {
    /** How an address with TLS begins. */
    static final String TLS = "tls://";

    private static final int HEADER = 5;
    private static final int BATCH = 1;
    private static final int CONTROL = 2;
    private static final int READ_SIZE = 16 * 1024;
    /** Longest text of the peer in a message for people. */
    private static final int MAX_TEXT = 400;

    /**
     * Timeouts of a node, in milliseconds.
     *
     * @param connect for the connection
     * @param silence for the next message, and for progress of a write
     * @param ping interval of the pings that the DAC answers
     */
    record Timeouts(int connect, int silence, int ping) {
        static final Timeouts ONE_DAC = new Timeouts(3_000, 5_000, 1_000);
        /** With another DAC to go to. */
        static final Timeouts SEVERAL_DACS = new Timeouts(1_500, 1_500, 500);
    }

    /** Below TLS, if there is TLS. */
    private final Socket carrier;
    private final Socket socket;
    private final OutputStream out;
    private final int silence;
    private final int maxBody;
    private byte[] buffer = new byte[READ_SIZE];
    private int start;
    private int end;
    /** When the present write began, by {@code System.nanoTime}; 0 if there is none. Java has no timeout for it. */
    private volatile long writingSince;

    private Channel(Socket carrier, Socket socket, int silence, int maxBody) throws IOException {
        this.carrier = carrier;
        this.socket = socket;
        this.silence = silence;
        this.maxBody = maxBody;
        out = new BufferedOutputStream(socket.getOutputStream(), 64 * 1024);
    }

    /**
     * Connects.
     *
     * @param address {@code HOST:PORT} or {@code tls://HOST:PORT}
     * @param context for TLS; null for that of the Java platform
     * @param maxBody longest message of the DAC that is read, in bytes
     */
    static Channel open(String address, SSLContext context, Timeouts timeouts, int maxBody) throws IOException {
        boolean isTls = address.startsWith(TLS);
        int colon = address.lastIndexOf(':');
        String host = address.substring(isTls ? TLS.length() : 0, colon).replaceAll("[\\[\\]]", "");
        int port = Integer.parseInt(address.substring(colon + 1));
        Socket carrier = connect(host, port, timeouts);
        try {
            // Batches are sent when they are due; delaying them to fill packets would only age them.
            carrier.setTcpNoDelay(true);
            carrier.setSoTimeout(timeouts.silence);
            return new Channel(carrier, isTls ? encrypted(carrier, context, host, port) : carrier, timeouts.silence, maxBody);
        } catch (IOException | RuntimeException failed) {
            carrier.close();
            throw failed;
        }
    }

    /** Tries each address of the host. */
    private static Socket connect(String host, int port, Timeouts timeouts) throws IOException {
        InetAddress[] addresses;
        try {
            addresses = InetAddress.getAllByName(host);
        } catch (UnknownHostException unknown) {
            throw new ChannelException("host name \"" + host + "\" has no address: check its spelling and the name service");
        }
        IOException failure = null;
        for (InetAddress address : addresses) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(address, port), timeouts.connect);
                return socket;
            } catch (ConnectException refused) {
                failure = new ChannelException("connection refused by " + host + ":" + port + ": is the DAC running? (oasis dac)");
            } catch (SocketTimeoutException silent) {
                failure = new ChannelException("no answer from " + host + ":" + port + " in " + timeouts.connect + " ms: check the address and the firewall");
            } catch (IOException other) {
                failure = other;
            }
            socket.close();
        }
        throw failure == null ? new ChannelException("host name \"" + host + "\" has no address: check its spelling") : failure;
    }

    private static Socket encrypted(Socket socket, SSLContext context, String host, int port) throws IOException {
        SSLSocketFactory factory = context == null ? (SSLSocketFactory) SSLSocketFactory.getDefault() : context.getSocketFactory();
        SSLSocket encrypted = (SSLSocket) factory.createSocket(socket, host, port, true);
        SSLParameters parameters = encrypted.getSSLParameters();
        // RFC 6125: the certificate must be for the host that the node connects to.
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        encrypted.setSSLParameters(parameters);
        try {
            encrypted.startHandshake();
        } catch (SSLException failed) {
            throw new ChannelException("TLS with " + host + ":" + port + " failed: " + printable(String.valueOf(failed.getMessage()))
                    + ": does the node trust the CA of the DAC, and is its certificate for this host?");
        }
        return encrypted;
    }

    /** Sends control messages, then batches. */
    void send(List<Map<String, Object>> control, List<byte[]> batches) throws IOException {
        writingSince = System.nanoTime() | 1;
        try {
            for (Map<String, Object> message : control) {
                frame(CONTROL, Json.write(message).getBytes(StandardCharsets.UTF_8));
            }
            for (byte[] batch : batches) {
                frame(BATCH, batch);
            }
            out.flush();
        } finally {
            writingSince = 0;
        }
    }

    private void frame(int kind, byte[] body) throws IOException {
        int length = body.length + 1;
        out.write(new byte[] {(byte) length, (byte) (length >>> 8), (byte) (length >>> 16), (byte) (length >>> 24), (byte) kind});
        out.write(body);
    }

    /** Returns the next message. Fails if there is none for too long, if the bytes are no message, or if the DAC refuses. */
    Map<String, Object> receive() throws IOException {
        long deadline = System.nanoTime() + silence * 1_000_000L;
        fill(HEADER, deadline);
        if (new String(buffer, start, HEADER, StandardCharsets.ISO_8859_1).equals("HTTP/")) {
            throw new ChannelException("frame_http", "what answers speaks HTTP: this is the port of a page; use that of the data channel (HOST:7071 by default)");
        }
        long length = new Reader.Row(buffer, start, end).little(4);
        int kind = buffer[start + 4] & 0xff;
        if (length == 0 || length - 1 > maxBody) {
            throw new ChannelException("a frame of " + length + " bytes, expected 1 to " + (maxBody + 1L) + ": is this the data channel of a DAC?");
        }
        if (kind != CONTROL) {
            throw new ChannelException("a frame of kind " + kind + ", expected a control message (2): is this the data channel of a DAC?");
        }
        int body = (int) length - 1;
        fill(HEADER + body, deadline);
        String text = new String(buffer, start + HEADER, body, StandardCharsets.UTF_8);
        start += HEADER + body;
        return parse(text);
    }

    private static Map<String, Object> parse(String text) throws ChannelException {
        Map<String, Object> message;
        try {
            message = Json.asObject(Json.parse(text), "message");
            if (Json.text(message, "op").equals("refused")) {
                throw new ChannelException(printable(Json.text(message, "code")), "refused by the DAC: " + printable(Json.text(message, "message")));
            }
        } catch (IllegalArgumentException invalid) {
            throw new ChannelException("a message of the DAC is invalid: " + invalid.getMessage());
        }
        return message;
    }

    /** Returns a text of the peer as logs can show it: short, and on one line. */
    static String printable(String text) {
        String line = text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "…" : text;
        return line.replaceAll("\\p{Cntrl}", "?");
    }

    /** Reads until so many bytes are in the buffer. Memory grows only with bytes that have arrived. */
    private void fill(int wanted, long deadline) throws IOException {
        if (end == start) {
            start = 0;
            end = 0;
            buffer = buffer.length > 4 * READ_SIZE ? new byte[READ_SIZE] : buffer;
        }
        while (end - start < wanted) {
            if (start > 0) {
                System.arraycopy(buffer, start, buffer, 0, end - start);
                end -= start;
                start = 0;
            }
            if (end == buffer.length) {
                buffer = Arrays.copyOf(buffer, 2 * buffer.length);
            }
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0 || isWriteStalled()) {
                throw silent();
            }
            socket.setSoTimeout((int) left);
            try {
                int count = socket.getInputStream().read(buffer, end, buffer.length - end);
                if (count < 0) {
                    throw new ChannelException("the DAC has closed the connection");
                }
                end += count;
            } catch (SocketTimeoutException timeout) {
                throw silent();
            }
        }
    }

    private boolean isWriteStalled() {
        long since = writingSince;
        return since != 0 && System.nanoTime() - since > silence * 1_000_000L;
    }

    private ChannelException silent() {
        return new ChannelException("no message from the DAC, or no progress, in " + silence + " ms: is it stopped, or the network slow?");
    }

    @Override
    public void close() {
        try {
            carrier.close(); // not that of TLS, which may wait for a peer that reads nothing
        } catch (IOException closed) {
            Node.LOG.log(System.Logger.Level.DEBUG, "closing a connection to the DAC: {0}", closed.getMessage());
        }
    }
}
