//! The DAC's end of the TCP data channel, plain or with TLS: accepts sockets and runs one session for each.

use crate::{
    Dac, LogLimit, NodeGuard, PeerLine, RefusedNode,
    datagrams::{QUEUE_CAPACITY, Route},
    listener::{Acceptor, Farewell, Handshakes, NoHandshake, Stream},
    moment::{Moment, now, steady},
    session::NodeSession,
};
use oasis_channel::{
    DacMessage, Failure,
    frame::{FrameError, Reader, write_control},
};
use oasis_tls::{Peer, ServerTls, tls_error};
use oasis_wire::quantity::Nanos;
use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::{Instant, timeout_at},
};

/// A peer that is silent this long is dead; nodes ping each second. Also the timeout of the hello and of each write.
const PEER_TIMEOUT: Duration = Duration::from_secs(5);
/// Commands that may queue for one node.
const MAX_QUEUED_COMMANDS: usize = 64;
/// Most bytes to read at once.
const READ_SIZE: usize = 64 * 1024;

/// Log lines about failed handshakes in one [`HANDSHAKE_PERIOD`]: nodes retry every second.
const HANDSHAKE_LINES: u32 = 5;
const HANDSHAKE_PERIOD: Duration = Duration::from_secs(60);

/// Interval of checks of a connected node's certificate: a revoked one is refused everywhere within 2 s.
const CERTIFICATE_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Interval at which old samples are evicted.
const EVICTION_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which silent topics give memory back if the active ones need it.
const SHRINK_INTERVAL: Duration = Duration::from_millis(100);

/// Accepts nodes until they are [released](Dac::release_nodes).
pub async fn serve(dac: Arc<Dac>, listener: TcpListener) -> io::Result<()> {
    serve_with(dac, listener, Security::default()).await
}

/// Authentication of nodes.
#[derive(Debug, Clone, Default)]
pub struct Security {
    /// Certificates of the DAC. With them only nodes that speak TLS are accepted.
    pub tls: Option<Arc<ServerTls>>,
    /// Decides about certificates of nodes.
    pub guard: Option<Arc<dyn NodeGuard>>,
}

/// Accepts nodes until they are [released](Dac::release_nodes).
pub async fn serve_with(dac: Arc<Dac>, listener: TcpListener, security: Security) -> io::Result<()> {
    let Security { tls, guard } = security.clone();
    let handshakes = Arc::new(Handshakes::new(tls, ServerTls::channel));
    let failed_handshakes = Arc::new(LogLimit::new(HANDSHAKE_LINES, HANDSHAKE_PERIOD));
    let mut expiry = tokio::time::interval(EVICTION_INTERVAL);
    let mut shrinking = tokio::time::interval(SHRINK_INTERVAL);
    let (mut acceptor, farewell) = (Acceptor::new(listener), Farewell::default());
    loop {
        let (stream, peer) = tokio::select! {
            () = dac.nodes_released() => return Ok(()),
            accepted = acceptor.accept() => accepted,
            _ = expiry.tick() => {
                dac.expire(steady());
                continue;
            }
            _ = shrinking.tick() => {
                dac.shrink_logs();
                continue;
            }
        };
        match dac.gate.admit(&dac.admission, &stream, peer.ip()) {
            Ok(place) => {
                let (dac, handshakes, log) = (dac.clone(), handshakes.clone(), failed_handshakes.clone());
                let (security, guard) = (security.clone(), guard.clone());
                tokio::spawn(async move {
                    // Without it a command would wait for the acknowledgement of the one before.
                    let _ = stream.set_nodelay(true);
                    match handshakes.accept(stream).await {
                        Ok(stream) => connection(dac, stream, peer, security).await,
                        Err(failed) => {
                            if let Some(refusal) = refusal(peer, &failed) {
                                // Without TLS it can be any client that scans ports.
                                if refusal.failure.code != "tls_required" {
                                    dac.refused_nodes.note(&refusal, std::time::Instant::now());
                                }
                                guard.iter().for_each(|guard| guard.note_refused(refusal.clone()));
                            }
                            no_handshake(&dac, &log, peer, failed).await;
                        }
                    }
                    drop(place);
                });
            }
            Err(refusal) => {
                dac.gate.note_refused(&dac.admission, peer.ip(), refusal);
                // A peer that expects TLS cannot read why.
                if handshakes.are_required() {
                    continue;
                }
                farewell.send_and_close(
                    Stream::Plain(stream),
                    refused(Failure::new(refusal.code(), refusal.to_string())),
                );
            }
        }
    }
}

/// Serves a node that comes through another transport, which carries its stream to this end of a connection within this process. Returns at once.
///
/// # Errors
/// If the DAC accepts no more nodes.
pub fn serve_stream(
    dac: &Arc<Dac>,
    stream: TcpStream,
    peer: SocketAddr,
    security: Security,
) -> Result<(), Failure> {
    let place = dac.gate.admit(&dac.admission, &stream, peer.ip()).map_err(|refusal| {
        dac.gate.note_refused(&dac.admission, peer.ip(), refusal);
        Failure::new(refusal.code(), refusal.to_string())
    })?;
    let dac = dac.clone();
    tokio::spawn(async move {
        connection(dac, Stream::Plain(stream), peer, security).await;
        drop(place);
    });
    Ok(())
}

/// The message to a node that is refused.
fn refused(failure: Failure) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_control(&DacMessage::Refused(failure), &mut bytes);
    bytes
}

/// A failed handshake that is a refusal: the node has no certificate, or a bad one, or speaks without TLS.
fn refusal(peer: SocketAddr, failed: &NoHandshake) -> Option<RefusedNode> {
    let code = match failed {
        NoHandshake::Plaintext(_) => "tls_required",
        NoHandshake::Broken(error) => match tls_error(error)? {
            rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_) => {
                "certificate_refused"
            }
            _ => return None,
        },
        NoHandshake::Late => return None,
    };
    let failure = Failure::new(code, failed.to_string());
    Some(RefusedNode { address: peer.ip(), certificate: None, name: String::new(), failure })
}

/// Counts and logs a failed handshake. A node without TLS receives the reason.
async fn no_handshake(dac: &Dac, log: &LogLimit, peer: SocketAddr, failed: NoHandshake) {
    dac.admission.count_refused(failed.code());
    if let Some(left_out) = log.admit(std::time::Instant::now()) {
        let (others, why) = (left_out.others(), failed.to_string());
        tracing::warn!(%peer, others, "TLS handshake of a node failed: {why}");
    }
    if let NoHandshake::Plaintext(stream) = failed {
        let message =
            "this DAC requires TLS: set node.dac = \"tls://HOST:PORT\", and node.ca if its CA is your own";
        Farewell::send(stream, &refused(Failure::new("tls_required", message))).await;
    }
}

async fn connection(dac: Arc<Dac>, mut stream: Stream, peer: SocketAddr, security: Security) {
    let (outbound, commands) = mpsc::channel(MAX_QUEUED_COMMANDS);
    let route = Route::open(&dac, |token| stream.datagram_key(token));
    let offer = route.as_ref().map(|route| route.offer);
    let known_as = security.tls.as_ref().map_or(Some(Peer::Anonymous), |tls| tls.peer(stream.certificates()));
    let mut session = NodeSession::new(dac.clone(), outbound).at(peer.ip()).offering(offer);
    let ended = match known_as {
        Some(known_as) => {
            session = session.known_as(known_as, security.guard);
            converse(&dac, &mut stream, &mut session, commands, route).await
        }
        None => {
            session = session.known_as(Peer::Anonymous, security.guard);
            let message = "this node's certificate names nobody: it must have one common name (oasis ca issue node NAME)";
            Err(refuse("certificate_unnamed", &message))
        }
    };
    if let Err(End::Refused(failure)) = &ended {
        session.note_refused(failure);
    }
    let node = session.node().map(str::to_owned);
    session.close(now());
    log_end(&dac, peer, node.as_deref(), &ended);
    match ended {
        Ok(()) | Err(End::Io(_)) => {}
        Err(End::Refused(failure)) => {
            dac.admission.count_refused(&failure.code);
            let is_http = failure.code == FrameError::HttpClient.code();
            let answer = if is_http { http_answer(&failure.message) } else { refused(failure) };
            Farewell::send(stream, &answer).await;
        }
    }
}

/// The answer to an HTTP client.
fn http_answer(text: &str) -> Vec<u8> {
    let length = text.len();
    let head = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close";
    format!("{head}\r\ncontent-length: {length}\r\n\r\n{text}").into_bytes()
}

fn log_end(dac: &Dac, peer: SocketAddr, node: Option<&str>, ended: &Result<(), End>) {
    let line = match ended {
        Err(End::Refused(failure)) if failure.code == FrameError::HttpClient.code() => PeerLine::Http,
        Err(End::Refused(_)) => PeerLine::Refused,
        Ok(()) | Err(End::Io(_)) => PeerLine::Left,
    };
    let repeated = match ended {
        Err(End::Refused(failure)) if line == PeerLine::Refused => {
            let ip = peer.ip().to_string();
            let Some(repeated) = dac.admission.may_log_refusal(node.unwrap_or(&ip), &failure.code) else {
                return;
            };
            repeated
        }
        _ => 0,
    };
    let Some(left_out) = dac.admission.may_log(line) else { return };
    let others = left_out.others();
    match ended {
        Ok(()) => tracing::info!(%peer, node, others, "node disconnected"),
        Err(End::Io(error)) => tracing::info!(%peer, node, %error, others, "node connection lost"),
        Err(End::Refused(failure)) if line == PeerLine::Http => {
            tracing::warn!(%peer, others, "{}", failure.message);
        }
        Err(End::Refused(failure)) => {
            tracing::warn!(%peer, node, %failure, others, repeated, "node refused: logged once in ten minutes");
        }
    }
}

enum End {
    Io(io::Error),
    Refused(Failure),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

async fn converse(
    dac: &Dac,
    stream: &mut Stream,
    session: &mut NodeSession,
    mut commands: mpsc::Receiver<DacMessage>,
    mut route: Option<Route>,
) -> Result<(), End> {
    let mut reader = Reader::new(dac.config.channel.max_message_bytes);
    let mut partial = dac.partial_messages.hold();
    let mut answers = Vec::new();
    let mut bytes = Vec::new();
    let mut deadline = Instant::now() + PEER_TIMEOUT;
    let mut buffer = vec![0; READ_SIZE];
    let mut ended = pin!(dac.nodes_released());
    let (mut draining, mut is_asked_to_leave) = (pin!(dac.draining.requested()), false);
    let mut commits = dac.keeping.commits();
    let mut look = tokio::time::interval(CERTIFICATE_CHECK_INTERVAL);
    loop {
        tokio::select! {
            () = &mut ended => return Ok(()),
            () = &mut draining, if !is_asked_to_leave => {
                is_asked_to_leave = true;
                session.drain(&mut answers).map_err(End::Refused)?;
            }
            read = stream.read(&mut buffer) => {
                let length = read?;
                if length == 0 {
                    return Ok(());
                }
                dac.admission.count_received(length);
                reader.extend(&buffer[..length]);
                let mut heard = false;
                while let Some(frame) = reader.next().map_err(|error| refuse(error.code(), &error))? {
                    session.handle(frame, Moment::now(), &mut answers).map_err(End::Refused)?;
                    heard = true;
                }
                if !partial.set(reader.pending()) && reader.pending() > READ_SIZE {
                    let message = "the unfinished messages of all nodes exceed their share of memory_bytes: send smaller ones";
                    return Err(refuse("memory_limit", &message));
                }
                // Only complete frames prove that the peer is alive: single bytes do not.
                if heard {
                    session.acknowledge(Moment::now(), &mut answers);
                    deadline = Instant::now() + PEER_TIMEOUT;
                }
            }
            batch = Route::receive(&mut route) => {
                datagrams(dac, session, batch, &mut route);
                session.acknowledge(Moment::now(), &mut answers);
            }
            _ = look.tick(), if session.is_certified() => {
                session.check_certificate().map_err(End::Refused)?;
                continue;
            }
            () = wait_until(session.due()) => {
                session.overdue(Moment::now());
                session.acknowledge(Moment::now(), &mut answers);
                session.report_safe(Moment::now(), &mut answers);
            }
            // Fails only without a DAC, and there is one.
            _ = commits.changed(), if session.has_unsafe_samples() => {
                session.report_safe(Moment::now(), &mut answers);
            }
            command = commands.recv() => match command {
                Some(command) => answers.push(command),
                // Another connection of the same node has replaced this one.
                None => return Ok(()),
            },
            () = tokio::time::sleep_until(deadline) => {
                let code = if session.node().is_some() { "idle_timeout" } else { "hello_timeout" };
                return Err(refuse(code, &format!("no complete frame received for {} s", PEER_TIMEOUT.as_secs())));
            }
        }
        bytes.clear();
        answers.drain(..).for_each(|answer| write_control(&answer, &mut bytes));
        timeout_at(Instant::now() + PEER_TIMEOUT, write(stream, &bytes)).await.map_err(io::Error::from)??;
        if session.has_left() {
            return Ok(());
        }
    }
}

/// Writes all of it to the system: TLS may keep a part otherwise.
async fn write(stream: &mut Stream, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// Handles a batch and those queued after it. Handles at most one queue's length, so that a peer that never pauses
/// does not starve the rest of its session.
fn datagrams(dac: &Dac, session: &mut NodeSession, first: Vec<u8>, route: &mut Option<Route>) {
    let more = std::iter::from_fn(|| route.as_mut().and_then(Route::try_receive));
    for batch in std::iter::once(first).chain(more).take(QUEUE_CAPACITY) {
        if let Err(failure) = session.datagram(&batch, Moment::now()) {
            // A peer that knows the token can spoil its own datagrams, but not the session.
            dac.admission
                .count_refused(&format!("datagram_{}", failure.code.trim_start_matches("datagram_")));
        }
    }
}

async fn wait_until(due: Option<Nanos>) {
    match due {
        Some(due) => tokio::time::sleep(Duration::from_nanos(due.0.saturating_sub(steady().0))).await,
        None => std::future::pending().await,
    }
}

fn refuse(code: &str, message: &impl ToString) -> End {
    End::Refused(Failure::new(code, message.to_string()))
}
