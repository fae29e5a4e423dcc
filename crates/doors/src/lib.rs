//! Doors: how browsers and scripts get at what the DAC holds.
//!
//! A door is only *how to wait* and *how to write*. Samples come from the topic logs and, for all doors alike, from the [`past`]. Two doors
//! share one path, WebSocket in the native protocol and in the format of 2012 ([`websocket`]); four are for clients that read
//! text: server-sent events, a stream of lines, long poll and poll ([`text`]). A door must not know how samples arrived, nor the HTTP API and
//! the page, which stand above it (`oasis-api`).
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

mod config;
mod origin;
mod past;
mod places;
mod problem;
mod serve;
mod text;
pub mod view;
mod websocket;

pub use config::DoorsConfig;
pub use past::{Archived, times::in_order};
pub use problem::Problem;
pub use text::openapi;
pub use websocket::upgrade;

use axum::{Router, routing::get};
use oasis_archive::Archive;
use oasis_dac::{Admission, Dac};
use origin::RefusedOrigins;
use places::Places;
use std::{collections::BTreeMap, io, sync::Arc};
use tokio::{net::TcpListener, runtime::Handle, sync::watch};
use websocket::{Shards, Surroundings};

/// What every door shares.
#[derive(Debug, Clone)]
pub struct Doors {
    /// The DAC that is read.
    pub dac: Arc<Dac>,
    /// Bounds.
    pub config: Arc<DoorsConfig>,
    /// Limits and counts WebSockets, and counts refused clients.
    pub admission: Arc<Admission>,
    ending: Arc<watch::Sender<bool>>,
    places: Arc<Places>,
    shards: Arc<Shards>,
    /// The archive, if there is one, and turns to read it.
    pub archived: Archived,
    refused_origins: Arc<RefusedOrigins>,
}

impl Doors {
    /// Doors to `dac`, and to its past if there is an archive. Starts the threads that own WebSockets; called within a tokio runtime.
    pub fn new(dac: Arc<Dac>, config: DoorsConfig, archive: Option<Arc<Archive>>) -> io::Result<Self> {
        let admission = Arc::new(Admission::new(config.max_websockets));
        let places = Arc::new(Places::new(&config));
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
            shards: Arc::new(shards),
            archived,
            refused_origins: Arc::default(),
        })
    }

    /// Readers at each text door now.
    pub fn readers(&self) -> BTreeMap<&'static str, usize> {
        self.places.open()
    }

    /// Completes when all connections have to end.
    async fn ended(&self) {
        // An error would mean that no `Doors` is left, and here is one.
        let _ = self.ending.subscribe().wait_for(|&ending| ending).await;
    }

    /// The doors, for a router with any state.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        Router::new().route("/ws", get(upgrade)).merge(text::router()).with_state(self.clone())
    }
}

/// Serves `router`, which contains the doors, until `ended` completes and every client has been told.
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
