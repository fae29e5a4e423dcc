//! Deterministic simulation of nodes, channel, DAC and archive: one seed decides everything, and repeats it.
//!
//! The code under test is the real one. A [`world::World`] calls it step by step in one thread; [`system`] gives it a
//! simulated clock and disk, [`network`] carries what it says. The [`plan::Plan`] of a seed lists the faults, and
//! [`judge`] compares the archive with what the simulated probes have generated.
//!
//! ```
//! use oasis_sim::run::{Options, run};
//!
//! let outcome = run(1, Options::default());
//! assert_eq!(outcome.findings, Vec::<String>::new());
//! assert_eq!(outcome.hash, run(1, Options::default()).hash, "a seed repeats everything");
//! ```

pub mod dac;
pub mod judge;
pub mod liar;
pub mod network;
pub mod node;
pub mod oracle;
pub mod plan;
pub mod planted;
pub mod run;
pub mod sample;
pub mod shared;
pub mod system;
pub mod trace;
pub mod world;
