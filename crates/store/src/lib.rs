//! Samples on disk: batches as they arrived, in append-only segment files, and an SQLite catalogue beside them that says what is where
//! and can be made from them again. It is synchronous, and needs no DAC: what is stored can be read by any process.
//!
//! In the order of reading: [`record`] and [`walk`] are the file format, [`index`] where batches lie in a file; [`segment_file`]
//! writes one, [`recovery`] ends one that a crash has left, in the room that [`reserve`] has kept back if there is no other; [`store`] is what a writer shares with
//! readers, [`opening`] opens it to write, [`past`] is how samples are read one by one, [`newest`] how the newest ones are found, and [`points`] how a long time becomes
//! few points; [`rollups`] are what is left of old samples. Threads that work for long let others go first, by [`pace`]. `docs/guides/keep-samples-on-disk.md` has the promises, `docs/reference/archive-files.md` the format.
//! [`TestRuns`] and [`Annotations`] are what people add: names for times, and notes. [`check`] reads all of it, to see whether it is as it was written.

pub mod account;
pub mod annotations;
pub mod catalogue;
mod check;
pub mod clock;
pub mod config;
pub mod gap;
pub mod history;
pub mod holes;
pub mod import_folder;
pub mod index;
pub mod newest;
pub mod opening;
pub mod pace;
pub mod past;
pub mod points;
pub mod ranges;
pub mod record;
pub mod recovery;
pub mod reserve;
pub mod retention;
pub mod rollups;
pub mod segment_file;
pub mod series;
pub mod store;
pub mod test_runs;
mod text;
pub mod walk;

pub use account::{Account, Condition, Counters};
pub use annotations::{Annotation, AnnotationError, AnnotationFilter, Annotations, Note, Place, Target};
pub use catalogue::CatalogueError;
pub use check::{Checked, Damage, Lost, Told, check};
pub use config::{ArchiveConfig, RetentionRule, matches};
pub use gap::{Gap, GapCause};
pub use history::History;
pub use holes::{Holes, Missing};
pub use newest::{Listed, Newest};
pub use opening::{OpenError, WritableStore, open};
pub use past::{Past, Piece};
pub use recovery::Finding;
pub use rollups::Level;
pub use series::Series;
pub use store::{Reach, Reaches, ReadError};
pub use test_runs::{Description, TestRun, TestRunError, TestRunFilter, TestRuns};
