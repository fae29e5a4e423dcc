//! The loss ledger of one instance: every sequence number is received, or missing for a reason.
//!
//! Pure bookkeeping: it receives batches and the node's reports, in the order of the channel.

mod ended_runs;
mod upstream;

pub use ended_runs::CameAfterAll;
use ended_runs::EndedRuns;
use oasis_channel::Drops;
use oasis_wire::{
    gap,
    loss::Cause,
    quantity::{Nanos, Offset},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
pub use upstream::UpstreamLedger;
use uuid::Uuid;

/// Gaps kept for people to read, of a few instances; older ones stay in the totals and in [`Ledger::gaps_forgotten`].
const GAPS_KEPT: usize = 256;
/// Gaps kept however many instances there are.
const GAPS_KEPT_OF_MANY: usize = 8;

/// The room that all ledgers share for their gaps: with many of them each keeps fewer.
#[derive(Debug, Clone)]
pub struct GapRoom {
    bytes: usize,
    /// Gaps that each ledger may keep now.
    kept: Arc<AtomicUsize>,
}

impl GapRoom {
    /// Creates room for about `bytes` bytes of gaps.
    pub fn new(bytes: usize) -> Self {
        Self { bytes, kept: Arc::new(AtomicUsize::new(GAPS_KEPT)) }
    }

    /// Divides it among `ledgers` ledgers. Those that have more keep them until their next gap.
    pub fn divide(&self, ledgers: usize) {
        let each = self.bytes / size_of::<Gap>() / ledgers.max(1);
        self.kept.store(each.clamp(GAPS_KEPT_OF_MANY, GAPS_KEPT), Ordering::Relaxed);
    }

    fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }
}

impl Default for GapRoom {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}
/// More samples a second than any probe takes: sequence numbers that grow faster are wrong. Without a limit, one false
/// batch far ahead would turn all true samples into duplicates.
const MAX_SAMPLES_PER_SECOND: u64 = 1_000_000_000;
/// A node may have counted this long, in seconds, before it sends again: as long as a full spool lasts, and clocks jump.
const GRACE_S: u64 = 3_600;
/// A node may have counted this long, in seconds, before this DAC receives its first batch: ten years.
const LONGEST_RUN_S: u64 = 10 * 365 * 86_400;

/// A range of missing sequence numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// First one missing.
    pub from_sequence: u64,
    /// Last one missing.
    pub to_sequence: u64,
    /// Number of samples.
    pub count: u64,
    /// Why.
    pub cause: Cause,
    /// When the DAC noticed.
    pub time: Nanos,
    /// The node's run that the sequence numbers belong to.
    pub run: Uuid,
}

/// The decision about a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// New samples: append them.
    New,
    /// All of it is in the log already.
    Duplicate,
    /// Partly in the log: no correct node sends that.
    Overlap,
    /// Further ahead than any node can have counted since the batch before.
    Jump,
}

/// Counts and gaps of one instance since the DAC's epoch began.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Ledger {
    /// Samples received and appended.
    pub received: u64,
    /// Sequence number of the first sample of the present run that was received, 0 before it.
    pub first_sequence: u64,
    /// Sequence number of the newest sample of the present run, 0 before the first.
    pub last_sequence: u64,
    /// Samples of the present run up to this sequence number were stored by an earlier run of the DAC: they are counted there; 0 if there are
    /// none.
    pub stored_before: u64,
    /// Missing samples of all causes.
    pub missing: u64,
    /// Missing samples without a known cause.
    pub unexplained: u64,
    /// The causes of `missing`, including gaps that are no longer listed.
    pub causes: BTreeMap<Cause, u64>,
    /// Samples received again after a reconnect and thrown away.
    pub duplicates: u64,
    /// The node's reports of the present run.
    pub node: NodeCounters,
    /// The latest gaps, oldest first.
    pub gaps: VecDeque<Gap>,
    /// Gaps no longer listed.
    pub gaps_forgotten: u64,
    /// Sequence numbers of ended runs, and of samples with an earlier type, that were received or recorded as missing.
    #[serde(skip)]
    settled_of_ended: u64,
    /// Samples received with earlier types: they are in other logs.
    #[serde(skip)]
    pub(crate) received_before: u64,
    /// Gaps of earlier types: their topics have listed them.
    #[serde(skip)]
    gaps_before: u64,
    /// The run that the instance was in with its earlier type, until the first sample.
    #[serde(skip)]
    replaced: Option<ReplacedRun>,
    #[serde(skip)]
    ended_runs: EndedRuns,
    #[serde(skip)]
    run: Option<Uuid>,
    /// When the present run's last batch arrived, or its last gap was recorded.
    #[serde(skip)]
    last_settled: Option<Nanos>,
    /// Whether the present run began before this DAC's epoch, and nothing of it has arrived yet.
    #[serde(skip)]
    joined_late: bool,
    /// The node has delivered samples of the present run up to this number to other DACs, or dropped them: known before anything of the run has arrived.
    #[serde(skip)]
    delivered: u64,
    /// Whether the node has reported its drops in the present run from before this DAC's epoch.
    #[serde(skip)]
    has_baseline: bool,
    /// Drops of the present run that gaps have been explained with.
    #[serde(skip)]
    attributed: Drops,
    /// Drops after the last batch, which the next one will report.
    #[serde(skip)]
    dropped_last: Drops,
    /// Progress of the archive.
    #[serde(skip)]
    stored: StoreProgress,
    /// Progress of the copy outside of this host.
    #[serde(skip)]
    copied: StoreProgress,
    #[serde(skip)]
    room: GapRoom,
    /// Gaps that no batch has followed yet.
    #[serde(skip)]
    before_next: Vec<gap::Gap>,
    /// The DAC time of the next batch is not less.
    #[serde(skip)]
    dac_time: Nanos,
    /// When the newest batch of a relayed instance arrived at its upstream.
    #[serde(skip)]
    arrived_upstream: Option<Nanos>,
}

/// Storage that keeps samples for longer than the topic log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurableStore {
    /// The archive of this DAC.
    Archive,
    /// A copy outside of this host.
    Copy,
}

/// Progress of the archive, or the copy, in the samples of an instance.
#[derive(Debug, Clone, Copy, Default)]
struct StoreProgress {
    /// All samples before this offset are kept, or declared lost.
    offset: Offset,
    of_run: RunProgress,
}

/// Progress of the archive, or the copy, in the samples of a run.
#[derive(Debug, Clone, Copy, Default)]
struct RunProgress {
    /// All samples up to this number are kept, or declared lost.
    sequence: u64,
    /// Samples before this number were declared lost. 0 if none were.
    loss_before: u64,
    /// The causes of gaps up to this number are listed.
    listed: u64,
}

/// The present run of a ledger that another one continues, as the type has changed.
#[derive(Debug, Clone, Copy)]
struct ReplacedRun {
    run: Uuid,
    first_sequence: u64,
    last_sequence: u64,
    /// Sequence numbers that were received or recorded as missing.
    settled: u64,
}

/// The node's own counters for the present run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCounters {
    /// Samples taken.
    pub taken: u64,
    /// Last sequence number sent.
    pub sent: u64,
    /// Dropped because the ring was full.
    pub ring_full: u64,
    /// Dropped because the spool was full.
    pub spool_full: u64,
    /// Kept back by the flight recorder.
    pub kept_back: u64,
    /// Dropped because their rows did not fit the schema.
    pub invalid_row: u64,
    /// Not taken because the node was stopped.
    pub not_taken: u64,
    /// Lost between a device and its gateway.
    #[serde(default)]
    pub network: u64,
}

impl Ledger {
    /// Lets its gaps share this room with those of others.
    pub fn share(&mut self, room: GapRoom) {
        self.room = room;
    }

    /// Begins the run in which the node registered the instance, or continues it if it had ended. Settles the account of another run before it.
    pub fn registered(&mut self, run: Uuid, now: Nanos) {
        if self.run == Some(run) {
            return;
        }
        if let Some(ended) = self.run {
            self.end_run(ended, now);
        }
        self.begin_run(run);
    }

    /// Records that the archive has stored, or declared lost, all samples before an offset. The last of them has this number
    /// in the node's run.
    pub fn note_stored(&mut self, offset: Offset, last: Option<(Uuid, u64)>, has_loss: bool) {
        self.note_kept(DurableStore::Archive, offset, last, has_loss);
    }

    /// Records the same of a keeper.
    pub fn note_kept(&mut self, by: DurableStore, offset: Offset, last: Option<(Uuid, u64)>, has_loss: bool) {
        let kept = self.kept_mut(by);
        kept.offset = kept.offset.max(offset);
        let Some((run, sequence)) = last else { return };
        if let Some(kept) = self.kept_of(by, run) {
            kept.sequence = kept.sequence.max(sequence);
            if has_loss {
                kept.loss_before = kept.sequence;
            }
        }
    }

    /// Records that the archive has listed the causes of all gaps of a run up to a sequence number.
    pub fn note_listed(&mut self, run: Option<Uuid>, sequence: u64) {
        self.note_listed_by(DurableStore::Archive, run, sequence);
    }

    /// Records the same of a keeper.
    pub fn note_listed_by(&mut self, by: DurableStore, run: Option<Uuid>, sequence: u64) {
        if let Some(kept) = run.and_then(|run| self.kept_of(by, run)) {
            kept.listed = kept.listed.max(sequence);
        }
    }

    fn kept_mut(&mut self, by: DurableStore) -> &mut StoreProgress {
        match by {
            DurableStore::Archive => &mut self.stored,
            DurableStore::Copy => &mut self.copied,
        }
    }

    fn kept_of(&mut self, by: DurableStore, run: Uuid) -> Option<&mut RunProgress> {
        if self.run == Some(run) {
            return Some(&mut self.kept_mut(by).of_run);
        }
        let ended = self.ended_runs.get_mut(run)?;
        Some(match by {
            DurableStore::Archive => &mut ended.stored,
            DurableStore::Copy => &mut ended.copied,
        })
    }

    /// Returns up to which sequence number of the present run samples are stored or declared lost, and whether some after
    /// `since` are lost. The log ends at `end`.
    pub fn stored(&self, end: Offset, since: u64) -> (u64, bool) {
        self.kept(self.stored, end, since)
    }

    /// Returns the same of the copy.
    pub fn copied(&self, end: Offset, since: u64) -> (u64, bool) {
        self.kept(self.copied, end, since)
    }

    fn kept(&self, StoreProgress { offset, of_run }: StoreProgress, end: Offset, since: u64) -> (u64, bool) {
        let RunProgress { sequence, loss_before, listed } = of_run;
        // Samples lost on the way after the last batch, or instead of it, have no offset, and are in no file.
        let lost = if offset >= end { listed.min(self.last_sequence) } else { 0 };
        (sequence.max(lost), loss_before > since)
    }

    /// Returns up to which number a keeper has the samples of a run, if it has not all. The log ends at `end`.
    pub(crate) fn not_kept(&self, by: DurableStore, run: Uuid, end: Offset) -> Option<u64> {
        let kept = match by {
            DurableStore::Archive => self.stored,
            DurableStore::Copy => self.copied,
        };
        let (sequence, last) = if self.run == Some(run) {
            (self.kept(kept, end, 0).0, self.last_sequence)
        } else {
            let ended = self.ended_runs.get(run)?;
            let of_run = if by == DurableStore::Archive { ended.stored } else { ended.copied };
            // A keeper that is at the end has what came before.
            let sequence = if kept.offset >= end { ended.last_sequence } else { of_run.sequence };
            (sequence, ended.last_sequence)
        };
        (sequence < last).then_some(sequence)
    }

    /// Records the node's counts of samples taken, the last number sent, and drops before the next batch. A report before the first batch of a run covers gaps that another DAC has
    /// seen.
    pub fn counters(&mut self, taken: u64, sent: u64, dropped: Drops) {
        if !self.has_baseline && self.first_sequence == 0 {
            self.has_baseline = true;
            self.attributed = dropped;
        }
        if taken < self.node.taken {
            // A process that continues the run of an earlier one counts drops from what that has left, or from 0.
            self.attributed = self.attributed.min(dropped);
        }
        // A process that sends the spool of an earlier one knows only what that one wrote to disk.
        let taken = taken.max(self.node.taken);
        self.node = NodeCounters {
            taken,
            sent,
            ring_full: dropped.ring_full,
            spool_full: dropped.spool_full,
            kept_back: dropped.kept_back,
            invalid_row: dropped.invalid_row,
            not_taken: dropped.not_taken,
            network: dropped.network,
        };
    }

    /// A batch of `count` samples from sequence number `first` on, the node having dropped `dropped_before` ahead of it.
    pub fn batch(&mut self, first: u64, count: u64, dropped_before: u64, now: Nanos) -> Verdict {
        let Some(run) = self.run else { return Verdict::Overlap };
        let Some(last) = count.checked_sub(1).and_then(|more| first.checked_add(more)) else {
            return Verdict::Overlap;
        };
        if last <= self.last_sequence {
            self.duplicates = self.duplicates.saturating_add(count);
            self.explained_before(dropped_before);
            return Verdict::Duplicate;
        }
        if first <= self.last_sequence {
            return Verdict::Overlap;
        }
        if last > self.highest_plausible(now) {
            return Verdict::Jump;
        }
        self.last_settled = Some(now);
        let known = mem::take(&mut self.dropped_last).total();
        self.account_for(first, dropped_before.saturating_sub(known), run, now);
        if self.first_sequence == 0 {
            self.first_sequence = first;
        }
        self.joined_late = false;
        self.last_sequence = last;
        self.received = self.received.saturating_add(count);
        Verdict::New
    }

    /// Takes the gaps since the batch before: readers of the next one learn their causes. `None` if there are none, as for most batches.
    pub fn take_gaps_before(&mut self) -> Option<Arc<[gap::Gap]>> {
        (!self.before_next.is_empty()).then(|| mem::take(&mut self.before_next).into())
    }

    /// Returns the DAC time of a batch that is appended now: not before that of the batch before it, nor in a time that is complete. Clocks are set back,
    /// and connections take turns.
    pub fn stamp(&mut self, now: Nanos) -> Nanos {
        self.dac_time = self.dac_time.max(now);
        self.dac_time
    }

    /// Declares that all batches up to this DAC time are in the log: later ones are stamped with a later time. Read the log after that.
    pub fn complete(&mut self, until: Nanos) {
        self.dac_time = self.dac_time.max(Nanos(until.0.saturating_add(1)));
    }

    /// A batch that an earlier run of the DAC has stored reports drops: the node's latest report explains none of the gaps to
    /// come.
    fn explained_before(&mut self, dropped_before: u64) {
        if dropped_before > 0 {
            let NodeCounters { ring_full, spool_full, kept_back, invalid_row, not_taken, network, .. } =
                self.node;
            let told = Drops { ring_full, spool_full, kept_back, invalid_row, not_taken, network };
            self.attributed = self.attributed.max(told);
        }
    }

    /// The node has sent samples up to this number before it connected. Samples that are not here went to an earlier run of this DAC.
    pub fn joined_at(&mut self, delivered: u64, now: Nanos) {
        if self.joined_late && self.first_sequence == 0 {
            self.joined_late = false;
            self.pass_over(delivered, Cause::BeforeEpoch, now);
        }
    }

    /// The node has delivered, or dropped, samples up to this number before this connection. Samples that are not here went to another DAC
    /// while the node was there. A DAC that has nothing of the run yet learns that from the first batch.
    pub fn connected(&mut self, delivered: u64, dropped: Drops, now: Nanos) {
        if self.joined_late {
            // An earlier connection may still bring the first batch.
            self.delivered = self.delivered.max(delivered);
        }
        if self.joined_late || delivered <= self.last_sequence {
            return;
        }
        if self.pass_over(delivered, Cause::OtherDac, now) {
            // The other DAC has the causes of what the node dropped meanwhile.
            self.attributed = self.attributed.max(dropped);
            self.has_baseline = true;
        }
    }

    /// Records that the node has dropped all samples after the last batch, up to this number: it has found out before there is another batch. The next batch
    /// reports them again. Records nothing if batches are missing, or the numbers do not fit.
    pub fn dropped_after(&mut self, sent: u64, taken: u64, dropped: Drops, now: Nanos) {
        let (known, all) = (self.dropped_last.total(), dropped.total());
        let is_next = all > known && sent.checked_add(known) == Some(self.last_sequence);
        let is_all =
            sent.checked_add(all) == Some(taken) && self.dropped_last.min(dropped) == self.dropped_last;
        let Some(run) = self.run.filter(|_| is_next && is_all && taken <= self.highest_plausible(now)) else {
            return;
        };
        let new = dropped.without(self.dropped_last);
        let causes = [
            (new.spool_full, Cause::SpoolFull),
            (new.kept_back, Cause::KeptBack),
            (new.invalid_row, Cause::InvalidRow),
            (new.not_taken, Cause::NotTaken),
            (new.network, Cause::Network),
            (new.ring_full, Cause::RingFull),
        ];
        for (count, cause) in causes.into_iter().filter(|(count, _)| *count > 0) {
            self.miss(self.last_sequence + 1, count, cause, run, now);
            self.last_sequence += count;
        }
        self.joined_late = false;
        self.last_settled = Some(now);
        self.attributed = self.attributed.with(new);
        self.dropped_last = dropped;
    }

    /// Continues the account of a ledger of the same instance with an earlier type. Its samples have their own sequence numbers, unless
    /// [`Ledger::continue_after`] says otherwise.
    pub fn replace(&mut self, former: Self) {
        self.settled_of_ended = former.accounted();
        self.replaced = former.run.map(|run| ReplacedRun {
            run,
            first_sequence: former.first_sequence,
            last_sequence: former.last_sequence,
            settled: former.last_sequence - former.stored_before,
        });
        self.received_before = former.received;
        self.gaps_before = former.gaps_forgotten + former.gaps.len() as u64;
        self.received = former.received;
        self.missing = former.missing;
        self.unexplained = former.unexplained;
        self.causes = former.causes;
        self.duplicates = former.duplicates;
        self.gaps = former.gaps;
        self.gaps_forgotten = former.gaps_forgotten;
        self.before_next = former.before_next;
    }

    /// Samples of the present run up to this number came with an earlier type. Nothing happens once there are samples.
    pub fn continue_after(&mut self, last_sequence: u64) {
        if self.run.is_none() || self.last_sequence > 0 {
            return;
        }
        (self.last_sequence, self.stored_before) = (last_sequence, last_sequence);
        self.joined_late = false;
        let is_of_run = |replaced: &ReplacedRun| {
            Some(replaced.run) == self.run && replaced.last_sequence <= last_sequence
        };
        if let Some(replaced) = self.replaced.take().filter(is_of_run) {
            // Numbers that were given and did not come are missing before the next sample.
            self.last_sequence = replaced.last_sequence;
            self.first_sequence = replaced.first_sequence;
            self.stored_before = replaced.last_sequence - replaced.settled;
            self.settled_of_ended -= replaced.settled;
        }
    }

    /// Samples up to this number were sent as datagrams and are lost. Returns false, and records nothing, if the number
    /// is implausible.
    pub fn lost_on_the_way(&mut self, to_sequence: u64, now: Nanos) -> bool {
        self.pass_over(to_sequence, Cause::Network, now)
    }

    /// Records that the replayed recording lacks these samples, with the recorded cause or because of the recording itself. Repeating it after a reconnect
    /// changes nothing. Returns false, and records nothing, if the numbers are implausible.
    pub fn not_in_recording(&mut self, numbers: RangeInclusive<u64>, cause: Cause, now: Nanos) -> bool {
        if *numbers.end() <= self.last_sequence {
            return true;
        }
        if *numbers.end() > self.highest_plausible(now) {
            return false;
        }
        self.pass_over(numbers.start().saturating_sub(1), self.cause_of_silence(), now);
        self.joined_late = false;
        self.pass_over(*numbers.end(), cause, now)
    }

    /// The highest sequence number that the node can have reached by now.
    pub fn highest_plausible(&self, now: Nanos) -> u64 {
        let seconds = match self.last_settled {
            Some(before) => (now.0.saturating_sub(before.0) / 1_000_000_000).saturating_add(GRACE_S),
            None => LONGEST_RUN_S,
        };
        self.last_sequence.saturating_add(seconds.saturating_mul(MAX_SAMPLES_PER_SECOND))
    }

    fn pass_over(&mut self, to_sequence: u64, cause: Cause, now: Nanos) -> bool {
        if to_sequence > self.highest_plausible(now) {
            return false;
        }
        if let (Some(run), Some(count @ 1..)) = (self.run, to_sequence.checked_sub(self.last_sequence)) {
            self.miss(self.last_sequence + 1, count, cause, run, now);
            self.last_sequence = to_sequence;
            self.last_settled = Some(now);
        }
        true
    }

    /// Returns how many sequence numbers are settled: received here, or recorded as missing.
    pub fn accounted(&self) -> u64 {
        self.settled_of_ended.saturating_add(self.last_sequence - self.stored_before)
    }

    /// Returns whether a sample was ever received here, or is known to be missing.
    pub(crate) fn has_samples(&self) -> bool {
        self.last_sequence > 0 || self.accounted() > 0
    }

    /// Returns the number of gaps that came with earlier types of the instance.
    pub fn gaps_before(&self) -> u64 {
        self.gaps_before
    }

    /// The run of the node that sequence numbers count in.
    pub fn run(&self) -> Option<Uuid> {
        self.run
    }

    /// Returns the cause of missing samples that the node does not report.
    fn cause_of_silence(&self) -> Cause {
        if self.joined_late { Cause::BeforeEpoch } else { Cause::Unexplained }
    }

    /// Splits what is missing before `first` into what the node explains and what it does not.
    fn account_for(&mut self, first: u64, dropped_before: u64, run: Uuid, now: Nanos) {
        let gap = first - self.last_sequence - 1;
        if dropped_before > gap {
            // The node has begun again, and explains samples that an earlier process has delivered: none of the gaps to come.
            self.account_for(first, gap, run, now);
            return self.explained_before(dropped_before);
        }
        let explained = gap.min(dropped_before);
        let mut ring = explained;
        let mut explain = |told: u64, attributed: &mut u64| {
            let here = ring.min(told.saturating_sub(*attributed));
            *attributed += here;
            ring -= here;
            here
        };
        let spool = explain(self.node.spool_full, &mut self.attributed.spool_full);
        let kept_back = explain(self.node.kept_back, &mut self.attributed.kept_back);
        let invalid = explain(self.node.invalid_row, &mut self.attributed.invalid_row);
        let not_taken = explain(self.node.not_taken, &mut self.attributed.not_taken);
        let network = explain(self.node.network, &mut self.attributed.network);
        self.attributed.ring_full = self.attributed.ring_full.saturating_add(ring);
        let rest = self.cause_of_silence();
        let mut from = self.last_sequence + 1;
        let unknown = gap - explained;
        let elsewhere = match rest {
            Cause::Unexplained => unknown.min(self.delivered.saturating_sub(self.last_sequence)),
            _ => 0,
        };
        let causes = [
            (elsewhere, Cause::OtherDac),
            (unknown - elsewhere, rest),
            (spool, Cause::SpoolFull),
            (kept_back, Cause::KeptBack),
            (invalid, Cause::InvalidRow),
            (not_taken, Cause::NotTaken),
            (network, Cause::Network),
            (ring, Cause::RingFull),
        ];
        for (count, cause) in causes {
            if count > 0 {
                self.miss(from, count, cause, run, now);
                from += count;
            }
        }
    }

    fn miss(&mut self, from_sequence: u64, count: u64, cause: Cause, run: Uuid, time: Nanos) {
        self.missing = self.missing.saturating_add(count);
        let of_cause = self.causes.entry(cause).or_default();
        *of_cause = of_cause.saturating_add(count);
        if cause == Cause::Unexplained {
            self.unexplained = self.unexplained.saturating_add(count);
        }
        let kept = self.room.kept();
        if self.gaps.len() >= kept {
            let forgotten = self.gaps.len() + 1 - kept;
            self.gaps.drain(..forgotten);
            self.gaps.shrink_to(kept);
            self.gaps_forgotten += forgotten as u64;
        }
        let to_sequence = from_sequence.saturating_add(count - 1);
        gap::Gap { from_sequence, to_sequence, count, cause, run }.add_to(&mut self.before_next);
        self.gaps.push_back(Gap { from_sequence, to_sequence, count, cause, time, run });
    }
}

#[cfg(test)]
mod tests;
