//! Samples on disk, usable without a DAC: an [archive folder](open) contains append-only segment files with native batches as they
//! arrived, roll-ups of old samples, and an SQLite catalogue that lists where everything is and can be rebuilt from the files. All calls are synchronous.
//!
//! [`WritableStore`] is an archive opened to write, [`History`] the readers' side, and a [`Series`] the samples of one instance in one run and epoch.
//!
//! ```
//! use oasis_store::{ArchiveConfig, History, open};
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().display().to_string();
//! let writable = open(ArchiveConfig { directory, ..ArchiveConfig::default() })?;
//! assert!(writable.history().instances()?.is_empty());
//!
//! // Any process can read while another one writes.
//! let history = History::open(folder.path())?;
//! assert!(history.past_from("plant", "cpu", 0, None)?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In the order of reading: [`record`] and [`walk`] are the file format, [`index`] lists the batches of a file, [`segment_file`] writes one, and
//! [`recovery`] completes one after a crash. [`catalogue`] speaks SQL. [`rollups`] is the set of files of cells (`oasis-rollup`). [`store`] is what a writer shares with readers; [`opening`] opens it to write, [`past`] reads sample by sample, [`loss_tracker`] explains missing
//! samples, and [`rolling`] is the thread that makes roll-ups and [`words`], the indexes of texts. `docs/reference/archive-files.md` is the specification of the files.

pub mod account;
pub mod alarm;
pub mod annotation;
pub mod annotations;
pub mod catalogue;
mod check;
pub mod clock;
pub mod clock_watch;
pub mod config;
pub mod fair_share;
pub mod folder_identity;
pub mod forget;
pub mod gap;
pub mod group;
pub mod grouping;
pub mod history;
pub mod import_folder;
pub mod index;
pub mod loss_tracker;
pub mod newest;
pub mod open_error;
pub mod opening;
pub mod pace;
pub mod past;
pub mod plausible;
pub mod ranges;
pub mod reach;
pub mod record;
pub mod recovery;
pub mod reserve;
pub mod retention;
pub mod rolling;
pub mod rollups;
pub mod segment_copies;
pub mod segment_file;
mod segment_numbers;
pub mod series;
pub mod snapshot;
pub mod store;
pub mod test_run;
pub mod test_runs;
mod text;
pub mod walk;
pub mod words;

pub use account::{Account, Condition, Counters};
pub use alarm::{RuleState, Warning};
pub use annotation::{Annotation, AnnotationError, AnnotationFilter, AnnotationPosition, Note, Target};
pub use annotations::Annotations;
pub use catalogue::{CatalogueError, Holdings};
pub use check::{CheckEvent, CheckTotals, Damage, Lost, check};
pub use clock::Clock;
pub use clock_watch::ClockJump;
pub use config::{ArchiveConfig, RetentionRule};
pub use folder_identity::FolderGone;
pub use forget::{Forgotten, Removed};
pub use gap::Gap;
pub use group::StoredBatch;
pub use history::History;
pub use loss_tracker::{LossTracker, Missing};
pub use newest::{ListedBatch, Newest};
pub use open_error::OpenError;
pub use opening::{WritableStore, open, open_again, open_with};
pub use past::{Past, PastItem};
pub use plausible::{TimeLimits, TimeWindow};
pub use reach::{Reach, Reaches};
pub use recovery::Finding;

pub use reserve::free_bytes;
pub use segment_numbers::SegmentNumbers;
pub use series::Series;
pub use store::ReadError;
pub use test_run::{Description, TestRun, TestRunError, TestRunFilter};
pub use test_runs::TestRuns;
