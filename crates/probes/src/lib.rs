//! Ready-made probes of a host and of devices connected to it.
//!
//! A probe is one file here and one file in `pdl/`, both with its name. Its constant `READY_MADE` describes it for the configuration; [`PROBES`] lists all.
//! `CONTRIBUTING.md` has the recipe for a new one.
//!
//! ```
//! use oasis_ei_node::NodeSettings;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = NodeSettings { name: "machine".into(), ..NodeSettings::default() };
//! let mut builder = settings.builder(oasis_probes::PROBES)?;
//! builder.periodic("memory", oasis_probe::Hertz::ONE, oasis_probes::Memory::default())?;
//! # Ok(()) }
//! ```
//!
//! Pure functions parse the files of the kernel. Their tests read `recorded/`: files of several kernels.

mod cpu;
mod disk;
mod memory;
mod network;
mod process;
mod processor;
mod scheduling;
pub mod sensors;
pub mod windsonic;

mod proc_file;
mod watched_process;

pub use cpu::Cpu;
pub use disk::Disk;
pub use generated::oasis::{system::*, weather::*};
pub use memory::Memory;
pub use network::{Network, interfaces};
pub use process::Process;
pub use processor::Processor;
pub use scheduling::Scheduling;
pub use watched_process::ProcessChoice;
pub use windsonic::WindSonic;

use oasis_ei_node::ReadyMadeProbe;

// The build script generates `PROBES`, the list of ready-made probes, from the names of the files in `pdl/`.
include!(concat!(env!("OUT_DIR"), "/ready_made.rs"));

/// The probe types, generated from `pdl/` at build time.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
