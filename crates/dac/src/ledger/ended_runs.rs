//! The runs of a node that ended, as far as a ledger remembers them.
//!
//! Samples of an ended run may still come: a new process sends the file spool of an earlier one, and another peer may have had the
//! node's name for a while. Such a run continues with the account that it had.

use super::{GAPS_KEPT, Gap, GapRoom, Ledger, NodeCounters, RunProgress};
use oasis_channel::Drops;
use oasis_wire::{loss::Cause, quantity::Nanos, stored::StoredRun};
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Ended runs kept of a few instances.
const RUNS_KEPT: usize = 16;
/// Ended runs kept however many instances there are.
const RUNS_KEPT_OF_MANY: usize = 2;

/// The ended runs of an instance, oldest first, and runs that the archive may have listed losses of.
#[derive(Debug, Clone, Default)]
pub(super) struct EndedRuns {
    runs: Vec<EndedRun>,
    begun: Vec<BegunRun>,
}

/// A run that began in this epoch, or that continued after its end. Before, the archive may have listed losses of samples that come now: with the end of the
/// run, or because an earlier run of the DAC could not store them.
#[derive(Debug, Clone, Copy)]
struct BegunRun {
    run: Uuid,
    /// The archive lists no such loss up to this number.
    retracted: u64,
}

/// Samples of a run that came, though the archive may have listed them as lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CameAfterAll {
    /// The run.
    pub run: Uuid,
    /// Their sequence numbers, in order.
    pub numbers: Vec<RangeInclusive<u64>>,
    /// The last sequence number that is settled.
    pub last_sequence: u64,
}

/// The account of an ended run.
#[derive(Debug, Clone, Default)]
pub(super) struct EndedRun {
    pub run: Uuid,
    pub first_sequence: u64,
    pub last_sequence: u64,
    pub stored_before: u64,
    pub last_settled: Option<Nanos>,
    pub joined_late: bool,
    pub has_baseline: bool,
    pub node: NodeCounters,
    pub attributed: Drops,
    pub stored: RunProgress,
    pub copied: RunProgress,
    /// Samples that were declared lost when the run ended.
    pub lost: u64,
}

impl EndedRun {
    /// Returns how many of its sequence numbers are settled.
    pub fn settled(&self) -> u64 {
        (self.last_sequence - self.stored_before).saturating_add(self.lost)
    }

    /// Whether the loss at its end is this gap.
    fn has_lost(&self, gap: &Gap) -> bool {
        gap.run == self.run
            && gap.cause == Cause::NodeRestart
            && gap.from_sequence == self.last_sequence.saturating_add(1)
    }
}

impl EndedRuns {
    /// Adds a run that has ended. Forgets the oldest beyond what the room allows.
    pub fn add(&mut self, ended: EndedRun, room: &GapRoom) {
        self.runs.push(ended);
        let most = (RUNS_KEPT * room.kept() / GAPS_KEPT).max(RUNS_KEPT_OF_MANY);
        self.runs.drain(..self.runs.len().saturating_sub(most));
    }

    /// Removes and returns the account of an ended run that continues.
    pub fn take(&mut self, run: Uuid) -> Option<EndedRun> {
        let at = self.runs.iter().position(|ended| ended.run == run)?;
        Some(self.runs.remove(at))
    }

    /// Notes that a run begins, or continues, after a sequence number.
    pub fn note_begun(&mut self, run: Uuid, retracted: u64) {
        if !self.begun.iter().any(|begun| begun.run == run) {
            self.begun.push(BegunRun { run, retracted });
            self.begun.drain(..self.begun.len().saturating_sub(RUNS_KEPT));
        }
    }

    /// Finds a run.
    pub fn get(&self, run: Uuid) -> Option<&EndedRun> {
        self.runs.iter().find(|ended| ended.run == run)
    }

    /// Finds a run, to change it.
    pub fn get_mut(&mut self, run: Uuid) -> Option<&mut EndedRun> {
        self.runs.iter_mut().find(|ended| ended.run == run)
    }
}

impl Ledger {
    /// Restores the runs that the archive has samples of, or that an evicted ledger had, oldest first. Call it before the first run
    /// registers.
    pub fn restore_runs(&mut self, runs: &[StoredRun]) {
        for &StoredRun { run, last_sequence, taken } in runs {
            let ended = EndedRun {
                run,
                last_sequence,
                stored_before: last_sequence,
                joined_late: true,
                node: NodeCounters { taken, ..NodeCounters::default() },
                // As far as they are in topics that were replaced, their keepers are asked there.
                stored: RunProgress { sequence: last_sequence, ..RunProgress::default() },
                copied: RunProgress { sequence: last_sequence, ..RunProgress::default() },
                ..EndedRun::default()
            };
            self.ended_runs.add(ended, &self.room);
        }
    }

    /// Returns the known runs with samples, oldest first.
    pub fn known_runs(&self) -> Vec<StoredRun> {
        let known =
            |run, last_sequence, node: &NodeCounters| StoredRun { run, last_sequence, taken: node.taken };
        let ended =
            self.ended_runs.runs.iter().map(|ended| known(ended.run, ended.last_sequence, &ended.node));
        let all = ended.chain(self.run.map(|run| known(run, self.last_sequence, &self.node)));
        all.filter(|known| known.last_sequence > 0).collect()
    }

    /// Returns the runs as they were known before this ledger received anything, oldest first.
    pub(crate) fn runs_before(&self) -> Vec<StoredRun> {
        let before = |run: Uuid| match self.run == Some(run) {
            true => self.stored_before,
            false => self.ended_runs.get(run).map_or(0, |ended| ended.stored_before),
        };
        let mut runs = self.known_runs();
        for known in &mut runs {
            known.last_sequence = before(known.run);
        }
        runs.retain(|known| known.last_sequence > 0);
        runs
    }

    /// Returns what came of runs that the archive may have listed losses of.
    pub fn came_after_all(&self) -> Vec<CameAfterAll> {
        let came = |&BegunRun { run, retracted }: &BegunRun| {
            let ended = self.ended_runs.runs.iter().find(|ended| ended.run == run);
            let last_sequence = ended.map_or(self.last_sequence, |ended| ended.last_sequence);
            let numbers = self.received_between(run, retracted, last_sequence);
            (last_sequence > retracted).then_some(CameAfterAll { run, numbers, last_sequence })
        };
        self.ended_runs.begun.iter().filter_map(came).collect()
    }

    /// Returns the numbers of a run after one number, up to another, that are in no listed gap.
    fn received_between(&self, run: Uuid, after: u64, last: u64) -> Vec<RangeInclusive<u64>> {
        let mut next = after.saturating_add(1);
        let mut received = Vec::new();
        for gap in self.gaps.iter().filter(|gap| gap.run == run && gap.to_sequence > after) {
            received.push(next..=gap.from_sequence.saturating_sub(1).min(last));
            next = next.max(gap.to_sequence.saturating_add(1));
        }
        received.push(next..=last);
        received.retain(|numbers| !numbers.is_empty());
        received
    }

    /// Records that the archive lists none of these samples as lost. Later losses of the run may be left.
    pub fn note_retracted(&mut self, came: &CameAfterAll, are_later_left: bool) {
        let begun = &mut self.ended_runs.begun;
        match are_later_left {
            false => begun.retain(|begun| begun.run != came.run),
            true => {
                let of_run = begun.iter_mut().filter(|begun| begun.run == came.run);
                of_run.for_each(|begun| begun.retracted = begun.retracted.max(came.last_sequence));
            }
        }
    }

    /// Settles the account of the present run, which another one replaces.
    pub(super) fn end_run(&mut self, run: Uuid, now: Nanos) {
        let lost = self.node.taken.saturating_sub(self.last_sequence);
        let ended = EndedRun {
            run,
            first_sequence: self.first_sequence,
            last_sequence: self.last_sequence,
            stored_before: self.stored_before,
            last_settled: self.last_settled,
            joined_late: self.joined_late,
            has_baseline: self.has_baseline,
            node: self.node,
            attributed: self.attributed,
            stored: self.stored.of_run,
            copied: self.copied.of_run,
            lost,
        };
        self.settled_of_ended = self.settled_of_ended.saturating_add(ended.settled());
        if lost > 0 {
            self.miss(self.last_sequence.saturating_add(1), lost, Cause::NodeRestart, run, now);
        }
        self.ended_runs.add(ended, &self.room);
    }

    /// Continues with the account of a run: that of an ended one, or a new one. What was lost with the end of a run may come now.
    pub(super) fn begin_run(&mut self, run: Uuid) {
        // A node that this DAC never met may have been running for days, its samples taken by an earlier DAC.
        let joined_late = self.run.is_none();
        let new = || EndedRun { joined_late, ..EndedRun::default() };
        let begun = self.ended_runs.take(run).unwrap_or_else(new);
        self.ended_runs.note_begun(run, begun.last_sequence);
        self.retract(&begun);
        self.settled_of_ended = self.settled_of_ended.saturating_sub(begun.settled());
        self.run = Some(run);
        self.first_sequence = begun.first_sequence;
        self.last_sequence = begun.last_sequence;
        self.stored_before = begun.stored_before;
        self.last_settled = begun.last_settled;
        self.joined_late = begun.joined_late;
        self.delivered = 0;
        self.dropped_last = Drops::default();
        self.has_baseline = begun.has_baseline;
        self.node = begun.node;
        self.attributed = begun.attributed;
        self.stored.of_run = begun.stored;
        self.copied.of_run = begun.copied;
    }

    /// Takes back the loss at the end of a run.
    fn retract(&mut self, begun: &EndedRun) {
        if begun.lost == 0 {
            return;
        }
        self.missing = self.missing.saturating_sub(begun.lost);
        if let Some(restarts) = self.causes.get_mut(&Cause::NodeRestart) {
            *restarts = restarts.saturating_sub(begun.lost);
        }
        self.causes.retain(|_, count| *count > 0);
        let lost_from = begun.last_sequence.saturating_add(1);
        self.before_next.retain(|gap| {
            (gap.run, gap.cause, gap.from_sequence) != (begun.run, Cause::NodeRestart, lost_from)
        });
        // The removed gap counts as forgotten, so that the archive's position in the list stays right.
        let before = self.gaps.len();
        self.gaps.retain(|gap| !begun.has_lost(gap));
        self.gaps_forgotten += (before - self.gaps.len()) as u64;
    }
}
