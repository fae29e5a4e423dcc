//! What is linked into the watched application: probes, and the EI node that carries their samples to a DAC.
//!
//! A **probe** measures: either the node calls it at a rate ([`Probe`]), or the application flushes it whenever it has something to
//! say ([`PushedProbe`]: wait-free, no allocation, no system call). A **node** ([`NodeBuilder`], [`Node`]) numbers the samples,
//! packs them into native batches, keeps them until the DAC has them, and obeys commands. The types of samples are generated from PDL.
//!
//! In the order a sample passes: [`ring`] (pushed probes) or a schedule (periodic ones), the collector thread with a flight [`recorder`] where one
//! is wanted and an encoder for each instance, the spool, the shipper thread with its channel. Once a second the collector looks at what all of that
//! costs ([`overhead`]), and the [`governor`] lowers rates. Each buffer has a bound, and what does not fit is counted and told to the DAC.
//!
//! A node of another kind, such as a replay, uses the same queue of what the DAC does not have yet ([`outgoing`]) and the same connection ([`link`]).

mod clock;
mod collector;
mod cpu_time;
mod deadband;
mod file_spool;
mod filling;
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
