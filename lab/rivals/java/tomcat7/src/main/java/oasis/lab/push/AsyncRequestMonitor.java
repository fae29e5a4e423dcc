package oasis.lab.push;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.AsyncContext;
import javax.servlet.AsyncEvent;
import javax.servlet.AsyncListener;
import javax.servlet.ServletOutputStream;

/** Connects an asynchronous request with the request manager. */
final class AsyncRequestMonitor implements AsyncListener, PushRequest.Response {
    private final AsyncContext context;
    private final ServletOutputStream output;
    private volatile PushRequest request;

    AsyncRequestMonitor(AsyncContext context) throws IOException {
        this.context = context;
        output = context.getResponse().getOutputStream();
    }

    void begin(String body) throws IOException {
        // Tomcat's own timeout would end the request before its duration is known.
        context.setTimeout(0);
        // An event may answer while this thread is still here, so that nothing of the context may be used after.
        PushRequest accepted = PushRequest.prepare(body, this);
        request = accepted;
        context.setTimeout(accepted.duration());
        if (accepted.duration() == 0) context.getResponse().flushBuffer();
        accepted.register();
    }

    @Override
    public void write(String line, boolean isLast) throws IOException {
        output.write(line.getBytes(StandardCharsets.UTF_8));
        if (isLast) context.complete();
        else output.flush();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        request.timeOut();
    }

    @Override
    public void onComplete(AsyncEvent event) {
        request.end();
    }

    @Override
    public void onError(AsyncEvent event) {
        request.end();
    }

    @Override
    public void onStartAsync(AsyncEvent event) {}
}
