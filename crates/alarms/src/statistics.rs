//! Figures by which ISA-18.2 judges a system of alarms.

use crate::AlarmKey;
use oasis_rules::program::Severity;

/// Figures of all alarms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Alarms that exist.
    pub alarms: u64,
    /// Alarms that stand (active or latched) and that nobody silences, by severity.
    pub standing: Vec<(Severity, u64)>,
    /// Standing alarms that nobody has acknowledged.
    pub unacknowledged: u64,
    /// Alarms that are shelved.
    pub shelved: u64,
    /// Alarms that are suppressed.
    pub suppressed: u64,
    /// Alarms that are out of service.
    pub out_of_service: u64,
    /// Alarms whose condition is unknown.
    pub unknown: u64,
    /// How often alarms were raised in the last ten minutes.
    pub raised_ten_minutes: u64,
    /// In the last hour.
    pub raised_hour: u64,
    /// In the last day.
    pub raised_day: u64,
    /// The alarms that were raised most often in the last hour, most often first, with how often.
    pub most_frequent: Vec<(AlarmKey, u32)>,
    /// The alarms that have stood longest, longest first, with when they were raised (DAC's clock).
    pub longest_standing: Vec<(AlarmKey, u64)>,
    /// Entries of the journal.
    pub journal_entries: u64,
    /// Their bytes.
    pub journal_bytes: u64,
    /// Entries that were removed to make room.
    pub journal_removed: u64,
    /// Bytes of all checkpoints.
    pub checkpoints_bytes: u64,
    /// Events for which there was no room among the alarms, since the start.
    pub refused: u64,
}
