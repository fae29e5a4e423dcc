package oasis.lab.push;

import java.io.IOException;
import java.nio.file.Files;

/** What every server does around its Tomcat. */
final class Launch {
    /** Threads that receive requests: what the study counted. */
    static final int THREADS = 400;
    /** Connections that wait to be accepted. */
    static final int BACKLOG = 4096;
    static final int MAX_CONNECTIONS = 100_000;

    private Launch() {}

    /** An empty folder for Tomcat's own files. */
    static String folder() throws IOException {
        return Files.createTempDirectory("oasis-lab-tomcat").toString();
    }

    /** Reports the address, and ends the process when its input ends. */
    static void serve(String host, int port) throws IOException {
        System.out.println("ready " + host + ":" + port);
        while (System.in.read() >= 0) {}
        // Without Tomcat's stop: it waits for comet requests.
        Runtime.getRuntime().halt(0);
    }
}
