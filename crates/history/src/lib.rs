//! One reader over the archive and the topic log of an instance.
//!
//! Archive and log contain the same batches at the same offsets. A [`Reader`] starts at a [`Start`]: a position, a time, or the newest N samples. It yields
//! [`HistoryPart`]s, first from the archive and then from the log, and each sample once: batches, gaps with their causes, changes of the epoch and of the probe type.
//! [`Samples`] reads an archive alone, sample by sample, and names the sequence numbers that are missing between two samples.
//!
//! The crate knows the topic log only as the trait [`Log`], so that tools that work offline need no DAC. All calls are synchronous and may read files: do not
//! call them on a thread that must not block.
//!
//! ```
//! use oasis_history::{Reader, Start, NextStep};
//! use oasis_store::{ArchiveConfig, open};
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().display().to_string();
//! let archive = open(ArchiveConfig { directory, ..ArchiveConfig::default() })?;
//!
//! // Without a topic log, the end of the archive is the end.
//! let mut reader = Reader::new("plant", "cpu", Start::Time(0)).with_archive(archive.history());
//! let read = reader.read(64 * 1024)?;
//! assert!(read.pieces.is_empty() && matches!(read.then, NextStep::ArchiveEnd));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod gaps_before;
mod log;
mod newest;
mod piece;
mod reader;
mod samples;

pub use log::{Log, LogBatch, LogRead};
pub use piece::{Batch, HistoryPart, NextStep, Read, end_before};
pub use reader::{Reader, Start};
pub use samples::{SampleOrMissing, Samples};
