package oasis.lab.push;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.CometEvent;
import org.apache.catalina.CometProcessor;

/** The four calls as a servlet of Tomcat 6, whose requests are events. */
public final class CometPushServlet extends HttpServlet implements CometProcessor {
    private static final long serialVersionUID = 1;
    private static final String REQUEST = "oasis.lab.push.request";

    @Override
    public void event(CometEvent event) throws IOException {
        HttpServletRequest request = event.getHttpServletRequest();
        PushRequest pushed = (PushRequest) request.getAttribute(REQUEST);
        switch (event.getEventType()) {
            case BEGIN:
                begin(event);
                break;
            case READ:
                if (pushed == null) read(event);
                break;
            case ERROR:
                if (pushed != null && event.getEventSubType() == CometEvent.EventSubType.TIMEOUT) pushed.timeOut();
                end(event, pushed);
                break;
            case END:
                end(event, pushed);
                break;
        }
    }

    /** Calls are answered at once; a request waits for its body. */
    private void begin(CometEvent event) throws IOException {
        HttpServletRequest request = event.getHttpServletRequest();
        HttpServletResponse response = event.getHttpServletResponse();
        response.setContentType("application/json");
        if (request.getMethod().equals("POST")) return;
        String answer = Calls.answer(request.getServletPath(), request.getQueryString());
        if (answer == null) response.setStatus(404);
        response.getOutputStream().write((answer == null ? "{\"error\":\"no such call\"}\n" : answer).getBytes(StandardCharsets.UTF_8));
        event.close();
    }

    private void read(CometEvent event) throws IOException {
        HttpServletRequest request = event.getHttpServletRequest();
        int length = Math.min(request.getContentLength(), Form.MAX_BODY);
        InputStream input = request.getInputStream();
        String body = new String(input.readNBytes(length), StandardCharsets.UTF_8);
        PushRequest pushed = PushRequest.prepare(body, new CometResponse(event));
        request.setAttribute(REQUEST, pushed);
        try {
            event.setTimeout(pushed.duration() == 0 ? Integer.MAX_VALUE : (int) pushed.duration());
        } catch (javax.servlet.ServletException e) {
            throw new IOException(e);
        }
        if (pushed.duration() == 0) event.getHttpServletResponse().flushBuffer();
        pushed.register();
    }

    private static void end(CometEvent event, PushRequest pushed) throws IOException {
        if (pushed != null) pushed.end();
        event.close();
    }

    /** Writes from the thread of the emitter. */
    private record CometResponse(CometEvent event) implements PushRequest.Response {
        @Override
        public void write(String line, boolean isLast) throws IOException {
            HttpServletResponse response = event.getHttpServletResponse();
            response.getOutputStream().write(line.getBytes(StandardCharsets.UTF_8));
            response.flushBuffer();
            if (isLast) event.close();
        }
    }
}
