//! The state of the archive: what each instance has stored, and counters of the whole archive.

use crate::{
    alarm::{RuleState, Warning},
    clock_watch::ClockJump,
    gap::Gap,
    recovery::Finding,
};
use oasis_wire::{
    loss::Cause,
    quantity::{Nanos, Offset},
};
use serde::Serialize;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Most gaps listed for an instance; the catalogue has all of them.
const MAX_LISTED_GAPS: usize = 64;
/// Most findings listed. The log has all of them; the catalogue has those of segment files at a start.
const MAX_LISTED_FINDINGS: usize = 256;

/// An instance's two levels in this epoch: *received* is what the ledger counts, *stored* what survives a crash and a power cut.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Account {
    /// Every sample before this offset is stored, or in `gaps`.
    pub stored_offset: Offset,
    /// Samples stored in this epoch.
    pub stored: u64,
    /// Bytes of their batches.
    pub bytes: u64,
    /// Samples of this epoch that were received and not stored.
    pub missing: u64,
    /// Samples of this epoch that were stored with an implausible time.
    pub implausible: u64,
    /// The latest gaps, oldest first.
    pub gaps: VecDeque<Gap>,
    /// Gaps no longer listed.
    pub gaps_forgotten: u64,
}

impl Account {
    /// Counts stored samples, the last of them before offset `end`.
    pub fn store(&mut self, end: Offset, samples: u64, bytes: u64) {
        self.stored_offset = self.stored_offset.max(end);
        self.stored += samples;
        self.bytes += bytes;
    }

    /// Counts samples that will not be stored.
    pub fn miss(&mut self, gap: Gap) {
        self.stored_offset = self.stored_offset.max(gap.to);
        self.lose(gap);
    }

    /// As [`Account::miss`], for a gap that is in no file yet.
    pub fn lose(&mut self, gap: Gap) {
        self.missing += gap.to.0 - gap.from.0;
        if let Some(last) = self.gaps.back_mut().filter(|last| last.to == gap.from && last.cause == gap.cause)
        {
            last.to = gap.to;
            return;
        }
        if self.gaps.len() == MAX_LISTED_GAPS {
            self.gaps.pop_front();
            self.gaps_forgotten += 1;
        }
        self.gaps.push_back(gap);
    }
}

/// Whether the archive stores samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The archive stores samples.
    #[default]
    Storing,
    /// The archive waits for free space on the disk; live data continues.
    DiskFull,
    /// The archive waits for the disk to recover; live data continues.
    DiskError,
    /// Its path does not name its folder any more; live data continues.
    Gone,
    /// The archive was stopped, or has failed and starts again after a pause; live data continues.
    Stopped,
}

impl Condition {
    /// The cause of samples lost in this condition.
    pub fn cause(self) -> Cause {
        match self {
            Self::Storing => Cause::ArchiveLag,
            Self::DiskFull => Cause::DiskFull,
            Self::DiskError | Self::Gone => Cause::DiskError,
            Self::Stopped => Cause::ArchiveStopped,
        }
    }
}

/// Counters of the archive since it was opened, and totals of the files on the disk.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counters {
    /// Its condition.
    pub condition: Condition,
    /// Since when, on the DAC's clock.
    pub since: Nanos,
    /// The error of the system, unless it stores.
    pub detail: Option<String>,
    /// Samples stored.
    pub stored: u64,
    /// Bytes of segment files written.
    pub bytes_written: u64,
    /// Commits: each syncs everything that was received before.
    pub commits: u64,
    /// Duration of the last commit, nanoseconds: reading, writing and syncing.
    pub commit_ns: u64,
    /// Duration of the longest commit.
    pub longest_commit_ns: u64,
    /// Samples received and not stored.
    pub missing: u64,
    /// Samples stored with an implausible time: pins and ranges do not take it into account.
    pub implausible: u64,
    /// Times that the disk was full.
    pub disk_full: u64,
    /// Times that the disk failed.
    pub disk_errors: u64,
    /// Segment files that retention removed.
    pub removed_files: u64,
    /// Samples in them.
    pub removed_samples: u64,
    /// Commands that exceeded the bound of the catalogue, or were not listed in time.
    pub commands_forgotten: u64,
    /// Losses that exceeded the bound of the catalogue: their samples are missing without a cause.
    pub losses_forgotten: u64,
    /// Sealed segment files.
    pub segments: u64,
    /// Their bytes.
    pub segment_bytes: u64,
    /// Roll-up files.
    pub rollup_files: u64,
    /// Their bytes.
    pub rollup_bytes: u64,
    /// Segment files with roll-ups.
    pub rolled_segments: u64,
    /// Sealed segment files without roll-ups yet, including those for which there was no room.
    pub rollup_waiting: u64,
    /// Segment files for which roll-ups failed.
    pub rollup_failures: u64,
    /// Instances in segment files that have roll-ups with cells wider than a second, because of too many times for their bytes.
    pub rollup_widened: u64,
    /// Segment files whose small batches were put together.
    pub grouped_segments: u64,
    /// Bytes that this saved.
    pub grouped_saved_bytes: u64,
    /// Segment files whose small batches could not be put together; they stay as they are.
    pub grouping_failures: u64,
    /// Word indexes of segment files with texts.
    pub word_indexes: u64,
    /// Their bytes.
    pub word_index_bytes: u64,
    /// Segment files whose word index could not be made: a search reads all of them.
    pub word_index_failures: u64,
    /// The retention rules, and how much of their room is used.
    pub rules: Vec<RuleState>,
    /// Samples that retention will evict although a user may expect them to be kept.
    pub warnings: Vec<Warning>,
    /// Damage found in files, at opening and while reading.
    pub findings: Vec<Finding>,
    /// Findings no longer listed.
    pub findings_forgotten: u64,
    /// The jump of the wall clock, while nothing is evicted by age because of it.
    pub clock_jump: Option<ClockJump>,
}

impl Counters {
    /// Sets the condition after a round. Returns whether it changed.
    pub fn settle(&mut self, condition: Condition, detail: Option<String>, now: Nanos) -> bool {
        match condition {
            Condition::Storing | Condition::Stopped | Condition::Gone => {}
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

    /// Lists a finding. Returns false if it is already listed.
    fn list(&mut self, finding: &Finding) -> bool {
        if self.findings.contains(finding) {
            return false;
        }
        if self.findings.len() < MAX_LISTED_FINDINGS {
            self.findings.push(finding.clone());
        } else {
            self.findings_forgotten += 1;
        }
        true
    }
}

/// Shared counters. Do not log while the lock is held.
#[derive(Debug, Default)]
pub struct SharedCounters(Mutex<Counters>);

impl SharedCounters {
    /// Locks the counters.
    pub fn lock(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists and logs damage of a file, once.
    pub fn report(&self, finding: Finding) {
        let is_new = self.lock().list(&finding);
        if is_new {
            let Finding { file, from, to, kind, detail } = finding;
            tracing::warn!(file, from, to, kind, "{detail}");
        }
    }
}
