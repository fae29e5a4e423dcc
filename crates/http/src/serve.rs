//! Accepts connections and serves HTTP/1.1 or gRPC on them, plain or with TLS, within limits of number and time.

#[cfg(feature = "grpc")]
mod grpc;
mod http1;

#[cfg(feature = "grpc")]
use crate::grpc::GrpcMethod;
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
    http::{Request, StatusCode},
};
use hyper::body::Incoming;
use oasis_dac::{
    Admission, LogLimit,
    listener::{Acceptor, Connection, Farewell, Gate, Handshakes, NoHandshake, Refusal, Settings, Stream},
};
use oasis_tls::ServerTls;
use std::{
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::timeout,
};

/// Time that sent data may wait for a client that does not read; then the system closes the connection.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
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

/// Protocol of all connections of a listener.
#[derive(Debug, Clone, Copy)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// Calls of these methods, over HTTP/2.
    #[cfg(feature = "grpc")]
    Grpc(&'static [GrpcMethod]),
}

impl Protocol {
    /// Returns the settings of TLS, of all that a server has.
    fn tls_settings(self) -> Settings {
        match self {
            Self::Http1 => ServerTls::doors,
            #[cfg(feature = "grpc")]
            Self::Grpc(_) => ServerTls::grpc,
        }
    }
}

/// Serves a protocol until `ended` completes and every request has its answer.
pub async fn serve(
    context: &HttpContext,
    router: Router,
    protocol: Protocol,
    listener: TcpListener,
    ended: impl Future<Output = ()>,
) {
    let config = &context.config;
    let server = Arc::new(Server {
        router,
        protocol,
        headers: Headers::new(config, context.is_encrypted()),
        context: context.clone(),
        connections: Admission::new(config.max_connections),
        gate: Gate::new("doors", config.max_connections_per_address, USUAL_PER_ADDRESS),
        farewell: Farewell::default(),
        handshakes: Handshakes::new(context.tls.clone(), protocol.tls_settings()),
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
    protocol: Protocol,
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

    /// Serves one connection until it ends; without a place it has only a request for the health of the DAC.
    async fn converse(
        self: Arc<Self>,
        stream: Stream,
        peer: SocketAddr,
        place: Option<Arc<Connection>>,
        is_ending: watch::Receiver<bool>,
    ) {
        match self.protocol {
            Protocol::Http1 => self.serve_http1(stream, peer, place, is_ending).await,
            #[cfg(feature = "grpc")]
            Protocol::Grpc(methods) => {
                if let Some(place) = place {
                    self.serve_grpc(stream, peer, (place, methods), is_ending).await;
                }
            }
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

    /// Answers one request by `route`, within the time that its body has.
    ///
    /// # Errors
    /// A problem if the body is late, whatever `route` makes of it.
    async fn answer_in_time<F: Future>(
        &self,
        request: Request<Incoming>,
        route: impl FnOnce(Request<Body>) -> F,
    ) -> Result<F::Output, Problem> {
        if request.body().is_end_stream() {
            return Ok(route(request.map(Body::new)).await);
        }
        let longest = Duration::from_millis(self.context.config.body_timeout_ms);
        let (request, lateness) = body::bounded(request, longest);
        let answer = route(request).await;
        if !lateness.is_late() {
            return Ok(answer);
        }
        self.context.admission.count_refused(TIMEOUT_CODE);
        Err(late("body", "doors.body_timeout_ms"))
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
