//! Doors: the transports through which browsers and scripts receive samples of the DAC.
//!
//! A door decides only *how to wait* and *how to write*. Samples come from the topic logs and, for all doors alike, from the `past`. Two doors share one
//! path: WebSocket in the native protocol and in the format of 2012 (`websocket`); viewers that speak the protocol of Foxglove have a task each
//! (`foxglove`). Four are for clients that read text: server-sent events, a stream of
//! lines, long poll and poll (`text`). A door must not depend on how samples arrived, nor on the HTTP API and the page, which are a layer above
//! (`oasis-api`).
//!
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
//! Thus 100 readers cost 33 times less with gzip and 26 times less with zstd, and none of them keeps an encoder and its
//! window.
//!
//! ```
//! # use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
//! # use oasis_dac::{now, session::NodeSession};
//! # use oasis_wire::{batch::{Encoder, Fields}, probe_kind::ProbeKind, schema::ProbeType, value::RowWriter};
//! use oasis_dac::{Config, Dac};
//! use oasis_doors::{Doors, DoorsConfig, serve};
//! use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::{TcpListener, TcpStream}, sync::oneshot};
//!
//! # fn connect_plant(dac: &std::sync::Arc<Dac>) -> Result<NodeSession, Box<dyn std::error::Error>> {
//! #     let tank: ProbeType = serde_json::from_str(r#"{
//! #         "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//! #         "metrics": [{"name": "level", "type": "real64"}]
//! #     }"#)?;
//! #     let run = uuid::Uuid::nil();
//! #     let node = NodeIdentity {
//! #         name: "plant".into(), uuid: run, run, host: "host".into(), software: "example".into(), pid: 1,
//! #     };
//! #     let state = InstanceState { hertz: None, enabled: true, recorder: None };
//! #     let instance = RegisteredInstance {
//! #         name: "tank".into(), probe_type: tank.uuid, kind: ProbeKind::Pushed, demand: None, declared: None, state,
//! #     };
//! #     let hello = NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false };
//! #     let register = NodeMessage::Register { types: vec![tank.clone()], instances: vec![instance] };
//! #     let mut session = NodeSession::new(dac.clone(), tokio::sync::mpsc::channel(1).0);
//! #     for message in [hello, register] {
//! #         session.handle(Frame::Control(&serde_json::to_vec(&message)?), now(), &mut Vec::new())?;
//! #     }
//! #     let topic = dac.registry.find("plant", "tank").ok_or("it is registered")?.topic.0;
//! #     let (mut row, mut batch) = (Vec::new(), Vec::new());
//! #     RowWriter::new(&mut row).f64(2.5);
//! #     let mut encoder = Encoder::new(&tank)?;
//! #     encoder.push(now().0, &row)?;
//! #     encoder.finish(Fields { topic, state: 0, first_sequence: 1, node_time: 0, dropped_before: 0 }, &mut batch);
//! #     session.handle(Frame::Batch(&batch), now(), &mut Vec::new())?;
//! #     Ok(session)
//! # }
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let dac = Dac::new(Config::default());
//! # let _session = connect_plant(&dac)?;
//! let doors = Doors::new(dac, DoorsConfig::default(), None)?;
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! let (end, ended) = oneshot::channel::<()>();
//! let served = tokio::spawn(async move {
//!     serve(&doors, doors.router(), listener, async { drop(ended.await) }).await
//! });
//!
//! // A script polls for the samples of a tank.
//! let mut script = TcpStream::connect(address).await?;
//! let get = "GET /api/v1/samples?node=plant&instance=tank HTTP/1.0";
//! script.write_all(format!("{get}\r\nHost: {address}\r\n\r\n").as_bytes()).await?;
//! let mut answer = String::new();
//! script.read_to_string(&mut answer).await?;
//! assert!(answer.contains("200 OK") && answer.contains(r#""level":2.5"#), "{answer}");
//!
//! drop(end);
//! served.await??;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    not(feature = "openapi"),
    allow(
        unused_imports,
        dead_code,
        reason = "what only the OpenAPI document names; checked with the feature on"
    )
)]

// Routes and schemas describe themselves only for the test of the OpenAPI document.
#[cfg(not(feature = "openapi"))]
extern crate oasis_no_openapi as utoipa;

mod coding;
mod config;
pub mod delta;
mod doors;
mod fleet;
#[cfg(feature = "mcap")]
mod foxglove;
mod past;
mod places;
mod resume;
mod shard_choice;
mod shards_view;
#[cfg(test)]
mod test_plant;
pub(crate) mod text;
pub mod view;
mod websocket;

pub use coding::Coding;
pub use config::DoorsConfig;
pub use doors::Doors;
pub use fleet::{AlarmsByInstance, StandingAlarms};
pub use past::{ArchiveAccess, times::in_order};
pub use places::DoorPermit;
pub use shard_choice::{BadShardChoice, MAX_SHARDS, ShardChoice};
pub use shards_view::{ShardView, ShardsView};
#[cfg(feature = "openapi")]
pub use text::openapi;
pub use websocket::upgrade;

use axum::Router;
use oasis_http::permissions::Routes;
use std::io;
use tokio::net::TcpListener;

impl Doors {
    /// The doors, for a router with any state.
    pub fn routes<S: Clone + Send + Sync + 'static>(&self) -> Routes<S> {
        let websocket = Routes::new(&self.http).get("/ws", websocket::REQUIREMENT, upgrade);
        websocket.merge(text::routes(self)).with_state(self.clone())
    }

    /// The same without the table of requirements, for a server without the API.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        self.routes().into_router()
    }
}

/// Serves `router`, which contains the doors, until `ended` completes and every client was notified.
///
/// # Errors
/// Errors of the listener.
pub async fn serve(
    doors: &Doors,
    router: Router,
    listener: TcpListener,
    ended: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let Doors { ending, shards, .. } = doors.clone();
    let ended = async move {
        ended.await;
        ending.send_replace(true);
        shards.end();
    };
    oasis_http::serve(&doors.http, router, listener, ended).await;
    // WebSockets are no requests any more: the HTTP server does not wait for them.
    doors.admission.wait_until_empty().await;
    Ok(())
}
