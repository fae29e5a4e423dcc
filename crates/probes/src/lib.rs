//! Ready-made probes: what a host, and devices at it, say about themselves.
//!
//! Each probe is a file here beside its `.pdl`; adding one touches both, [`PROBES`], and [its page](../../../docs/reference/probes.md).
//! [`ready_made`] finds one by name and adds it to a node as a [`Choice`] says; applications can also use the probes themselves.
//! [`NodeSettings`] makes a node of a configuration file: `NodeSettings::load(None)?.builder()?`, and the program adds probes of its own.
//!
//! [`log`] and [`span`] are for what a program says about itself: bridges from logging libraries fill them, from any thread.
//!
//! Texts of the kernel are read by pure functions in each probe's file. They are tested with `recorded/`: texts as several kernels write them.

mod choice;
mod cpu;
pub mod cut;
mod disk;
mod heartbeat;
pub mod log;
mod memory;
mod network;
mod proc_file;
mod process;
mod processor;
mod ready_made;
mod recorder_choice;
mod scheduling;
pub mod sensors;
mod serial_port;
mod settings;
pub mod span;
mod text_probe;
mod watched_process;
pub mod windsonic;

pub use choice::{Choice, ChoiceError, Parameters};
pub use cpu::Cpu;
pub use disk::Disk;
pub use generated::oasis::{program::*, system::*, weather::*};
pub use heartbeat::Heartbeat;
pub use memory::Memory;
pub use network::{Network, interfaces};
pub use process::Process;
pub use processor::Processor;
pub use ready_made::{PROBES, ReadyMade, ready_made};
pub use recorder_choice::RecorderChoice;
pub use scheduling::Scheduling;
pub use settings::{Channel, DEFAULT_DAC, NodeSettings, ProbeChoice, SettingsError};
pub use watched_process::Which;
pub use windsonic::WindSonic;

/// The probes' types, generated from `pdl/` at build time.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
