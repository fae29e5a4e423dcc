//! The past in the order in which the DAC received it, evaluated by rules.
//!
//! A [`Replay`] reads every instance that the inputs of a [`Program`](oasis_rules::Program) match, from an archive and from topic logs: the [`Past`]. It gives
//! the batches to an [`Engine`](oasis_rules::Engine) in the order of DAC time, topic and sequence number, and yields each [`Occurrence`]: an event with the
//! instance, the node's run and the DAC time. The same past yields the same occurrences. Nothing acts on them.
//!
//! ```
//! use oasis_rules_history::{Past, Replay, Span};
//! use oasis_store::{ArchiveConfig, open};
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().display().to_string();
//! let archive = open(ArchiveConfig { directory, ..ArchiveConfig::default() })?;
//!
//! let past = Past::of_archive(archive.history());
//! let types = past.types()?;
//! let report = oasis_rules::compile("pumps.rules".as_ref(), "input pump = \"*/pump\" : Pump;", &types);
//! assert!(!report.is_ok(), "the archive has no such type");
//!
//! let mut replay = Replay::open(&past, report.program, Span::default())?;
//! let mut found = Vec::new();
//! while replay.step(&mut found)? {
//!     found.drain(..).for_each(|occurrence| println!("{:?}", occurrence.event));
//! }
//! assert_eq!(replay.figures().samples, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clocks;
mod epoch;
mod frontier;
mod joins;
mod occurrence;
mod past;
mod replay;
mod stream;

pub use clocks::{CLOCK_TYPE, clock_input, clock_name, newest_offset};
pub use epoch::{restarted_at, started_at};
pub use frontier::newest_dac_time_of;
pub use occurrence::{LastSample, Occurrence};
pub use past::{Admits, Clocks, KnownLog, Match, Past, Span};
pub use replay::{Figures, OpenError, RESULTS_TYPE, Replay};
