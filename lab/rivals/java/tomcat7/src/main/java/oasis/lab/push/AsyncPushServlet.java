package oasis.lab.push;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.AsyncContext;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** The four calls as a servlet with asynchronous requests (Servlet 3.0). */
public final class AsyncPushServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String answer = Calls.answer(request.getServletPath(), request.getQueryString());
        response.setContentType("application/json");
        if (answer == null) response.setStatus(404);
        response.getWriter().write(answer == null ? "{\"error\":\"no such call\"}\n" : answer);
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        byte[] body = request.getInputStream().readNBytes(Form.MAX_BODY);
        response.setContentType("application/json");
        AsyncContext context = request.startAsync();
        AsyncRequestMonitor monitor = new AsyncRequestMonitor(context);
        context.addListener(monitor);
        monitor.begin(new String(body, StandardCharsets.UTF_8));
    }
}
