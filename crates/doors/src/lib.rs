//! Doors: how browsers and scripts get at what the DAC holds.
//!
//! A door is only *how to wait* and *how to write*; what there is to read comes from the topic logs and, for all doors alike, from the [`past`]. Here are the
//! page itself ([`page`]), the HTTP API ([`api`]), two doors on one path: WebSocket in our native protocol and in the papers'
//! format of 2012 ([`websocket`]), and four for those who want text: server-sent events, a stream of lines, long poll and poll
//! ([`text`]). A door must not know how samples came in.
//!
//! Text is compressed once for all readers at the head of a log, and the pieces are spliced into each answer (`text/gzip.rs`, `text/zstd.rs`).
//! One segment of 100 samples (17 KB of JSON) costs, in microseconds for all readers together (`cargo bench -p oasis-doors`, two shared cores):
//!
//! | readers | gzip, spliced | gzip, an encoder each | zstd, spliced | zstd, an encoder each |
//! |---|---|---|---|---|
//! | 1 | 80 | 95 | 172 | 18 |
//! | 2 | 82 | 168 | 153 | 29 |
//! | 10 | 156 | 649 | 110 | 153 |
//! | 100 | 305 | 10,083 | 97 | 2,535 |
//!
//! So 100 readers cost 33 times less with gzip and 26 times less with zstd, and none of them keeps an encoder and its window.

mod api;
mod config;
mod handlers;
mod layouts;
mod origin;
mod page;
mod past;
mod places;
mod problem;
mod serve;
mod text;
mod view;
mod websocket;

pub use config::DoorsConfig;

use axum::{Router, routing::get};
use handlers::Handler;
use layouts::Layouts;
use oasis_archive::Archive;
use oasis_dac::{Admission, Dac};
use origin::RefusedOrigins;
use past::Archived;
use places::Places;
use std::{io, sync::Arc};
use tokio::{net::TcpListener, runtime::Handle, sync::watch};
use websocket::{Shards, Surroundings};

/// What every door shares.
#[derive(Debug, Clone)]
pub struct Doors {
    dac: Arc<Dac>,
    config: Arc<DoorsConfig>,
    admission: Arc<Admission>,
    ending: Arc<watch::Sender<bool>>,
    places: Arc<Places>,
    layouts: Arc<Layouts>,
    shards: Arc<Shards>,
    archived: Archived,
    handlers: Vec<Handler>,
    refused_origins: Arc<RefusedOrigins>,
}

impl Doors {
    /// Doors to `dac`, and to its past if there is an archive. Reads the layouts and starts the threads that own WebSockets; called within a tokio runtime.
    pub fn new(dac: Arc<Dac>, config: DoorsConfig, archive: Option<Arc<Archive>>) -> io::Result<Self> {
        let admission = Arc::new(Admission::new(config.max_websockets));
        let places = Arc::new(Places::new(&config));
        let layouts = Layouts::open(config.layouts_dir(), config.max_layouts, config.max_layout_bytes)?;
        let config = Arc::new(config);
        let archived = Archived::new(archive);
        let shards = Shards::start(&Surroundings {
            dac: dac.clone(),
            config: config.clone(),
            admission: admission.clone(),
            archived: archived.clone(),
            runtime: Handle::current(),
        })?;
        Ok(Self {
            dac,
            config,
            admission,
            ending: Arc::default(),
            places,
            layouts: Arc::new(layouts),
            shards: Arc::new(shards),
            archived,
            handlers: Vec::new(),
            refused_origins: Arc::default(),
        })
    }

    /// The same, telling how a data handler is; `state` must neither wait nor take long.
    pub fn with_handler(
        mut self,
        name: &'static str,
        state: impl Fn() -> serde_json::Value + Send + Sync + 'static,
    ) -> Self {
        self.handlers.push(Handler::new(name, state));
        self
    }

    /// Completes when all connections have to end.
    async fn ended(&self) {
        // An error would mean that no `Doors` is left, and here is one.
        let _ = self.ending.subscribe().wait_for(|&ending| ending).await;
    }

    /// Everything that is served.
    pub fn router(self) -> Router {
        Router::new()
            .route("/ws", get(websocket::upgrade))
            .route("/", get(websocket::upgrade_or_page))
            .merge(api::router())
            .merge(text::router())
            .fallback(page::asset)
            .layer(axum::middleware::map_response(page::harden))
            .with_state(self)
    }
}

/// Serves until `ended` completes and every client has been told.
pub async fn serve(
    doors: Doors,
    listener: TcpListener,
    ended: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let Doors { admission, ending, shards, .. } = doors.clone();
    let config = doors.config.clone();
    let ended = async move {
        ended.await;
        ending.send_replace(true);
        shards.end();
    };
    serve::serve(doors.router(), listener, &config, ended).await;
    // WebSockets are no requests any more: the HTTP server does not wait for them.
    admission.wait_until_empty().await;
    Ok(())
}
