//! WebSocket: the handshake, and which of the two protocols follows it.

mod eisa;
mod native;
mod outgoing;

use crate::{Doors, origin, page, problem::Problem};
use axum::{
    extract::{ConnectInfo, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use std::net::SocketAddr;

/// Subprotocol of our native protocol. Clients of 2012 offer none.
const NATIVE: &str = "oasis.v1";
/// Largest message a client may send: control messages are small.
const MAX_MESSAGE: usize = 64 * 1024;

/// `GET /ws`.
pub async fn upgrade(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    socket: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    match socket {
        Ok(socket) => open(state.0, peer.0, &headers, socket).unwrap_or_else(Problem::into_response),
        Err(rejection) => rejection.into_response(),
    }
}

/// `GET /`: the page, or a WebSocket for clients of 2012, which knew no path.
pub async fn upgrade_or_page(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    socket: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    match socket {
        Ok(socket) => open(state.0, peer.0, &headers, socket).unwrap_or_else(Problem::into_response),
        Err(_) => page::index(),
    }
}

fn open(
    doors: Doors,
    peer: SocketAddr,
    headers: &HeaderMap,
    socket: WebSocketUpgrade,
) -> Result<Response, Problem> {
    if !origin::allowed(headers, &doors.config) {
        doors.doorkeeper.refused("origin");
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "origin",
            "pages of other sites may not connect (doors.allowed_origins)",
        ));
    }
    let Some(place) = doors.doorkeeper.enter() else {
        doors.doorkeeper.refused("too_many_websockets");
        return Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_websockets",
            "doors.max_websockets is reached",
        ));
    };
    let socket = socket.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).protocols([NATIVE]);
    let native = socket.selected_protocol().is_some();
    if !native && headers.contains_key(header::SEC_WEBSOCKET_PROTOCOL) {
        doors.doorkeeper.refused("subprotocol");
        let detail = format!("offer the subprotocol {NATIVE}, or none for the format of 2012");
        return Err(Problem::new(StatusCode::BAD_REQUEST, "subprotocol", detail));
    }
    Ok(socket.on_upgrade(move |socket| async move {
        if native {
            native::Connection::run(doors, peer, socket).await;
        } else {
            eisa::Connection::run(doors, peer, socket).await;
        }
        drop(place);
    }))
}
