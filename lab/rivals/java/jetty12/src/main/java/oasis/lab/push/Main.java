package oasis.lab.push;

import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Starts Jetty 12. */
public final class Main {
    private Main() {}

    /** The arguments are an address and a port, 0 for any. */
    public static void main(String[] arguments) throws Exception {
        String host = arguments[0];
        Server server = new Server(new QueuedThreadPool(Launch.THREADS));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(host);
        connector.setPort(Integer.parseInt(arguments[1]));
        connector.setAcceptQueueSize(Launch.BACKLOG);
        // A comet request has no end.
        connector.setIdleTimeout(0);
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        ServletHolder holder = new ServletHolder(new AsyncPushServlet());
        holder.setAsyncSupported(true);
        context.addServlet(holder, "/");
        server.setHandler(context);
        server.start();
        Launch.serve(host, connector.getLocalPort());
    }
}
