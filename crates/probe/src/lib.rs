//! The library for watched applications: probes, and the EI node that sends their samples to a DAC.
//!
//! A **probe** measures. Either the node calls it at a rate ([`Probe`]), or the application flushes it
//! ([`PushedProbe`]: wait-free, no allocation, no system call). A **node** ([`NodeBuilder`], [`Node`]) numbers the
//! samples, encodes them into native batches, keeps them until the DAC has them, and executes commands. The types of
//! samples are generated from PDL.
//!
//! In the order a sample passes: `ring` (pushed probes) or a schedule (periodic ones), then the collector thread.
//! It has an optional flight `recorder` and an encoder for each instance. Then the spool, and the shipper thread
//! with its channel. Once a second the collector measures the cost of all that (`overhead`), and the `governor`
//! lowers rates. Each buffer is bounded; dropped samples are counted and reported to the DAC.
//!
//! A node of another kind, such as a replay, shares two parts: the queue of samples that the DAC lacks ([`outgoing`]), and
//! the connection ([`link`]).

mod batch_builder;
mod clock;
mod collector;
mod cpu_time;
mod deadband;
mod file_spool;
mod flight_recorder;
mod governor;
mod instance;
mod intake;
pub mod link;
mod node;
mod node_config;
mod node_error;
mod outbox;
pub mod outgoing;
mod overflow;
mod overhead;
mod realtime;
mod recorder;
mod replay;
mod ring;
mod schedule;
mod shared;
mod shipper;
mod spool;
mod spooler;
mod state;

pub use clock::now_ns;
pub use deadband::{DeadbandError, Deadbands};
pub use file_spool::DirectoryError;
pub use flight_recorder::{FlightRecorder, MAX_RECORDER_BYTES, Side, Trigger, TriggerError};
pub use governor::Importance;
pub use node::{Node, NodeBuilder, Probe, PushedKind, host_name};
pub use node_config::NodeConfig;
pub use node_error::NodeError;
pub use oasis_channel::{
    Connector,
    tcp::TcpConnector,
    udp::{DEFAULT_DATAGRAM, UdpConnector},
};
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
