//! Accepts connections and serves HTTP/1.1 on them, plain or with TLS, within limits of number and time.

use crate::{
    HttpContext, body,
    config::USUAL_PER_ADDRESS,
    headers::Headers,
    problem::Problem,
    proxies::{self, Proxied},
};
use axum::{
    Router,
    body::{Body, HttpBody},
    extract::ConnectInfo,
    http::{HeaderValue, Request, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use oasis_dac::{
    Admission, LogLimit,
    listener::{Acceptor, Connection, Farewell, Gate, Handshakes, NoHandshake, Refusal, Stream},
};
use oasis_tls::ServerTls;
use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::timeout,
};
use tower_service::Service;

/// Time that sent data may wait for a client that does not read; then the system closes the connection.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Upper bound of the bytes of the head of a request: a URL with a thousand instances fits.
const MAX_HEAD_BYTES: usize = 128 * 1024;
/// Connections without a regular descriptor that may ask for the health of the DAC at the same time.
const HEALTH_PLACES: usize = 4;
/// Interval at which an unfinished head is polled.
const HEAD_POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Most bytes of such a request.
const HEALTH_HEAD: usize = 2_048;
/// Timeout of the first bytes of such a connection.
const FIRST_BYTES_TIMEOUT: Duration = Duration::from_millis(500);
/// Requests that are answered on reserved descriptors.
const HEALTH: [&[u8]; 2] = [b"GET /healthz ", b"GET /readyz "];
/// Log lines about failed handshakes in one [`HANDSHAKE_PERIOD`].
const HANDSHAKE_LINES: u32 = 5;
const HANDSHAKE_PERIOD: Duration = Duration::from_secs(60);
/// Code of clients that do not complete a request in time.
const TIMEOUT_CODE: &str = "request_timeout";

/// Serves HTTP/1.1 until `ended` completes and every request has its answer.
pub async fn serve(
    context: &HttpContext,
    router: Router,
    listener: TcpListener,
    ended: impl Future<Output = ()>,
) {
    let config = &context.config;
    let server = Arc::new(Server {
        router,
        headers: Headers::new(config, context.is_encrypted()),
        context: context.clone(),
        connections: Admission::new(config.max_connections),
        gate: Gate::new("doors", config.max_connections_per_address, USUAL_PER_ADDRESS),
        farewell: Farewell::default(),
        handshakes: Handshakes::new(context.tls.clone(), ServerTls::doors),
        failed_handshakes: LogLimit::new(HANDSHAKE_LINES, HANDSHAKE_PERIOD),
        health_places: Semaphore::new(HEALTH_PLACES),
        unplaced: watch::Sender::new(0),
    });
    let (ending, is_ending) = watch::channel(false);
    let mut acceptor = Acceptor::new(listener);
    let mut ended = pin!(ended);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = acceptor.accept() => accepted,
            () = &mut ended => break,
        };
        server.accept(stream, peer, &is_ending);
    }
    // Closes the listener: later connections are refused at once.
    drop((acceptor, is_ending));
    ending.send_replace(true);
    ending.closed().await;
}

/// Serves the connections of one listener.
struct Server {
    router: Router,
    headers: Headers,
    context: HttpContext,
    connections: Admission,
    gate: Gate,
    farewell: Farewell,
    handshakes: Handshakes,
    failed_handshakes: LogLimit,
    health_places: Semaphore,
    /// Connections without a regular descriptor so far.
    unplaced: watch::Sender<usize>,
}

impl Server {
    fn accept(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, is_ending: &watch::Receiver<bool>) {
        match self.gate.admit(&self.connections, &stream, peer.ip()) {
            Ok(place) => {
                bound(&stream, self.context.config.send_buffer_bytes);
                tokio::spawn(self.clone().serve_connection(stream, peer, Arc::new(place), is_ending.clone()));
            }
            // A monitor must see the DAC at work when other clients have all descriptors.
            Err(Refusal::OutOfDescriptors) => {
                self.unplaced.send_modify(|count| *count += 1);
                let number = *self.unplaced.borrow();
                let is_ending = is_ending.clone();
                match self.handshakes.are_required() {
                    true => drop(tokio::spawn(self.clone().answer_health_encrypted(stream, peer, is_ending))),
                    false => drop(tokio::spawn(self.clone().answer_health(stream, peer, number, is_ending))),
                }
            }
            Err(refusal) => self.refuse(stream, peer, refusal),
        }
    }

    /// Serves a connection after its handshake, if there is to be one.
    async fn serve_connection(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        place: Arc<Connection>,
        mut is_ending: watch::Receiver<bool>,
    ) {
        let met = tokio::select! {
            met = self.handshakes.accept(stream) => met,
            _ = is_ending.changed() => return,
        };
        match met {
            Ok(stream) => self.converse(stream, peer, Some(place), is_ending).await,
            Err(failed) => self.no_handshake(peer, failed),
        }
    }

    /// Counts and logs a failed handshake. A client that speaks HTTP without TLS gets an answer.
    fn no_handshake(&self, peer: SocketAddr, failed: NoHandshake) {
        self.context.admission.count_refused(failed.code());
        if let Some(left_out) = self.failed_handshakes.admit(Instant::now()) {
            let (others, why) = (left_out.others(), failed.to_string());
            tracing::info!(%peer, others, "TLS handshake of a client failed: {why}");
        }
        if let NoHandshake::Plaintext(stream) = failed {
            let detail = "this port speaks TLS only: use https:// or wss:// instead of http:// or ws://";
            let answer = Problem::new(StatusCode::BAD_REQUEST, "plaintext", detail);
            self.farewell.send_and_close(Stream::Plain(stream), answer.to_http());
        }
    }

    /// As [`Server::answer_health`] with TLS: the request is seen only after a handshake, which must be quick.
    async fn answer_health_encrypted(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        is_ending: watch::Receiver<bool>,
    ) {
        let Ok(_permit) = self.health_places.try_acquire() else {
            let counts = &self.context.admission;
            return self.gate.note_refused(counts, peer.ip(), Refusal::OutOfDescriptors);
        };
        if let Ok(Ok(stream)) = timeout(FIRST_BYTES_TIMEOUT, self.handshakes.accept(stream)).await {
            self.clone().converse(stream, peer, None, is_ending).await;
        }
    }

    /// Serves a request for the health of the DAC, and refuses everything else. The connection with this number gives way to later ones until it has sent
    /// something: idle connections must not keep monitors away.
    async fn answer_health(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        number: usize,
        is_ending: watch::Receiver<bool>,
    ) {
        let mut first = [0; HEALTH_HEAD];
        let mut unplaced = self.unplaced.subscribe();
        let length = tokio::select! {
            seen = timeout(FIRST_BYTES_TIMEOUT, whole_head(&stream, &mut first)) => seen.ok().flatten(),
            _ = unplaced.wait_for(|latest| *latest >= number + HEALTH_PLACES) => None,
        };
        let first = length.and_then(|length| first.get(..length)).unwrap_or_default();
        // Only whole requests: one that stops would keep its place.
        let is_health =
            HEALTH.iter().any(|request| first.starts_with(request)) && first.ends_with(b"\r\n\r\n");
        match self.health_places.try_acquire() {
            Ok(_permit) if is_health => {
                self.clone().converse(Stream::Plain(stream), peer, None, is_ending).await;
            }
            _ => self.refuse(stream, peer, Refusal::OutOfDescriptors),
        }
    }

    fn refuse(&self, stream: TcpStream, peer: SocketAddr, refusal: Refusal) {
        self.gate.note_refused(&self.context.admission, peer.ip(), refusal);
        // A client that expects TLS cannot read why.
        if !self.handshakes.are_required() {
            self.farewell.send_and_close(Stream::Plain(stream), problem(refusal).to_http());
        }
    }

    /// Serves one connection until it ends; without a place only one request. An unfinished request is answered; an idle connection is closed without an answer.
    async fn converse(
        self: Arc<Self>,
        stream: Stream,
        peer: SocketAddr,
        place: Option<Arc<Connection>>,
        mut is_ending: watch::Receiver<bool>,
    ) {
        let is_regular = place.is_some();
        let server = self.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            let proxied = server.meet_client(peer, &mut request);
            let path = request.uri().path().to_owned();
            let server = server.clone();
            let is_refused = place.is_none() && !is_health(request.uri().path());
            if let Some(place) = &place {
                request.extensions_mut().insert(place.clone());
            }
            // RFC 9112 6.1: a proxy may have seen another end of this request, so nothing that follows it is read.
            let is_last = request.headers().contains_key(header::TRANSFER_ENCODING);
            async move {
                let mut answer = match is_refused {
                    true => problem(Refusal::OutOfDescriptors).into_response(),
                    false => server.clone().answer(request).await?,
                };
                server.headers.add(&path, proxied, answer.headers_mut());
                if is_last {
                    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let mut connection =
            self.http(is_regular).serve_connection(TokioIo::new(stream), service).with_upgrades();
        let ended = tokio::select! {
            ended = &mut connection => Some(ended),
            _ = is_ending.changed() => None,
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                Pin::new(&mut connection).graceful_shutdown();
                (&mut connection).await
            }
        };
        let Err(error) = ended else { return };
        tracing::debug!(%peer, %error, "connection ended");
        let parts = connection.into_parts().filter(|parts| error.is_timeout() && !parts.read_buf.is_empty());
        if let Some(parts) = parts {
            self.context.admission.count_refused(TIMEOUT_CODE);
            let late = late("head", "doors.head_timeout_ms");
            self.farewell.send_and_close(parts.io.into_inner(), late.to_http());
        }
    }

    /// Gives a request the address of its client: the peer's, unless that is a trusted proxy.
    fn meet_client(&self, peer: SocketAddr, request: &mut Request<Incoming>) -> Option<Proxied> {
        let found = proxies::client(&self.context.config, peer, request.headers());
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo(found.map_or(peer, |(client, _)| client)));
        let proxied = found.map(|(_, proxied)| proxied);
        proxied.map(|proxied| extensions.insert(proxied));
        proxied
    }

    fn http(&self, has_more: bool) -> http1::Builder {
        let mut http = http1::Builder::new();
        let head = match has_more {
            true => Duration::from_millis(self.context.config.head_timeout_ms),
            false => FIRST_BYTES_TIMEOUT,
        };
        // From the start of the connection, and from the end of each answer.
        http.timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_buf_size(MAX_HEAD_BYTES)
            .keep_alive(has_more);
        http
    }

    /// Answers one request. One whose body is late gets 408, whatever the router makes of it.
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Response, Infallible> {
        let mut router = self.router.clone();
        if request.body().is_end_stream() {
            return router.call(request.map(Body::new)).await;
        }
        let longest = Duration::from_millis(self.context.config.body_timeout_ms);
        let (request, lateness) = body::bounded(request, longest);
        let answer = router.call(request).await?;
        if !lateness.is_late() {
            return Ok(answer);
        }
        self.context.admission.count_refused(TIMEOUT_CODE);
        let mut answer = late("body", "doors.body_timeout_ms").into_response();
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        Ok(answer)
    }
}

/// Whether the path is one of [`HEALTH`].
fn is_health(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// Waits until a head of a request has arrived, and returns its length; the bytes stay in the socket.
async fn whole_head(stream: &TcpStream, head: &mut [u8]) -> Option<usize> {
    loop {
        let length = stream.peek(head).await.ok()?;
        if length == 0 || length == head.len() || head.get(..length)?.ends_with(b"\r\n\r\n") {
            return Some(length);
        }
        // A head may come in several pieces, and the system reports only that there is one.
        tokio::time::sleep(HEAD_POLL_INTERVAL).await;
    }
}

fn late(part: &str, setting: &str) -> Problem {
    let detail = format!("the {part} of the request did not arrive in time ({setting})");
    Problem::new(StatusCode::REQUEST_TIMEOUT, TIMEOUT_CODE, detail)
}

fn problem(refusal: Refusal) -> Problem {
    let status = match refusal {
        Refusal::TooManyFromAddress { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::TooMany { .. } | Refusal::OutOfDescriptors => StatusCode::SERVICE_UNAVAILABLE,
    };
    Problem::new(status, refusal.code(), refusal.to_string())
}

/// Limits memory and time for a client that does not read: the system closes its connection when sent data waits too long.
/// Nothing waits for the acknowledgement of what was sent before: a stream's samples would be 40 ms late.
fn bound(stream: &TcpStream, send_buffer: usize) {
    let socket = socket2::SockRef::from(stream);
    let bounded = socket
        .set_send_buffer_size(send_buffer)
        .and_then(|()| socket.set_tcp_user_timeout(Some(STALL_TIMEOUT)))
        .and_then(|()| socket.set_tcp_nodelay(true));
    if let Err(error) = bounded {
        tracing::warn!(%error, "a connection has no bounds");
    }
}
