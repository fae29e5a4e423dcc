//! The ring between a pushed probe and its node: wait-free on the probe's side, bounded, drops counted.
//!
//! The producer allocates nothing, takes no lock and makes no system call. Each sample gets its sequence number before the ring
//! is asked for room, so a sample that finds it full leaves a hole in the numbers that the node sees and reports.

use crate::clock::now_ns;
use oasis_wire::{sample::Sample, value::RowWriter};
use rtrb::{Consumer, Producer, RingBuffer, chunks::ChunkError};
use std::{
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// Length, sequence number, time: what lies before each row.
const HEAD: usize = 4 + 8 + 8;

/// What both sides of a ring see.
#[derive(Debug, Default)]
pub struct Shared {
    /// Last sequence number given out. Written by the producer only, so a plain store does.
    taken: AtomicU64,
    /// Commands `enable` and `disable`.
    enabled: AtomicBool,
}

impl Shared {
    /// Last sequence number given out.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether the probe takes samples.
    pub fn set_enabled(&self, enabled: bool) {
        self.enabled.store(enabled, Ordering::Relaxed);
    }
}

/// Tells whether a probe takes samples.
#[derive(Debug)]
pub struct Switch(Arc<Shared>);

impl Switch {
    /// Whether it does.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.enabled.load(Ordering::Relaxed)
    }
}

/// The application's side: flushes samples. One thread at a time.
#[derive(Debug)]
pub struct PushedProbe<S> {
    rows: RowProbe,
    sample: PhantomData<fn(&S)>,
}

/// As [`PushedProbe`], for samples whose type is known only at run time, or in another language.
#[derive(Debug)]
pub struct RowProbe {
    ring: Producer<u8>,
    shared: Arc<Shared>,
    sequence: u64,
    record: Vec<u8>,
}

/// The node's side.
#[derive(Debug)]
pub struct Drain {
    ring: Consumer<u8>,
    record: Vec<u8>,
    /// What the producer has said.
    pub shared: Arc<Shared>,
}

/// A ring that holds `bytes` of samples: a row and 20 bytes each.
pub fn ring(bytes: usize) -> (RowProbe, Drain) {
    let (producer, consumer) = RingBuffer::new(bytes.max(64));
    let shared = Arc::new(Shared { taken: AtomicU64::new(0), enabled: AtomicBool::new(true) });
    let probe =
        RowProbe { ring: producer, shared: shared.clone(), sequence: 0, record: Vec::with_capacity(1024) };
    (probe, Drain { ring: consumer, record: Vec::new(), shared })
}

impl<S: Sample> PushedProbe<S> {
    /// Samples of one type for `rows`.
    pub(crate) fn new(rows: RowProbe) -> Self {
        Self { rows, sample: PhantomData }
    }

    /// The probe underneath, for who writes rows of this type without making a sample first.
    pub fn into_rows(self) -> RowProbe {
        self.rows
    }

    /// Takes a sample now. Returns whether it found room; a sample that did not is counted and reported by the node.
    ///
    /// While the probe is disabled nothing is taken and the answer is `true`.
    #[inline]
    pub fn flush(&mut self, sample: &S) -> bool {
        self.flush_at(now_ns(), sample)
    }

    /// As [`PushedProbe::flush`], with a time of the caller's own, in nanoseconds since 1970-01-01 UTC.
    #[inline]
    pub fn flush_at(&mut self, time: u64, sample: &S) -> bool {
        self.rows.flush_at(time, |row| sample.write(row))
    }
}

impl RowProbe {
    /// As [`PushedProbe::flush_at`]; `write` writes the row. One that does not fit the schema is counted as dropped when the node sees it.
    #[inline]
    pub fn flush_at(&mut self, time: u64, write: impl FnOnce(&mut RowWriter<'_>)) -> bool {
        if !self.shared.enabled.load(Ordering::Relaxed) {
            return true;
        }
        self.sequence += 1;
        self.record.clear();
        self.record.extend_from_slice(&[0; 4]);
        self.record.extend_from_slice(&self.sequence.to_ne_bytes());
        self.record.extend_from_slice(&time.to_ne_bytes());
        write(&mut RowWriter::new(&mut self.record));
        let length = self.record.len() as u32;
        self.record[..4].copy_from_slice(&length.to_ne_bytes());
        let pushed = self.push();
        // Behind the push: a reader of `taken` that finds the ring empty has seen all samples up to it, or they were dropped.
        self.shared.taken.store(self.sequence, Ordering::Release);
        pushed
    }

    /// Counts samples that were lost before they came here: a hole in the numbers, as a full ring leaves.
    pub fn skip(&mut self, samples: u64) {
        if samples > 0 {
            self.sequence += samples;
            self.shared.taken.store(self.sequence, Ordering::Release);
        }
    }

    /// Tells whether samples are taken.
    pub(crate) fn switch(&self) -> Switch {
        Switch(self.shared.clone())
    }

    fn push(&mut self) -> bool {
        let Ok(chunk) = self.ring.write_chunk_uninit(self.record.len()) else { return false };
        chunk.fill_from_iter(self.record.iter().copied());
        true
    }
}

/// One sample as it came out of a ring.
#[derive(Debug)]
pub struct Record<'a> {
    /// Its number.
    pub sequence: u64,
    /// Its time.
    pub time: u64,
    /// Its packed row.
    pub row: &'a [u8],
}

impl Drain {
    /// The oldest sample in the ring.
    pub fn pop(&mut self) -> Option<Record<'_>> {
        let length = self.read(4)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))? as usize;
        // Records are pushed whole, so what the length promises is there.
        let record = self.read(length - 4)?;
        let (sequence, rest) = record.split_first_chunk()?;
        let (time, row) = rest.split_first_chunk()?;
        debug_assert_eq!(length, HEAD + row.len());
        Some(Record { sequence: u64::from_ne_bytes(*sequence), time: u64::from_ne_bytes(*time), row })
    }

    fn read(&mut self, length: usize) -> Option<&[u8]> {
        let chunk = match self.ring.read_chunk(length) {
            Ok(chunk) => chunk,
            Err(ChunkError::TooFewSlots(_)) => return None,
        };
        let (head, tail) = chunk.as_slices();
        self.record.clear();
        self.record.extend_from_slice(head);
        self.record.extend_from_slice(tail);
        chunk.commit_all();
        Some(&self.record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl RowProbe {
        fn flush_number(&mut self, number: u64) -> bool {
            self.flush_at(number, |row| row.u64(number))
        }
    }

    #[test]
    fn samples_come_out_in_order_with_their_numbers() {
        let (mut probe, mut drain) = ring(1_000);
        assert!(drain.pop().is_none());
        assert!(probe.flush_number(7) && probe.flush_number(8));
        let first = drain.pop().map(|record| (record.sequence, record.time, record.row.to_vec()));
        assert_eq!(first, Some((1, 7, 7_u64.to_le_bytes().to_vec())));
        assert_eq!(drain.pop().map(|record| record.sequence), Some(2));
        assert!(drain.pop().is_none());
    }

    #[test]
    fn a_full_ring_drops_the_newest_and_leaves_a_hole_in_the_numbers() {
        let (mut probe, mut drain) = ring(64); // room for two records of 28 bytes
        let pushed: Vec<bool> = (0..4).map(|value| probe.flush_number(value)).collect();
        assert_eq!(pushed, [true, true, false, false]);
        assert_eq!((drain.pop().map(|r| r.sequence), drain.pop().map(|r| r.sequence)), (Some(1), Some(2)));
        assert!(probe.flush_number(9));
        assert_eq!(drain.pop().map(|record| record.sequence), Some(5));
        assert_eq!(drain.shared.taken(), 5);
    }

    #[test]
    fn a_disabled_probe_takes_nothing() {
        let (mut probe, mut drain) = ring(64);
        drain.shared.set_enabled(false);
        assert!(probe.flush_number(1));
        assert!(drain.pop().is_none());
        drain.shared.set_enabled(true);
        assert!(probe.flush_number(1));
        assert_eq!(drain.pop().map(|record| record.sequence), Some(1));
    }

    #[test]
    fn two_threads_lose_nothing_that_was_not_refused() {
        let (mut probe, mut drain) = ring(4_096);
        let writer =
            std::thread::spawn(move || (0..50_000).filter(|&value| probe.flush_number(value)).count());
        let (mut seen, mut last) = (0, 0);
        while !writer.is_finished() || drain.ring.slots() > 0 {
            while let Some(record) = drain.pop() {
                assert!(record.sequence > last);
                assert_eq!(record.row, (record.sequence - 1).to_le_bytes());
                (seen, last) = (seen + 1, record.sequence);
            }
        }
        assert_eq!(writer.join().unwrap(), seen);
    }
}
