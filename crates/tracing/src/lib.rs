//! Turns records of [`tracing`] or `log` into samples of an OASIS node: events of the probe `log`, spans of the probe
//! `spans`.
//!
//! ```no_run
//! use oasis_probe::{NodeBuilder, NodeConfig, TcpConnector};
//! use oasis_tracing::OasisLayer;
//! use tracing_subscriber::{Layer, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = NodeBuilder::new("machine", NodeConfig::default());
//! let layer = OasisLayer::new(&mut builder)?;
//! tracing_subscriber::registry().with(layer.with_filter(LevelFilter::INFO)).init();
//! let node = builder.start(TcpConnector::new("127.0.0.1:7071"))?;
//!
//! tracing::info!(bar = 8.1, "pressure is high");
//! # node.shutdown();
//! # Ok(()) }
//! ```
//!
//! A thread that logs never waits: a record without room in the ring is dropped, counted, and reported to the DAC.
//! Records of OASIS itself are left out, because they would cause further records without end. Texts are bounded
//! (`docs/reference/probes.md`): a value is formatted only up to the bound.

mod fields;
mod layer;
mod thread;

pub use layer::{Config, OasisLayer};
