//! Bounds of what is kept.

/// Most of everything. What exceeds a bound is removed, oldest first, or refused, and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most alarms, a rule for an instance each. Alarms that were never used make room.
    pub alarms: usize,
    /// Most entries of the journal.
    pub journal_entries: u64,
    /// Most bytes of the journal's entries.
    pub journal_bytes: u64,
    /// Most bytes of one checkpoint.
    pub checkpoint_bytes: usize,
    /// Most bytes of all checkpoints.
    pub checkpoints_bytes: u64,
    /// Most bytes of a comment or a cause.
    pub comment_bytes: usize,
    /// Most messages that wait for one destination.
    pub waiting_messages: u64,
    /// Most bytes of the messages that wait for one destination.
    pub waiting_bytes: u64,
    /// Longest timed shelve, in seconds.
    pub shelve_seconds: u64,
    /// Changes that [`Alarms::changes`](crate::Alarms::changes) returns at once.
    pub changes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            alarms: 100_000,
            journal_entries: 1_000_000,
            journal_bytes: 256 << 20,
            checkpoint_bytes: 4 << 20,
            checkpoints_bytes: 1 << 30,
            comment_bytes: 1_024,
            waiting_messages: 10_000,
            waiting_bytes: 16 << 20,
            shelve_seconds: 7 * 24 * 3_600,
            changes: 1_000,
        }
    }
}

impl Limits {
    /// Bounds of alarms [in memory](crate::Alarms::in_memory): some 100 MiB.
    pub fn in_memory() -> Self {
        Self {
            alarms: 20_000,
            journal_entries: 100_000,
            journal_bytes: 24 << 20,
            checkpoints_bytes: 64 << 20,
            waiting_messages: 1_000,
            waiting_bytes: 2 << 20,
            ..Self::default()
        }
    }
}
