//! The samples of one instance in a session: what has arrived, and what is missing and why.

use crate::message::InstanceCounters;
use oasis_probe::forward::{Missing, NewBatch};
use oasis_wire::{
    batch::{Batch, Header},
    schema::ProbeType,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// More samples a second than any device takes: numbers that grow faster are wrong. One false number would turn all true samples
/// into duplicates.
const MAX_SAMPLES_PER_SECOND: u64 = 1_000_000;
/// Longest time that a device may have counted before it is heard.
const MAX_UNHEARD_TIME: Duration = Duration::from_secs(86_400);
/// Longest time that a device whose session continues after a restart of the gateway may have counted: ten years.
const MAX_CONTINUED_TIME: Duration = Duration::from_secs(10 * 365 * 86_400);
/// The highest sequence number of any device.
pub const MAX_SEQUENCE: u64 = MAX_CONTINUED_TIME.as_secs() * MAX_SAMPLES_PER_SECOND;

/// An instance of an accepted device.
#[derive(Debug)]
pub struct DeviceInstance {
    index: usize,
    probe_type: Arc<ProbeType>,
    /// Last sequence number that was received or declared.
    last: u64,
    /// Last sequence number that the device has given to a sample, as far as it has said so.
    taken: u64,
    /// Missing samples that no batch has reported yet.
    missing: Missing,
    /// Samples that the device has dropped, of those up to `last`; unknown of a session that an earlier process of the gateway has met.
    ring_full: Option<u64>,
    /// The counters before, over a line on which frames overtake each other.
    before: InstanceCounters,
    /// When `last` was set, and how long the device may have counted before that.
    since: (Instant, Duration),
    /// An earlier process of the gateway has received samples of the session, an unknown number of them.
    is_unsure: bool,
}

/// Samples and losses of a batch.
#[derive(Debug)]
pub struct ReceivedBatch {
    /// The batch, with what is missing before it; none if its samples are known.
    pub batch: Option<NewBatch>,
    /// Samples that are missing now.
    pub lost: u64,
}

impl DeviceInstance {
    /// An instance whose samples up to `last` are known. With `is_continued` it may be far beyond that.
    pub fn new(
        index: usize,
        probe_type: Arc<ProbeType>,
        last: u64,
        is_continued: bool,
        now: Instant,
    ) -> Self {
        let grace = if is_continued { MAX_CONTINUED_TIME } else { MAX_UNHEARD_TIME };
        let missing = Missing::default();
        let is_unsure = is_continued && last == 0;
        let ring_full = (!is_continued).then_some(0);
        let (before, since) = (InstanceCounters::default(), (now, grace));
        Self { index, probe_type, last, taken: last, missing, ring_full, before, since, is_unsure }
    }

    /// Last sequence number that was received or declared.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Last sequence number that the device has given to a sample, as far as it has said so.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The highest sequence number that the device can have reached by now.
    pub fn most(&self, now: Instant) -> u64 {
        let (since, grace) = self.since;
        let seconds = now.saturating_duration_since(since).saturating_add(grace).as_secs();
        self.last.saturating_add(seconds.saturating_mul(MAX_SAMPLES_PER_SECOND))
    }

    /// Takes a batch.
    ///
    /// # Errors
    /// If it is no batch of the instance's type, or has numbers that the device cannot have reached.
    pub fn batch(&mut self, bytes: &[u8], now: Instant) -> Result<ReceivedBatch, String> {
        // All of it: a DAC would end the connection because of a batch that it cannot read.
        let batch = Batch::parse(bytes, &self.probe_type).map_err(|error| error.to_string())?;
        let Header { first_sequence, count, dropped_before, .. } = *batch.header();
        let end = first_sequence.checked_add(u64::from(count)).filter(|_| first_sequence > 0);
        let last = end.map(|end| end - 1).filter(|last| *last <= self.most(now));
        let last = last.ok_or_else(|| {
            format!("sequence number {first_sequence} is beyond what the device can have taken")
        })?;
        if first_sequence <= self.last {
            return Ok(ReceivedBatch { batch: None, lost: 0 });
        }
        let lost = first_sequence - 1 - self.last;
        let ring_full = lost.min(dropped_before.into());
        self.ring_full = self.ring_full.map(|known| known.saturating_add(ring_full));
        self.miss(ring_full, lost - ring_full);
        let lost = if self.is_unsure { 0 } else { lost };
        self.reach(last, now);
        let (instance, before) = (self.index, std::mem::take(&mut self.missing));
        let bytes = Arc::new(bytes.to_vec());
        Ok(ReceivedBatch { batch: Some(NewBatch { instance, first_sequence, count, before, bytes }), lost })
    }

    /// Takes the device's counters. Returns how many samples are missing now, or none if they cannot be true.
    pub fn counters(&mut self, counters: &InstanceCounters, is_datagrams: bool, now: Instant) -> Option<u64> {
        let InstanceCounters { taken, sent, .. } = *counters;
        if taken > self.most(now) || sent > taken {
            return None;
        }
        self.taken = self.taken.max(taken);
        // A batch may still overtake the counters that come after it.
        let before = std::mem::replace(&mut self.before, *counters);
        let certain = if is_datagrams && before.sent < sent { before } else { *counters };
        let ring_full = u64::from(certain.ring_full);
        let dropped = ring_full.saturating_sub(self.ring_full.unwrap_or(ring_full));
        let Some(lost) = certain.sent.checked_sub(self.last) else { return Some(0) };
        self.ring_full = Some(ring_full);
        if lost == 0 {
            return Some(0);
        }
        self.miss(lost.min(dropped), lost.saturating_sub(dropped));
        let lost = if self.is_unsure { 0 } else { lost };
        self.reach(certain.sent, now);
        Some(lost)
    }

    /// Returns what is missing after the last batch, if that is all that the device has taken since.
    pub fn missing(&self) -> Missing {
        if self.last == self.taken { self.missing } else { Missing::default() }
    }

    fn miss(&mut self, ring_full: u64, network: u64) {
        self.missing.ring_full = self.missing.ring_full.saturating_add(ring_full);
        self.missing.network = self.missing.network.saturating_add(network);
    }

    fn reach(&mut self, last: u64, now: Instant) {
        self.last = last;
        self.taken = self.taken.max(last);
        self.since = (now, MAX_UNHEARD_TIME);
        self.is_unsure = false;
    }
}
