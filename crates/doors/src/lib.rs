//! Doors: how browsers and scripts get at what the DAC holds.
//!
//! A door is only *how to wait* and *how to write*; what there is to read comes from a [`oasis_dac::Cursor`]. Here are the
//! page itself ([`page`]), the HTTP API ([`api`]), and two doors on one path: WebSocket in our native protocol and in the papers'
//! format of 2012 ([`websocket`]). A door must not know how samples came in.

mod api;
mod config;
mod origin;
mod page;
mod problem;
mod view;
mod websocket;

pub use config::DoorsConfig;

use axum::{Router, routing::get};
use oasis_dac::{Dac, Doorkeeper};
use std::{io, net::SocketAddr, sync::Arc};
use tokio::{net::TcpListener, sync::Semaphore};

/// What every door shares.
#[derive(Debug, Clone)]
pub struct Doors {
    dac: Arc<Dac>,
    config: Arc<DoorsConfig>,
    doorkeeper: Arc<Doorkeeper>,
    websockets: Arc<Semaphore>,
}

impl Doors {
    /// Doors to `dac`.
    pub fn new(dac: Arc<Dac>, config: DoorsConfig) -> Self {
        let websockets = Arc::new(Semaphore::new(config.max_websockets));
        Self { dac, config: Arc::new(config), doorkeeper: Arc::default(), websockets }
    }

    /// Everything that is served.
    pub fn router(self) -> Router {
        Router::new()
            .route("/ws", get(websocket::upgrade))
            .route("/", get(websocket::upgrade_or_page))
            .merge(api::router())
            .fallback(page::asset)
            .layer(axum::middleware::map_response(page::harden))
            .with_state(self)
    }
}

/// Serves until `ended` completes.
pub async fn serve(
    doors: Doors,
    listener: TcpListener,
    ended: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let service = doors.router().into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).with_graceful_shutdown(ended).await
}
