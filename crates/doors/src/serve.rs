//! Accepts connections, and bounds each before its first request.

use crate::{DoorsConfig, text};
use axum::{Router, extract::ConnectInfo, http::Request};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
};
use std::{pin::pin, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tower_service::Service;

/// Rest after an `accept` that failed, such as for want of file descriptors: connections that end meanwhile give theirs back.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Serves HTTP/1.1 until `ended` completes and every request has its answer.
pub async fn serve(
    router: Router,
    listener: TcpListener,
    config: &DoorsConfig,
    ended: impl Future<Output = ()>,
) {
    let head = Duration::from_millis(config.head_timeout_ms);
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(head);
    let connections = GracefulShutdown::new();
    let mut ended = pin!(ended);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut ended => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "accepting a client failed");
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            }
        };
        bound(&stream, config.send_buffer_bytes);
        let router = router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().call(request)
        });
        let (builder, watcher) = (builder.clone(), connections.watcher());
        tokio::spawn(async move {
            if !receives_first_byte(&stream, head).await {
                return tracing::debug!(%peer, "a client said nothing");
            }
            let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
            if let Err(error) = watcher.watch(connection.into_owned()).await {
                tracing::debug!(%peer, error, "connection ended");
            }
        });
    }
    // Closes the listener: later connections are refused at once.
    drop(listener);
    connections.shutdown().await;
}

/// Waits for the first byte of a request, with a timeout. The HTTP server's own timeout starts with that byte.
async fn receives_first_byte(stream: &TcpStream, deadline: Duration) -> bool {
    matches!(timeout(deadline, stream.peek(&mut [0])).await, Ok(Ok(1..)))
}

/// Limits memory and time for a client that does not read: the system closes its connection when sent data waits too long.
fn bound(stream: &TcpStream, send_buffer: usize) {
    let socket = socket2::SockRef::from(stream);
    let bounded = socket
        .set_send_buffer_size(send_buffer)
        .and_then(|()| socket.set_tcp_user_timeout(Some(text::STALL)));
    if let Err(error) = bounded {
        tracing::warn!(%error, "a connection has no bounds");
    }
}
