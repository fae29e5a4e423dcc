//! What a program says with [`tracing`] or `log` becomes samples of an OASIS node: events of the probe `log`, spans of the probe `spans`.
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
//! No thread that logs ever waits: a record that finds no room is dropped and counted, and the DAC will know. What OASIS itself logs is left out, or
//! a node that has something to say would go on for ever. Texts have bounds (`docs/reference/probes.md`): a value is formatted no further than they reach.

mod fields;
mod layer;
mod thread;

pub use layer::{Config, OasisLayer};
