//! A connection of gRPC: HTTP/2 with bounds for streams, windows, headers and silence.

use super::{Server, TIMEOUT_CODE};
use crate::{
    grpc::{self, GrpcMethod, GrpcStatus},
    problem::Problem,
};
use axum::{
    http::{HeaderValue, Request, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use oasis_dac::listener::{Connection, Stream};
use std::{convert::Infallible, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, join, split},
    sync::watch,
    time::timeout,
};

/// First bytes of each connection (RFC 9113 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Calls of a connection at the same time; the client waits with others. A Collector has ten.
const MAX_STREAMS: u32 = 16;
/// Longest metadata of a call, in bytes: what servers of gRPC usually take.
const MAX_METADATA_BYTES: u32 = 8 * 1024;
/// Longest frame, in bytes: the smallest limit that HTTP/2 allows.
const MAX_FRAME_BYTES: u32 = 16 * 1024;
/// Unread bytes of a call; the client waits with more. Half of those of its connection: one unread call stops no other.
const MAX_STREAM_WINDOW_BYTES: u32 = 64 * 1024;
/// Unread bytes of all calls of a connection: as many as the head of a request of HTTP/1.1 may have.
const MAX_CONNECTION_WINDOW_BYTES: u32 = 128 * 1024;
/// Bytes of an answer that wait for the client.
const MAX_UNSENT_BYTES: usize = 16 * 1024;
/// Calls that a client has cancelled before they were seen; more end the connection (CVE-2023-44487).
const MAX_CANCELLED_CALLS: usize = 20;
/// Streams of a connection that were reset here because of faults of the client; more end the connection.
const MAX_FAULTY_STREAMS: usize = 100;
/// Interval at which a silent client is asked whether it is still there.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Timeout of its answer.
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Code of calls that are refused before their route sees them.
const CALL_CODE: &str = "grpc_call";
/// Code of connections and requests of clients that do not speak gRPC.
const NOT_GRPC_CODE: &str = "not_grpc";

impl Server {
    /// Serves calls of one connection until it ends, or until the server ends and each has its answer.
    pub(super) async fn serve_grpc(
        self: Arc<Self>,
        mut stream: Stream,
        peer: SocketAddr,
        (_place, methods): (Arc<Connection>, &'static [GrpcMethod]),
        mut is_ending: watch::Receiver<bool>,
    ) {
        let head_timeout = Duration::from_millis(self.context.config.head_timeout_ms);
        match timeout(head_timeout, has_preface(&mut stream)).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => return self.refuse_other_protocol(stream),
            Ok(Err(error)) => return tracing::debug!(%peer, %error, "connection ended before its first call"),
            Err(_) => return self.context.admission.count_refused(TIMEOUT_CODE),
        }
        let (unread, unwritten) = split(stream);
        let stream = TokioIo::new(join(PREFACE.chain(unread), unwritten));
        let server = self.clone();
        let service = service_fn(move |request| server.clone().answer_grpc(peer, methods, request));
        let mut connection = pin!(http2().serve_connection(stream, service));
        let ended = tokio::select! {
            ended = &mut connection => ended,
            _ = is_ending.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%peer, %error, "connection ended");
        }
    }

    /// Answers a client of HTTP/1.1, which has the wrong address.
    fn refuse_other_protocol(&self, stream: Stream) {
        self.context.admission.count_refused(NOT_GRPC_CODE);
        self.farewell.send_and_close(stream, not_grpc(StatusCode::BAD_REQUEST).to_http());
    }

    /// Answers a call; a request of another kind as gRPC demands it.
    async fn answer_grpc(
        self: Arc<Self>,
        peer: SocketAddr,
        methods: &'static [GrpcMethod],
        mut request: Request<Incoming>,
    ) -> Result<Response, Infallible> {
        if !grpc::is_call(&request) {
            self.context.admission.count_refused(NOT_GRPC_CODE);
            return Ok(not_grpc(StatusCode::UNSUPPORTED_MEDIA_TYPE).into_response());
        }
        self.meet_client(peer, &mut request);
        name_host(&mut request);
        let router = self.router.clone();
        let answered = self.answer_in_time(request, |request| grpc::answer(router, methods, request)).await;
        let answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(refused)) => {
                self.context.admission.count_refused(CALL_CODE);
                Err(refused.into())
            }
            Err(late) => Err(GrpcStatus::unavailable(late.to_string())),
        };
        Ok(grpc::response(answer))
    }
}

/// Reads the first bytes of a connection. Returns whether they are those of HTTP/2.
async fn has_preface(stream: &mut Stream) -> io::Result<bool> {
    let (mut first, mut length) = ([0; PREFACE.len()], 0);
    while let Some(rest) = first.get_mut(length..).filter(|rest| !rest.is_empty()) {
        let count = stream.read(rest).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        length += count;
        if first.get(..length) != PREFACE.get(..length) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn http2() -> http2::Builder<TokioExecutor> {
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_METADATA_BYTES)
        .max_frame_size(MAX_FRAME_BYTES)
        .initial_stream_window_size(MAX_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(MAX_CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(MAX_UNSENT_BYTES)
        .max_pending_accept_reset_streams(MAX_CANCELLED_CALLS)
        .max_local_error_reset_streams(MAX_FAULTY_STREAMS)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    http
}

/// Gives a request the header `Host` that it would have in HTTP/1.1 (RFC 9113 8.3.1): checks of hosts read it.
fn name_host(request: &mut Request<Incoming>) {
    if request.headers().contains_key(header::HOST) {
        return;
    }
    let authority = request.uri().authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    if let Some(Ok(host)) = authority {
        request.headers_mut().insert(header::HOST, host);
    }
}

fn not_grpc(status: StatusCode) -> Problem {
    let detail = "this address takes calls of gRPC only: programs that send over HTTP have another one";
    Problem::new(status, NOT_GRPC_CODE, detail)
}

#[cfg(test)]
mod tests;
