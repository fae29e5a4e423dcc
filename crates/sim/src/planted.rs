//! Bugs that the simulation plants to show that it finds them.

use clap::ValueEnum;

/// A planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Planted {
    /// The DAC acknowledges batches when they arrive, and handles them a little later.
    AckBeforeTake,
    /// Segment files are not synced.
    MissingSync,
    /// A DAC that starts takes one sample more for stored than there is.
    ResumeOffByOne,
    /// The ledger counts a batch, and a little later the topic log gets it.
    VerdictWithoutAppend,
}
