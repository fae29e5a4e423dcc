//! The WebSocket protocol of Foxglove, for Foxglove, Lichtblick and PlotJuggler: live samples as messages, a channel an instance.
//!
//! A viewer offers the subprotocol `foxglove.sdk.v1` or `foxglove.websocket.v1`, which differ in their names only. Its [`options`] are
//! in the URL. The DAC advertises [`channels`], and a [`subscription`] is a cursor of its topic log: what a viewer does not read in time
//! waits there, and what the log has evicted is a message on `/oasis/missing`. [`control`] lists parameters and services, whose
//! commands [`commands`] sends. `docs/reference/foxglove.md` documents the protocol.

mod channels;
mod commands;
mod connection;
mod control;
mod messages;
mod options;
mod refused;
mod requests;
mod subscription;

pub use connection::serve;
pub use options::ViewerOptions;

/// The names of the protocol, the newest first.
const SUBPROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];

/// Returns the name of the protocol that a client offers, if it does.
pub fn offered(protocols: &[String]) -> Option<&'static str> {
    SUBPROTOCOLS.into_iter().find(|known| protocols.iter().any(|offered| offered == known))
}
