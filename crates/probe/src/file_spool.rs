//! The file spool: batches that survive the node's process, until the DAC has them.
//!
//! A directory has *runs*, one for each process that left something; a run has *segments*, a segment has *records*, one for each batch.
//! A process only ever appends to segments of its own run. What earlier ones left is sent ahead of everything else, as the run that
//! it was, so that the DAC's ledger goes on where it stopped. `docs/reference/file-spool.md` has the format.

mod directory;
mod journal;
mod record;
mod segment;

#[cfg(test)]
pub mod tests;

pub use directory::{Directory, DirectoryError};
pub use journal::Journal;
