//! The file spool: keeps batches in files until they are safe at the DAC, so that they survive the node's process.
//!
//! A directory contains *runs*, one for each process that left batches. A run contains *segments*, and a segment
//! contains *records*, one for each batch. A process appends only to segments of its own run. Batches of earlier runs
//! are sent first, as the run that they belong to, so that the DAC's ledger continues where it stopped.
//! `docs/reference/file-spool.md` specifies the format.

mod directory;
mod journal;
mod record;
mod segment;

#[cfg(test)]
pub mod tests;

pub use directory::{Directory, DirectoryError};
pub use journal::Journal;
pub use segment::Head;
