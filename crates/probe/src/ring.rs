//! The ring between a pushed probe and its node: wait-free for the probe, bounded, drops counted.
//!
//! The producer allocates nothing, locks nothing and makes no system call, except that the first flush after a silence of all
//! probes of its node wakes the node. Each sample gets its sequence number
//! before the ring is asked for room. So a dropped sample leaves a gap in the sequence numbers, which the node
//! detects and reports. The same holds for samples that an overwriting ring drops.
//!
//! A record is a head of three words, then the row, padded to whole words:
//!
//! | bytes | |
//! |---|---|
//! | 4 | number of words, written by the ring |
//! | 2 | the probe's state |
//! | 1 | bytes of padding |
//! | 1 | 1 if the row was too long and is left out, else 0 |
//! | 8 | sequence number |
//! | 8 | time |

mod words;

use crate::{
    atomic::AtomicU64,
    batch_builder::BATCH_BYTES,
    bell::Bell,
    clock::now_ns,
    deadband::{ChangeFilter, Limits},
    overflow::{Overflow, RingConfig},
    process::{self, NodeProcess, Process},
    state::ProbeState,
};
use oasis_wire::{sample::Sample, value::RowWriter};
use std::{
    collections::TryReserveError,
    hint,
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use words::{Reader, WORD, Writer};

/// Place in the head, and the value there, of a sample whose row was too long.
const IS_TOO_LONG: usize = 7;
const TOO_LONG: u8 = 1;

/// No sequence number: the node has not drained the ring for the last time.
const STILL_READS: u64 = u64::MAX;

/// Bytes before each row.
const ROW_HEAD_BYTES: usize = 3 * WORD;

/// Returns the most bytes of a row in a ring with this number of words.
fn max_row_bytes(words: usize) -> usize {
    (words * WORD - ROW_HEAD_BYTES).min(BATCH_BYTES)
}

/// A producer that may wait polls this often before it sleeps, and sleeps this long before it polls again.
const SPINS: usize = 100;
const NAP: Duration = Duration::from_micros(50);

/// State shared by both sides of a ring.
#[derive(Debug)]
pub struct RingState {
    /// Last sequence number of a dropped sample. The numbers of other samples are in the ring: writing them here too
    /// would cost each flush a cache line that the node's processor has read.
    dropped_to: AtomicU64,
    /// Set by the commands `enable` and `disable`.
    enabled: AtomicBool,
    /// Set before the node drains the ring for the last time.
    ended: AtomicBool,
    /// Samples that were refused since then.
    refused: AtomicU64,
    /// Sequence number of the last record that the node has read; [`STILL_READS`] before its last drain is over.
    last_read: AtomicU64,
    /// The process whose threads drain it.
    home: NodeProcess,
}

impl RingState {
    /// Sets whether the probe takes samples.
    pub fn set_enabled(&self, enabled: bool) {
        self.enabled.store(enabled, Ordering::Relaxed);
    }

    /// Sets the process in which the node has started.
    pub fn set_home(&self, process: Process) {
        self.home.set(process);
    }

    /// Counts a sample after the node has ended. The first one is logged.
    #[cold]
    fn refuse(&self) {
        if self.refused.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("a sample after the shutdown of its node is refused, and all later ones are");
        }
    }
}

/// Tells whether a probe takes samples.
#[derive(Debug)]
pub struct Switch(Arc<RingState>);

impl Switch {
    /// Returns whether the probe takes samples.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.enabled.load(Ordering::Relaxed)
    }

    /// Returns whether the probe's node was shut down. Then the caller's sample counts as refused.
    #[inline]
    pub fn refuses(&self) -> bool {
        let has_ended = self.0.ended.load(Ordering::Relaxed);
        if has_ended {
            self.0.refuse();
        }
        has_ended
    }

    /// Returns whether the probe's node runs in another process, of which this one is a child.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.0.home.is_elsewhere()
    }
}

/// The application's side: flushes samples. For one thread at a time.
#[derive(Debug)]
pub struct PushedProbe<S> {
    rows: RowProbe,
    sample: PhantomData<fn(&S)>,
}

/// A pushed probe for samples whose type is known only at run time, or in another language.
#[derive(Debug)]
pub struct RowProbe {
    ring: Writer,
    overflow: Overflow,
    shared: Arc<RingState>,
    sequence: u64,
    state: ProbeState,
    changes: Option<ChangeFilter>,
    record: Vec<u8>,
    bell: Bell,
}

/// The node's side.
#[derive(Debug)]
pub struct Drain {
    ring: Reader,
    record: Vec<u8>,
    /// Sequence number of the last record read.
    last_sequence: u64,
    /// State shared with the producer.
    pub shared: Arc<RingState>,
}

/// Creates a ring. With `limits`, only changes are written to it.
pub fn ring(config: RingConfig, limits: Option<Arc<Limits>>) -> Result<(RowProbe, Drain), TryReserveError> {
    let words = config.bytes.div_ceil(WORD).max(ROW_HEAD_BYTES / WORD);
    let (writer, reader) = words::ring(words, config.overflow == Overflow::DropOldest)?;
    let shared = Arc::new(RingState {
        dropped_to: AtomicU64::new(0),
        enabled: AtomicBool::new(true),
        ended: AtomicBool::new(false),
        refused: AtomicU64::new(0),
        last_read: AtomicU64::new(STILL_READS),
        home: NodeProcess::unknown(),
    });
    let row_bytes = config.bytes.min(BATCH_BYTES);
    let mut record = Vec::new();
    record.try_reserve_exact(ROW_HEAD_BYTES + row_bytes + WORD)?;
    let probe = RowProbe {
        ring: writer,
        overflow: config.overflow,
        shared: shared.clone(),
        sequence: 0,
        state: ProbeState::NORMAL,
        changes: limits.map(|limits| ChangeFilter::new(limits, row_bytes)),
        record,
        bell: Bell::default(),
    };
    Ok((probe, Drain { ring: reader, record: Vec::new(), last_sequence: 0, shared }))
}

impl<S: Sample> PushedProbe<S> {
    /// Wraps `rows` for samples of one type.
    pub(crate) fn new(rows: RowProbe) -> Self {
        Self { rows, sample: PhantomData }
    }

    /// Returns the underlying probe, for callers that write rows of this type without creating a sample.
    pub fn into_rows(self) -> RowProbe {
        self.rows
    }

    /// Takes a sample now. Returns whether the ring had room; otherwise the sample is dropped, counted, and reported
    /// by the node.
    ///
    /// A disabled probe takes nothing and returns `true`; so does a probe on change for a sample without a change.
    /// In a child of the process in which its node has started, a probe takes nothing and returns `false`: see
    /// [`PushedProbe::is_forked`]. So does a probe whose node was shut down: see [`PushedProbe::has_ended`].
    #[inline]
    pub fn flush(&mut self, sample: &S) -> bool {
        self.flush_at(now_ns(), sample)
    }

    /// Takes a sample like [`PushedProbe::flush`], at the given time in nanoseconds since 1970-01-01 UTC.
    #[inline]
    pub fn flush_at(&mut self, time: u64, sample: &S) -> bool {
        self.rows.flush_at(time, |row| sample.write(row))
    }

    /// Has the node take the flushed samples now, instead of within two milliseconds. This may be a system call: it is for
    /// threads that make some anyway, such as one that has waited for a device.
    pub fn wake_node(&self) {
        self.rows.wake_node();
    }

    /// Sets the state of all following samples.
    #[inline]
    pub fn set_state(&mut self, state: ProbeState) {
        self.rows.set_state(state);
    }

    /// Returns whether samples are taken: a command may have disabled the probe.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.rows.is_enabled()
    }

    /// As [`RowProbe::is_forked`].
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.rows.is_forked()
    }

    /// As [`RowProbe::has_ended`].
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.rows.has_ended()
    }

    /// As [`RowProbe::refused`].
    pub fn refused(&self) -> u64 {
        self.rows.refused()
    }
}

impl RowProbe {
    /// Takes a sample like [`PushedProbe::flush_at`]; `write` writes the row. The node discards a row that does not
    /// fit the schema, and counts it as invalid. It counts a row of more than [`RowProbe::max_row_bytes`] so, too, and
    /// logs why.
    #[inline]
    pub fn flush_at(&mut self, time: u64, write: impl FnOnce(&mut RowWriter<'_>)) -> bool {
        if self.is_forked() {
            process::warn_once();
            return false;
        }
        if self.has_ended() {
            self.shared.refuse();
            return false;
        }
        if !self.shared.enabled.load(Ordering::Relaxed) {
            return true;
        }
        self.record.clear();
        self.record.extend_from_slice(&[0; ROW_HEAD_BYTES]);
        write(&mut RowWriter::new(&mut self.record));
        let end = self.record.len();
        let is_too_long = end - ROW_HEAD_BYTES > self.max_row_bytes();
        if let Some(changes) = &mut self.changes
            && !changes.is_change(&self.record[ROW_HEAD_BYTES..])
        {
            return true;
        }
        self.sequence += 1;
        if is_too_long {
            return self.push_without_row(time);
        }
        self.finish_record(time);
        let pushed = self.ring.push(&mut self.record) || self.wait();
        self.bell.ring_if_asleep();
        if !pushed {
            self.shared.dropped_to.store(self.sequence, Ordering::Release);
        } else if let Some(changes) = &mut self.changes {
            // The reader has not seen a dropped sample, so the next one must count as a change again.
            changes.keep(&self.record[ROW_HEAD_BYTES..end]);
        }
        // A shutdown that began meanwhile may have drained the ring before this record was there.
        if pushed && self.has_ended() { self.was_read() } else { pushed }
    }

    /// Waits until the node has drained the ring for the last time, some milliseconds. Returns whether it has read the last
    /// record; otherwise this counts as refused.
    #[cold]
    fn was_read(&self) -> bool {
        loop {
            let last = self.shared.last_read.load(Ordering::Acquire);
            if last != STILL_READS {
                let is_read = self.sequence <= last;
                if !is_read {
                    self.shared.refuse();
                }
                return is_read;
            }
            thread::yield_now();
        }
    }

    /// Returns the most bytes of a row: what the ring can contain, at most 512 KiB.
    pub fn max_row_bytes(&self) -> usize {
        max_row_bytes(self.ring.capacity())
    }

    /// Tells the node that the row of this sample was too long. Returns `false`, as the sample is lost.
    #[cold]
    fn push_without_row(&mut self, time: u64) -> bool {
        self.record.truncate(ROW_HEAD_BYTES);
        self.record[IS_TOO_LONG] = TOO_LONG;
        self.finish_record(time);
        if !self.ring.push(&mut self.record) {
            self.shared.dropped_to.store(self.sequence, Ordering::Release);
        }
        self.bell.ring_if_asleep();
        false
    }

    /// Counts samples that were lost before this point: leaves a gap in the sequence numbers, as a full ring does.
    pub fn skip(&mut self, samples: u64) {
        if samples > 0 {
            self.sequence += samples;
            self.shared.dropped_to.store(self.sequence, Ordering::Release);
        }
    }

    /// As [`PushedProbe::wake_node`].
    pub fn wake_node(&self) {
        if !self.is_forked() {
            self.bell.ring();
        }
    }

    /// Sets the bell of the node, which it rings then.
    pub(crate) fn set_bell(&mut self, bell: Bell) {
        self.bell = bell;
    }

    /// Returns a handle that tells whether samples are taken.
    pub(crate) fn switch(&self) -> Switch {
        Switch(self.shared.clone())
    }

    /// Sets the state of all following samples.
    #[inline]
    pub fn set_state(&mut self, state: ProbeState) {
        self.state = state;
    }

    /// Returns whether samples are taken: a command may have disabled the probe.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.shared.enabled.load(Ordering::Relaxed)
    }

    /// Returns whether the node runs in another process, of which this one is a child made by `fork`. Then each flush
    /// returns `false`, and the first one writes why to standard error. The child needs a node of its own.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.shared.home.is_elsewhere()
    }

    /// Returns whether the node was shut down or dropped. Then each flush returns `false`, and the first one is logged:
    /// the ring has no reader.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.shared.ended.load(Ordering::Relaxed)
    }

    /// Returns how many samples were refused because the node was shut down. No report to a DAC contains them.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Returns whether a flush waits when the ring is full.
    #[inline]
    pub fn may_wait(&self) -> bool {
        matches!(self.overflow, Overflow::Block(_))
    }

    #[inline]
    fn finish_record(&mut self, time: u64) {
        let end = self.record.len();
        let whole = end.next_multiple_of(WORD);
        self.record.extend_from_slice(&[0; WORD][..whole - end]);
        self.record[4..6].copy_from_slice(&self.state.0.to_le_bytes());
        self.record[6] = (whole - end) as u8; // less than a word
        self.record[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        self.record[16..24].copy_from_slice(&time.to_le_bytes());
    }

    /// Waits for room if that is the policy. Returns whether the record was written.
    #[cold]
    fn wait(&mut self) -> bool {
        let Overflow::Block(timeout) = self.overflow else { return false };
        let began = Instant::now();
        loop {
            for _ in 0..SPINS {
                hint::spin_loop();
                if self.ring.push(&mut self.record) {
                    return true;
                }
            }
            let left = timeout.saturating_sub(began.elapsed());
            if left.is_zero() || self.shared.ended.load(Ordering::Relaxed) {
                return false;
            }
            thread::sleep(left.min(NAP));
        }
    }
}

/// A sample read from a ring.
#[derive(Debug)]
pub struct Record<'a> {
    /// Its sequence number.
    pub sequence: u64,
    /// Its time.
    pub time: u64,
    /// The probe's state.
    pub state: ProbeState,
    /// Its packed row; empty if that was too long.
    pub row: &'a [u8],
    /// The most bytes of a row, if this one had more.
    pub limit: Option<usize>,
}

impl Drain {
    /// Returns the last sequence number assigned, as far as this side knows: those up to it were read, were dropped or are in the ring.
    pub fn taken(&self) -> u64 {
        // Records that were written before a drop are seen by who sees the drop.
        self.last_sequence.max(self.shared.dropped_to.load(Ordering::Acquire))
    }

    /// Whether no record is in the ring. Samples up to a [`Drain::taken`] from before were read or dropped then.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns the oldest sample in the ring.
    pub fn pop(&mut self) -> Option<Record<'_>> {
        if !self.ring.pop(&mut self.record) {
            return None;
        }
        let (head, row) = self.record.split_at_checked(ROW_HEAD_BYTES)?;
        let (&[first, sequence, time], _) = head.as_chunks::<WORD>().0.split_first_chunk()?;
        let filling = usize::from(first[6]);
        self.last_sequence = u64::from_le_bytes(sequence);
        Some(Record {
            sequence: self.last_sequence,
            time: u64::from_le_bytes(time),
            state: ProbeState(u16::from_le_bytes([first[4], first[5]])),
            row: &row[..row.len() - filling],
            limit: (first[IS_TOO_LONG] == TOO_LONG).then(|| max_row_bytes(self.ring.capacity())),
        })
    }
}

impl Drain {
    /// Has the probe refuse samples from now on. Those of flushes that have begun may still come.
    pub fn end(&self) {
        self.shared.ended.store(true, Ordering::Relaxed);
    }

    /// Tells the probe that the ring was drained for the last time.
    pub fn finish(&self) {
        self.end();
        self.shared.last_read.store(self.last_sequence, Ordering::Release);
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests;
