//! Doors: the transports through which browsers and scripts receive samples of the DAC.
//!
//! A door decides only *how to wait* and *how to write*. Samples come from the topic logs and, for all doors alike, from the [`past`]. Two doors share one
//! path: WebSocket in the native protocol and in the format of 2012 ([`websocket`]). Four are for clients that read text: server-sent events, a stream of
//! lines, long poll and poll ([`text`]). A door must not depend on how samples arrived, nor on the HTTP API and the page, which are a layer above
//! (`oasis-api`).
//!
//! Text is compressed once for all readers at the head of a log, and the pieces are spliced into each answer (`text/gzip.rs`, `text/zstd.rs`).
//! Text is compressed once for all readers at the head of a log, and the pieces are spliced into each answer (`text/gzip.rs`, `text/zstd.rs`). One segment has
//! 100 samples (17 KB of JSON). It costs, in microseconds for all readers together (`cargo bench -p oasis-doors`, two shared cores):
//!
//! | readers | gzip, spliced | gzip, an encoder each | zstd, spliced | zstd, an encoder each |
//! |---|---|---|---|---|
//! | 1 | 80 | 95 | 172 | 18 |
//! | 2 | 82 | 168 | 153 | 29 |
//! | 10 | 156 | 649 | 110 | 153 |
//! | 100 | 305 | 10,083 | 97 | 2,535 |
//!
//! So 100 readers cost 33 times less with gzip and 26 times less with zstd, and none of them keeps an encoder and its window.

mod config;
mod doors;
mod origin;
mod past;
mod places;
mod problem;
mod serve;
mod text;
pub mod view;
mod websocket;

pub use config::DoorsConfig;
pub use doors::Doors;
pub use past::{Archived, times::in_order};
pub use problem::Problem;
pub use text::openapi;
pub use websocket::upgrade;

use axum::{Router, routing::get};
use std::io;
use tokio::net::TcpListener;

impl Doors {
    /// The doors, for a router with any state.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        Router::new().route("/ws", get(upgrade)).merge(text::router()).with_state(self.clone())
    }
}

/// Serves `router`, which contains the doors, until `ended` completes and every client was notified.
///
/// # Errors
/// Those of the listener.
pub async fn serve(
    doors: &Doors,
    router: Router,
    listener: TcpListener,
    ended: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let Doors { admission, ending, shards, config, .. } = doors.clone();
    let ended = async move {
        ended.await;
        ending.send_replace(true);
        shards.end();
    };
    serve::serve(router, listener, &config, ended).await;
    // WebSockets are no requests any more: the HTTP server does not wait for them.
    admission.wait_until_empty().await;
    Ok(())
}
