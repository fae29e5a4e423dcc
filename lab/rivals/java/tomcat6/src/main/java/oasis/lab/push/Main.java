package oasis.lab.push;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.apache.catalina.Context;
import org.apache.catalina.Engine;
import org.apache.catalina.Host;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Embedded;

/** Starts Tomcat 6. */
public final class Main {
    private Main() {}

    /** The arguments are an address and a port, 0 for any. */
    public static void main(String[] arguments) throws Exception {
        String address = arguments[0];
        String folder = Launch.folder();
        Embedded tomcat = new Embedded();
        tomcat.setCatalinaHome(folder);
        Engine engine = tomcat.createEngine();
        engine.setDefaultHost("localhost");
        Host host = tomcat.createHost("localhost", folder);
        engine.addChild(host);
        Context context = tomcat.createContext("", folder);
        context.setParentClassLoader(Main.class.getClassLoader());
        host.addChild(context);
        Wrapper servlet = context.createWrapper();
        servlet.setName("push");
        servlet.setServletClass(CometPushServlet.class.getName());
        context.addChild(servlet);
        context.addServletMapping("/", "push");
        tomcat.addEngine(engine);
        int port = arguments[1].equals("0") ? unusedPort() : Integer.parseInt(arguments[1]);
        tomcat.addConnector(connector(address, port));
        tomcat.start();
        Launch.serve(address, port);
    }

    private static Connector connector(String address, int port) throws Exception {
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(port);
        connector.setProperty("address", address);
        connector.setProperty("maxThreads", String.valueOf(Launch.THREADS));
        connector.setProperty("backlog", String.valueOf(Launch.BACKLOG));
        return connector;
    }

    /** Tomcat 6 does not report a port that the system has chosen. */
    private static int unusedPort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
