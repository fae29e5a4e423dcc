package oasis.lab.push;

import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Starts Tomcat 7, or 11. */
public final class Main {
    private Main() {}

    /** The arguments are an address and a port, 0 for any. */
    public static void main(String[] arguments) throws Exception {
        String host = arguments[0];
        String folder = Launch.folder();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder);
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(Integer.parseInt(arguments[1]));
        connector.setProperty("address", host);
        connector.setProperty("maxThreads", String.valueOf(Launch.THREADS));
        connector.setProperty("maxConnections", String.valueOf(Launch.MAX_CONNECTIONS));
        connector.setProperty("acceptCount", String.valueOf(Launch.BACKLOG));
        tomcat.getService().addConnector(connector);
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", folder);
        Tomcat.addServlet(context, "push", new AsyncPushServlet()).setAsyncSupported(true);
        context.addServletMapping("/", "push");
        tomcat.start();
        Launch.serve(host, connector.getLocalPort());
    }
}
