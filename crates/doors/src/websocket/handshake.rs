//! RFC 6455 section 4.2: from an HTTP request to a socket on a shard, or to the task of a viewer.

use super::{
    client::EisaClient,
    connection::{ConnectionPermit, Protocol},
    inbox::PendingConnection,
    transport::Transport,
};
use crate::Doors;
#[cfg(feature = "mcap")]
use crate::foxglove::{self, ViewerOptions};
use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use oasis_access::{Target, Verb};
use oasis_dac::listener::{Connection, Stream};
use oasis_http::{
    Problem,
    permissions::{Caller, READ_VERBS, Refusal, Requirement},
};
use oasis_websocket::handshake::{self, Opening};
use std::{io, net::SocketAddr, sync::Arc};
use tokio::net::TcpStream;

/// Subprotocol of our native protocol. Clients of 2012 offer none.
const NATIVE: &str = "oasis.v1";
/// Permissions that a client needs for any WebSocket.
pub const REQUIREMENT: Requirement = Requirement::Somewhere(READ_VERBS);

/// Opens a WebSocket: `GET /ws`, and `GET /` for clients of 2012.
pub async fn upgrade(
    State(doors): State<Doors>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    open(&doors, peer, request).unwrap_or_else(Problem::into_response)
}

fn open(doors: &Doors, peer: SocketAddr, mut request: Request) -> Result<Response, Problem> {
    let caller = request.extensions_mut().remove::<Caller>().ok_or(Refusal::SignIn)?;
    let headers = request.headers();
    let opening = opening(request.method(), headers)?;
    doors.admit(headers, "pages of other sites may not connect (doors.allowed_origins)")?;
    let offer = Offer::read(&opening, request.uri().query().unwrap_or_default())
        .inspect_err(|_| doors.admission.count_refused("subprotocol"))?;
    offer.authorize(&caller).inspect_err(|refusal| doors.admission.count_refused(refusal.code()))?;
    let address = doors.places.resident(peer.ip()).map_err(|(code, problem)| {
        doors.admission.count_refused(code);
        problem
    })?;
    let Some(total) = doors.admission.try_admit() else {
        doors.admission.count_refused("too_many_websockets");
        let detail = "doors.max_websockets is reached";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_websockets", detail));
    };
    let connection = request.extensions_mut().remove::<Arc<Connection>>();
    let Some(upgrade) = request.extensions_mut().remove::<OnUpgrade>() else {
        return Err(no_websocket("this connection cannot be upgraded"));
    };
    let accept = HeaderValue::try_from(opening.accept)
        .map_err(|_| no_websocket("Sec-WebSocket-Key cannot be answered"))?;
    let subprotocol = offer.subprotocol();
    let place = ConnectionPermit::new(total, address, connection);
    match offer {
        Offer::Shard(protocol) => {
            tokio::spawn(hand_over(doors.clone(), caller, upgrade, protocol, place));
        }
        #[cfg(feature = "mcap")]
        Offer::Viewer(_, options) => {
            let doors = doors.clone();
            tokio::spawn(async move {
                let Some((stream, early)) = upgraded(upgrade).await else { return };
                foxglove::serve(doors, caller, options, (stream, early), place).await;
            });
        }
    }
    let mut response = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let answers = response.headers_mut();
    answers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    answers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    answers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if let Some(name) = subprotocol {
        answers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(name));
    }
    Ok(response)
}

/// Whether a caller may use a protocol at all. Each instance is asked for later.
pub(super) fn may_speak(caller: &Caller, protocol: &Protocol) -> Result<(), Refusal> {
    match protocol {
        Protocol::Native(_) if caller.sees_something() => Ok(()),
        Protocol::Native(_) => caller.authorize(Verb::ReadLive, Target::SomeOfDac),
        Protocol::Eisa(_) => {
            caller.authorize(Verb::Eisa, Target::SomeOfDac)?;
            caller.authorize(Verb::ReadLive, Target::SomeOfDac)
        }
    }
}

fn opening(method: &Method, headers: &HeaderMap) -> Result<Opening, Problem> {
    let pairs: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    handshake::check(method.as_str(), pairs.into_iter()).map_err(|error| no_websocket(&error.to_string()))
}

fn no_websocket(detail: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "websocket_handshake", detail)
}

/// The protocol that a client offers.
#[derive(Debug)]
enum Offer {
    /// A protocol of the shards.
    Shard(Protocol),
    /// The protocol of Foxglove, by the name that the client uses.
    #[cfg(feature = "mcap")]
    Viewer(&'static str, ViewerOptions),
}

impl Offer {
    /// Finds it among the subprotocols. A client that offers only others is refused.
    fn read(opening: &Opening, query: &str) -> Result<Self, Problem> {
        if opening.protocols.iter().any(|offered| offered == NATIVE) {
            return Ok(Self::Shard(Protocol::Native(Default::default())));
        }
        #[cfg(feature = "mcap")]
        if let Some(name) = foxglove::offered(&opening.protocols) {
            return Ok(Self::Viewer(name, ViewerOptions::parse(query)?));
        }
        if opening.protocols.is_empty() {
            let client = EisaClient { is_packed: is_packed(query)?, ..EisaClient::default() };
            return Ok(Self::Shard(Protocol::Eisa(client)));
        }
        let viewers =
            if cfg!(feature = "mcap") { "foxglove.sdk.v1" } else { "in a program with MCAP foxglove.sdk.v1" };
        let detail = format!("offer the subprotocol {NATIVE}, {viewers}, or none for the format of 2012");
        Err(Problem::new(StatusCode::BAD_REQUEST, "subprotocol", detail))
    }

    /// Checks whether a caller may use it at all. Each instance is asked for later.
    fn authorize(&self, caller: &Caller) -> Result<(), Refusal> {
        match self {
            Self::Shard(protocol) => may_speak(caller, protocol),
            #[cfg(feature = "mcap")]
            Self::Viewer(..) => caller.authorize(Verb::ReadLive, Target::SomeOfDac),
        }
    }

    /// The subprotocol of the answer.
    fn subprotocol(&self) -> Option<&'static str> {
        match self {
            Self::Shard(Protocol::Native(_)) => Some(NATIVE),
            Self::Shard(Protocol::Eisa(_)) => None,
            #[cfg(feature = "mcap")]
            Self::Viewer(name, _) => Some(name),
        }
    }
}

/// Whether a client of 2012 takes several packets in a message.
fn is_packed(query: &str) -> Result<bool, Problem> {
    match query.split('&').find_map(|parameter| parameter.strip_prefix("packets=")) {
        None | Some("one") => Ok(false),
        Some("many") => Ok(true),
        Some(other) => {
            let detail = format!("parameter packets is {other:?}: write one or many");
            Err(Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail))
        }
    }
}

/// Waits until the answer is written, then gives the socket to a shard.
async fn hand_over(
    doors: Doors,
    caller: Caller,
    upgrade: OnUpgrade,
    protocol: Protocol,
    place: ConnectionPermit,
) {
    let Some((stream, early)) = upgraded(upgrade).await else { return };
    match configured(stream, doors.config.send_buffer_bytes) {
        Ok(stream) => {
            doors.shards.accept(PendingConnection { stream, caller, protocol, place, early });
        }
        Err(error) => tracing::info!(peer = %caller.peer(), %error, "a connection broke at its handshake"),
    }
}

/// Takes a connection from the HTTP server, with what the client has sent already.
async fn upgraded(upgrade: OnUpgrade) -> Option<(Stream, Vec<u8>)> {
    let upgraded = upgrade.await.ok()?;
    let Ok(parts) = upgraded.downcast::<TokioIo<Stream>>() else {
        tracing::error!("the HTTP server gave no socket for a WebSocket");
        return None;
    };
    Some((parts.io.into_inner(), parts.read_buf.to_vec()))
}

/// Returns a connection for a shard, with the state of its encryption.
fn configured(stream: Stream, send_buffer: usize) -> io::Result<Transport> {
    match stream {
        Stream::Plain(socket) => Ok(Transport::Plain(configured_socket(socket, send_buffer)?)),
        Stream::Tls(stream) => {
            let (socket, session) = stream.into_inner();
            Ok(Transport::tls(configured_socket(socket, send_buffer)?, session))
        }
    }
}

/// Sets a socket to send at once, and bounds its unsent bytes in the system.
fn configured_socket(socket: TcpStream, send_buffer: usize) -> io::Result<mio::net::TcpStream> {
    let socket = socket.into_std()?;
    socket.set_nodelay(true)?;
    socket2::SockRef::from(&socket).set_send_buffer_size(send_buffer)?;
    Ok(mio::net::TcpStream::from_std(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_protocol_is_found_among_others() {
        let spoken = |offered: &[&str]| {
            let protocols = offered.iter().map(|&name| name.to_owned()).collect();
            Offer::read(&Opening { accept: String::new(), protocols }, "")
                .map_err(|problem| serde_json::to_string(&problem).unwrap())
        };
        assert!(matches!(spoken(&["chat", "oasis.v1"]), Ok(Offer::Shard(Protocol::Native(_)))));
        assert!(spoken(&["chat"]).is_err_and(|detail| detail.contains("foxglove.sdk.v1")));
        let of_2012 = spoken(&[]);
        assert!(matches!(of_2012, Ok(Offer::Shard(Protocol::Eisa(EisaClient { is_packed: false, .. })))));
        #[cfg(feature = "mcap")]
        assert_eq!(spoken(&["foxglove.websocket.v1"]).unwrap().subprotocol(), Some("foxglove.websocket.v1"));
    }

    #[test]
    fn a_client_of_2012_may_take_several_packets_in_a_message() {
        assert_eq!(is_packed("a=b&packets=many").ok(), Some(true));
        assert_eq!(is_packed("packets=one").ok(), Some(false));
        assert!(is_packed("packets=all").is_err());
    }
}
