//! Bugs that the test plants, and must find.

/// A bug that the model plants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// The node frees what a DAC has received.
    ReceivedTakenForSafe,
    /// The numbers of connections are not reported.
    AttachIgnored,
    /// The node sends nothing again to a DAC that has received nothing.
    NotSentAgain,
    /// A relay drops gaps.
    GapDropped,
    /// A DAC calls samples stored that its archive does not have.
    StoredBeforeTheArchive,
}
