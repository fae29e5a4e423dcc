//! What the archive says of itself: per instance how far it has stored, and how it is as a whole.

use crate::{gap::Gap, recovery::Finding};
use oasis_wire::{
    loss::Cause,
    quantity::{Nanos, Offset},
};
use serde::Serialize;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Gaps of an instance kept for people to read; all of them are in the catalogue.
const GAPS_KEPT: usize = 64;
/// Findings kept for people to read; those of segment files at a start are in the catalogue too, all of them in the log.
const FINDINGS_KEPT: usize = 256;

/// An instance's two levels in this epoch: *received* is what the ledger counts, *stored* what survives a crash and a power cut.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Account {
    /// Every sample before this offset is stored, or told in `gaps`.
    pub stored_offset: Offset,
    /// Samples stored in this epoch.
    pub stored: u64,
    /// Bytes of their batches.
    pub bytes: u64,
    /// Samples of this epoch that were received and not stored.
    pub missing: u64,
    /// The latest gaps, oldest first.
    pub gaps: VecDeque<Gap>,
    /// Gaps no longer listed.
    pub gaps_forgotten: u64,
}

impl Account {
    /// Samples were stored, the last of them before offset `end`.
    pub fn store(&mut self, end: Offset, samples: u64, bytes: u64) {
        self.stored_offset = self.stored_offset.max(end);
        self.stored += samples;
        self.bytes += bytes;
    }

    /// Samples will not be stored.
    pub fn miss(&mut self, gap: Gap) {
        self.stored_offset = self.stored_offset.max(gap.to);
        self.lose(gap);
    }

    /// The same, and no file says so yet.
    pub fn lose(&mut self, gap: Gap) {
        self.missing += gap.to.0 - gap.from.0;
        if let Some(last) = self.gaps.back_mut().filter(|last| last.to == gap.from && last.cause == gap.cause)
        {
            last.to = gap.to;
            return;
        }
        if self.gaps.len() == GAPS_KEPT {
            self.gaps.pop_front();
            self.gaps_forgotten += 1;
        }
        self.gaps.push_back(gap);
    }
}

/// How the archive is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It stores.
    #[default]
    Storing,
    /// It waits for room on the disk; live data goes on.
    DiskFull,
    /// It waits for the disk to work again; live data goes on.
    DiskError,
    /// It was stopped, or has failed and starts again after a pause; live data goes on.
    Stopped,
}

impl Condition {
    /// Why samples were lost to it.
    pub fn cause(self) -> Cause {
        match self {
            Self::Storing => Cause::ArchiveLag,
            Self::DiskFull => Cause::DiskFull,
            Self::DiskError => Cause::DiskError,
            Self::Stopped => Cause::ArchiveStopped,
        }
    }
}

/// Counters of the archive since it was opened, but for what is on the disk.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counters {
    /// How it is.
    pub condition: Condition,
    /// Since when, on the DAC's clock.
    pub since: Nanos,
    /// What the system said, unless it stores.
    pub detail: Option<String>,
    /// Samples stored.
    pub stored: u64,
    /// Bytes of segment files written.
    pub bytes_written: u64,
    /// Times that all that had come was synced at once.
    pub commits: u64,
    /// How long the last commit took, nanoseconds: reading, writing and syncing.
    pub commit_ns: u64,
    /// How long the longest one took.
    pub longest_commit_ns: u64,
    /// Samples received and not stored.
    pub missing: u64,
    /// Times that the disk took no more.
    pub disk_full: u64,
    /// Times that the disk failed.
    pub disk_errors: u64,
    /// Segment files that retention removed.
    pub removed_files: u64,
    /// Samples in them.
    pub removed_samples: u64,
    /// Commands that the catalogue had no more room for, or that were not listed in time.
    pub commands_forgotten: u64,
    /// Gaps of ledgers that the catalogue had no room for: their samples are missing without a cause.
    pub losses_forgotten: u64,
    /// Sealed segment files.
    pub segments: u64,
    /// Their bytes.
    pub segment_bytes: u64,
    /// Roll-up files.
    pub rollup_files: u64,
    /// Their bytes.
    pub rollup_bytes: u64,
    /// Segment files that roll-ups were made of.
    pub rolled_segments: u64,
    /// Sealed segment files that roll-ups have still to be made of, also those that there was no room for yet.
    pub rollup_waiting: u64,
    /// Segment files that no roll-ups could be made of.
    pub rollup_failures: u64,
    /// What was wrong with files: when the archive was opened, and when they were read.
    pub findings: Vec<Finding>,
    /// Findings no longer listed.
    pub findings_forgotten: u64,
}

impl Counters {
    /// How a round has ended; whether that is another condition than before.
    pub fn settle(&mut self, condition: Condition, detail: Option<String>, now: Nanos) -> bool {
        match condition {
            Condition::Storing | Condition::Stopped => {}
            Condition::DiskFull => self.disk_full += 1,
            Condition::DiskError => self.disk_errors += 1,
        }
        let has_changed = self.condition != condition;
        if has_changed {
            (self.condition, self.since) = (condition, now);
        }
        self.detail = detail;
        has_changed
    }

    /// Lists a finding; false if it is listed already.
    fn list(&mut self, finding: &Finding) -> bool {
        if self.findings.contains(finding) {
            return false;
        }
        if self.findings.len() < FINDINGS_KEPT {
            self.findings.push(finding.clone());
        } else {
            self.findings_forgotten += 1;
        }
        true
    }
}

/// Counters behind a lock that is held for counting only: nothing is logged under it.
#[derive(Debug, Default)]
pub struct Book(Mutex<Counters>);

impl Book {
    /// To count.
    pub fn open(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes something wrong with a file, once.
    pub fn find(&self, finding: Finding) {
        let is_new = self.open().list(&finding);
        if is_new {
            let Finding { file, from, to, kind, detail } = finding;
            tracing::warn!(file, from, to, kind, "{detail}");
        }
    }
}
