//! The library for watched applications: probes, and the EI node that sends their samples to a DAC.
//!
//! A **probe** measures. Either the node calls it at a rate ([`Probe`]), or the application flushes it
//! ([`PushedProbe`]: wait-free, no allocation, no system call while the node is awake). A **node** ([`NodeBuilder`], [`Node`]) numbers the
//! samples, encodes them into native batches, keeps them until they are safe at the DAC, and executes commands. The types of
//! samples are generated from PDL.
//!
//! In the order a sample passes: `ring` (pushed probes) or a schedule (periodic ones), then the collector thread.
//! The collector has an optional flight `recorder` and an encoder for each instance. Then the spool, and the shipper thread
//! with its channel. Once a second the collector measures the cost of all that (`overhead`), and the `governor`
//! lowers rates. Each buffer is bounded; dropped samples are counted and reported to the DAC.
//!
//! A node of another kind, such as a replay, shares two parts: the queue of samples that the DAC lacks ([`outgoing`]), and
//! the connection ([`link`]). A gateway has a node for each of its devices ([`forward`]), with everything after the collector.
//!
//! ```
//! use oasis_probe::{Malformed, NodeBuilder, NodeConfig, Reader, RowWriter, Sample, TcpConnector};
//!
//! // `oasis pdl compile --lang rust` writes such a type from PDL.
//! struct Tank {
//!     level: f64,
//! }
//!
//! impl Sample for Tank {
//!     const NAME: &'static str = "Plant::Tank";
//!     const UUID: &'static str = "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11";
//!     const SCHEMA: &'static str = r#"{
//!         "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//!         "metrics": [{"name": "level", "type": "real64", "unit": "m"}]
//!     }"#;
//!
//!     fn write(&self, row: &mut RowWriter<'_>) {
//!         row.f64(self.level);
//!     }
//!
//!     fn read(row: &mut Reader<'_>) -> Result<Self, Malformed> {
//!         Ok(Self { level: row.array().map(f64::from_le_bytes)? })
//!     }
//! }
//!
//! let dac = "127.0.0.1:7071";
//! # let dac = "127.0.0.1:1"; // A DAC of this machine must not receive this.
//! let mut builder = NodeBuilder::new("plant", NodeConfig::default());
//! let mut tank = builder.pushed::<Tank>("tank", 64 * 1024)?;
//! let node = builder.start(TcpConnector::new(dac))?;
//!
//! // Neither blocks nor fails if the DAC is away: the node keeps the samples until it has connected.
//! assert!(tank.flush(&Tank { level: 2.5 }));
//! # drop(node);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod additions;
mod announcement;
mod atomic;
mod batch_builder;
mod bell;
mod byte_budget;
mod clock;
mod collector;
mod cpu_time;
mod deadband;
mod executed;
pub mod field;
mod file_spool;
mod flight_recorder;
pub mod forward;
mod governor;
mod idle;
mod instance;
mod intake;
pub mod link;
mod node;
mod node_config;
mod node_error;
mod orders;
mod outbox;
pub mod outgoing;
mod overflow;
mod overhead;
pub mod process;
mod realtime;
mod recorder;
mod replay;
mod ring;
mod schedule;
mod schema_text;
mod shared;
mod shipper;
#[cfg(feature = "simulation")]
pub mod simulation;
mod spool;
mod spooler;
mod state;
mod survive;
mod termination;

pub use clock::now_ns;
pub use deadband::{DeadbandError, Deadbands};
pub use field::{Jpeg, Png};
pub use file_spool::DirectoryError;
pub use flight_recorder::{FlightRecorder, MAX_RECORDER_BYTES, Side, Trigger, TriggerError};
pub use governor::Importance;
pub use node::{Node, NodeBuilder, Probe, PushedKind, host_name};
pub use node_config::NodeConfig;
pub use node_error::NodeError;
pub use oasis_channel::{
    Connector, DacUpdates, Ended, Failover, Failure, NewestList, Patience,
    tcp::TcpConnector,
    tls::TlsConnector,
    udp::{DEFAULT_DATAGRAM, UdpConnector},
};
#[cfg(feature = "derive")]
pub use oasis_probe_derive::{Probe, ProbeEnum, ProbeStruct};
pub use oasis_wire::{
    quantity::Hertz,
    reader::{Malformed, Reader},
    sample::Sample,
    schema::ProbeType,
    value::RowWriter,
};
pub use overflow::{MAX_RING_BYTES, Overflow, RingConfig};
pub use realtime::{Grant, RealTime, RealTimeState};
pub use ring::{PushedProbe, RowProbe};
pub use shared::SharedProbe;
pub use state::ProbeState;
