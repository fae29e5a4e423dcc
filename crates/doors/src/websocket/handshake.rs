//! RFC 6455 section 4.2: from an HTTP request to a socket on a shard.

use super::{
    connection::{Place, Protocol},
    inbox::Newcomer,
};
use crate::{Doors, page, problem::Problem};
use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use hyper::upgrade::OnUpgrade;
use hyper_util::{rt::TokioIo, server::conn::auto::upgrade::downcast};
use sha1::{Digest, Sha1};
use std::{io, net::SocketAddr};
use tokio::net::TcpStream;

/// Subprotocol of our native protocol. Clients of 2012 offer none.
const NATIVE: &str = "oasis.v1";
/// Section 1.3.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// `GET /ws`.
pub async fn upgrade(
    State(doors): State<Doors>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    open(&doors, peer, request).unwrap_or_else(Problem::into_response)
}

/// `GET /`: the page, or a WebSocket for clients of 2012, which knew no path.
pub async fn upgrade_or_page(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    if request.headers().contains_key(header::UPGRADE) {
        return upgrade(state, peer, request).await;
    }
    page::index()
}

fn open(doors: &Doors, peer: SocketAddr, mut request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    let accept = accept(request.method(), headers)?;
    doors.admit(headers, "pages of other sites may not connect (doors.allowed_origins)")?;
    let protocol = protocol(&request).inspect_err(|_| doors.admission.count_refused("subprotocol"))?;
    let address = doors.places.resident(peer.ip()).map_err(|(code, problem)| {
        doors.admission.count_refused(code);
        problem
    })?;
    let Some(total) = doors.admission.try_admit() else {
        doors.admission.count_refused("too_many_websockets");
        let detail = "doors.max_websockets is reached";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_websockets", detail));
    };
    let Some(upgrade) = request.extensions_mut().remove::<OnUpgrade>() else {
        return Err(no_websocket("this connection cannot be upgraded"));
    };
    let is_native = matches!(protocol, Protocol::Native(_));
    tokio::spawn(hand_over(doors.clone(), peer, upgrade, protocol, Place::new(total, address)));
    let mut response = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let answers = response.headers_mut();
    answers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    answers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    answers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if is_native {
        answers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(NATIVE));
    }
    Ok(response)
}

/// The answer to the client's key.
fn accept(method: &Method, headers: &HeaderMap) -> Result<HeaderValue, Problem> {
    if method != Method::GET
        || !has_word(headers, header::CONNECTION, "upgrade")
        || !has_word(headers, header::UPGRADE, "websocket")
    {
        return Err(no_websocket("connect with GET, Connection: Upgrade and Upgrade: websocket"));
    }
    if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(no_websocket("Sec-WebSocket-Version must be 13 (RFC 6455)"));
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    if BASE64_STANDARD.decode(key).is_ok_and(|nonce| nonce.len() == 16) {
        let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
        // Base64 is made of characters that a header may have.
        return HeaderValue::try_from(BASE64_STANDARD.encode(digest))
            .map_err(|_| no_websocket("Sec-WebSocket-Key cannot be answered"));
    }
    Err(no_websocket("Sec-WebSocket-Key must be 16 bytes in base64"))
}

fn no_websocket(detail: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "websocket_handshake", detail)
}

/// Whether a list of words has this one, in whatever case.
fn has_word(headers: &HeaderMap, name: HeaderName, wanted: &str) -> bool {
    words(headers, name).any(|word| word.eq_ignore_ascii_case(wanted))
}

fn words(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').map(str::trim))
}

/// What the client speaks; one that offers other protocols than ours is told so.
fn protocol(request: &Request) -> Result<Protocol, Problem> {
    #[cfg(feature = "echo")]
    if request.uri().path() == "/echo" {
        return Ok(Protocol::Echo);
    }
    let headers = request.headers();
    if words(headers, header::SEC_WEBSOCKET_PROTOCOL).any(|offered| offered == NATIVE) {
        return Ok(Protocol::Native(Default::default()));
    }
    if headers.contains_key(header::SEC_WEBSOCKET_PROTOCOL) {
        let detail = format!("offer the subprotocol {NATIVE}, or none for the format of 2012");
        return Err(Problem::new(StatusCode::BAD_REQUEST, "subprotocol", detail));
    }
    Ok(Protocol::Eisa(Default::default()))
}

/// Waits until the answer is written, then gives the socket to a shard.
async fn hand_over(doors: Doors, peer: SocketAddr, upgrade: OnUpgrade, protocol: Protocol, place: Place) {
    let Ok(upgraded) = upgrade.await else { return };
    let Ok(parts) = downcast::<TokioIo<TcpStream>>(upgraded) else {
        return tracing::error!("the HTTP server gave no socket for a WebSocket");
    };
    match configured(parts.io.into_inner(), doors.config.send_buffer_bytes) {
        Ok(stream) => {
            doors.shards.adopt(Newcomer { stream, peer, protocol, place, early: parts.read_buf.to_vec() });
        }
        Err(error) => tracing::info!(%peer, %error, "a connection broke at its handshake"),
    }
}

/// A socket that sends at once, and lets no more wait in the system than it should.
fn configured(stream: TcpStream, send_buffer: usize) -> io::Result<std::net::TcpStream> {
    let stream = stream.into_std()?;
    stream.set_nodelay(true)?;
    socket2::SockRef::from(&stream).set_send_buffer_size(send_buffer)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn the_key_of_the_rfc_has_its_answer() {
        let headers = asking(&[
            (header::CONNECTION, "keep-alive, Upgrade"),
            (header::UPGRADE, "WebSocket"),
            (header::SEC_WEBSOCKET_VERSION, "13"),
            (header::SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ=="),
        ]);
        assert_eq!(accept(&Method::GET, &headers).unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert!(accept(&Method::POST, &headers).is_err());
        for missing in headers.keys() {
            let mut fewer = headers.clone();
            fewer.remove(missing);
            assert!(accept(&Method::GET, &fewer).is_err(), "{missing}");
        }
    }

    #[test]
    fn our_protocol_is_found_among_others() {
        let spoken = |offered: Option<&'static str>| {
            let mut request = Request::default();
            request.headers_mut().extend(
                offered.map(|value| (header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(value))),
            );
            protocol(&request)
        };
        assert!(matches!(spoken(Some("chat, oasis.v1")), Ok(Protocol::Native(_))));
        assert!(spoken(Some("chat")).is_err());
        assert!(matches!(spoken(None), Ok(Protocol::Eisa(_))));
    }
}
