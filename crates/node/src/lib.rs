//! Parts that all SDKs share: node settings from a configuration file, and the types of log records and spans.
//!
//! Three nouns: [`NodeSettings`] is section `[node]` of a configuration file and makes a node's builder. A [`ReadyMadeProbe`] is a probe that
//! such a file chooses by name. [`log::Logger`] and [`span::Spans`] take log records and spans from any thread.
//!
//! ```
//! use oasis_ei_node::{LogLevel, NodeSettings, log::{LogRecord, Logger}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = NodeSettings { name: "pump".into(), ..NodeSettings::default() };
//! let mut builder = settings.builder(oasis_ei_node::PROBES)?;
//! let logger = Logger::new(&mut builder, "log", 65_536)?;
//! let record = LogRecord::new(LogLevel::Warn, "plant::pump", "pressure is high");
//! logger.log(oasis_probe::now_ns(), &record, [("bar", "8.1")].into_iter());
//! # Ok(()) }
//! ```
//!
//! This crate knows nothing of `/proc` and serial lines: probes of a host are in `oasis-probes`.

mod choice;
pub mod cut;
mod dac_addresses;
mod heartbeat;
pub mod log;
mod probe_choice;
mod rate;
mod ready_made;
mod recorder_choice;
mod settings;
pub mod span;
mod text_probe;

pub use choice::{Choice, ChoiceError, Parameters};
pub use dac_addresses::DacAddresses;
pub use generated::oasis::{program::*, system::*};
pub use heartbeat::{HEARTBEAT, Heartbeat};
pub use probe_choice::ProbeChoice;
pub use rate::Rate;
pub use ready_made::{Parameter, ReadyMadeProbe};
pub use recorder_choice::RecorderChoice;
pub use settings::{Channel, DEFAULT_DAC, NodeSettings, SettingsError};

/// The ready-made probes that need no host: those of a program that links no others.
pub const PROBES: &[ReadyMadeProbe] = &[HEARTBEAT];

/// The probe types, generated from `pdl/instrument/` at build time.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
