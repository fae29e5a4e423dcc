//! Samples on disk: batches as they arrived, in append-only segment files, and an SQLite catalogue beside them that says what is where
//! and can be made from them again. It is synchronous, and needs no DAC: what is stored can be read by any process.
//!
//! In the order of reading: [`record`] and [`walk`] are the file format, [`index`] where batches lie in a file; [`segment_file`]
//! writes one, [`recovery`] ends one that a crash has left, in the room that [`reserve`] has kept back if there is no other; [`store`] is what a writer shares with
//! readers, [`opening`] opens it to write, [`past`] is how samples are read one by one, [`newest`] how the newest ones are found, and [`points`] how a long time becomes
//! few points; [`rollups`] are what is left of old samples. Threads that work for long let others go first, by [`pace`]. `docs/guides/keep-samples-on-disk.md` has the promises, `docs/reference/archive-files.md` the format.
//! [`TestRuns`] and [`Annotations`] are what people add: names for times, and notes. [`check`] reads all of it, to see whether it is as it was written.

pub mod account;
pub mod annotation;
pub mod annotations;
pub mod catalogue;
pub mod cells;
mod check;
pub mod clock;
pub mod config;
pub mod gap;
pub mod history;
pub mod holes;
pub mod import_folder;
pub mod index;
pub mod newest;
pub mod open_error;
pub mod opening;
pub mod pace;
pub mod past;
pub mod points;
pub mod ranges;
pub mod reach;
pub mod record;
pub mod recovery;
pub mod reserve;
pub mod retention;
pub mod rolling;
pub mod rollups;
pub mod segment_file;
pub mod series;
pub mod store;
pub mod test_run;
pub mod test_runs;
mod text;
pub mod walk;

pub use account::{Account, Condition, Counters};
pub use annotation::{Annotation, AnnotationError, AnnotationFilter, Note, Place, Target};
pub use annotations::Annotations;
pub use catalogue::CatalogueError;
pub use cells::Level;
pub use check::{Checked, Damage, Lost, Told, check};
pub use config::{ArchiveConfig, RetentionRule, matches};
pub use gap::Gap;
pub use history::History;
pub use holes::{Holes, Missing};
pub use newest::{Listed, Newest};
pub use open_error::OpenError;
pub use opening::{WritableStore, open};
pub use past::{Past, Piece};
pub use reach::{Reach, Reaches};
pub use recovery::Finding;

pub use series::Series;
pub use store::ReadError;
pub use test_run::{Description, TestRun, TestRunError, TestRunFilter};
pub use test_runs::TestRuns;
