//! A pushed probe that many threads flush at once: loggers, spans.
//!
//! A ring has one producer, so rows wait in a bounded queue until a thread that finds the ring free passes them on, its own and those of others. Nobody
//! waits for anybody: a thread that stops half-way, whatever its priority, leaves its row and those behind it in the queue, and takes them along when it goes on.
//!
//! The models (`shared_models.rs`, `make check-memory`) try every order of these steps. They fail without the fences, and if nobody looks again.

use crate::{clock::now_ns, ring::RowProbe};
#[cfg(loom)]
use loom::sync::{
    Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
use std::sync::{
    Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering, fence},
};

/// As [`RowProbe`], for many threads. Lock-free; nothing is allocated once the places of its queue have grown to the usual size of a row.
#[derive(Debug)]
pub struct SharedProbe {
    /// The next place to write to; the queue is D. Vyukov's bounded one, whose places carry turns.
    tail: AtomicUsize,
    places: Box<[Place]>,
    /// Rows that found no place.
    lost: AtomicU64,
    /// Only ever tried: who has it passes rows on for all.
    way_out: Mutex<WayOut>,
    switch: crate::ring::Switch,
}

/// A place of the queue.
#[derive(Debug)]
struct Place {
    /// `n`: free for the writer of position `n`. `n + 1`: its row waits.
    turn: AtomicUsize,
    /// Never contended: the turn says whose it is.
    row: Mutex<Row>,
}

#[derive(Debug, Default)]
struct Row {
    time: u64,
    packed: Vec<u8>,
}

#[derive(Debug)]
struct WayOut {
    ring: RowProbe,
    /// The next place to read.
    head: usize,
}

impl SharedProbe {
    /// Shares a probe. At most `waiting` rows wait for one another on their way to its ring, which is rounded up to a power of two.
    pub fn new(ring: RowProbe, waiting: usize) -> Self {
        let places = waiting.clamp(2, 1 << 16).next_power_of_two();
        Self {
            tail: AtomicUsize::new(0),
            places: (0..places)
                .map(|turn| Place { turn: AtomicUsize::new(turn), row: Mutex::new(Row::default()) })
                .collect(),
            lost: AtomicU64::new(0),
            switch: ring.switch(),
            way_out: Mutex::new(WayOut { ring, head: 0 }),
        }
    }

    /// Whether samples are taken: a command may have said no.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// Takes a sample now, of which this is the packed row. One that finds no room is counted, and the DAC will know.
    pub fn flush(&self, row: &[u8]) {
        self.flush_at(now_ns(), row);
    }

    /// As [`SharedProbe::flush`], with a time of the caller's own, in nanoseconds since 1970-01-01 UTC.
    pub fn flush_at(&self, time: u64, row: &[u8]) {
        if !self.is_enabled() {
            return;
        }
        if !self.put(time, row) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        self.pass_on();
    }

    /// Puts a row into the queue, unless it is full.
    fn put(&self, time: u64, packed: &[u8]) -> bool {
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            let place = self.place(tail);
            let turn = place.turn.load(Ordering::Acquire);
            match turn.wrapping_sub(tail) as isize {
                0 => match self.tail.compare_exchange_weak(
                    tail,
                    tail.wrapping_add(1),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        place.write(time, packed);
                        place.turn.store(tail.wrapping_add(1), Ordering::Release);
                        return true;
                    }
                    Err(now) => tail = now,
                },
                behind if behind < 0 => return false,
                _ => tail = self.tail.load(Ordering::Relaxed),
            }
        }
    }

    /// Moves what waits to the ring, unless somebody is at it already.
    fn pass_on(&self) {
        loop {
            // Behind our row, before the lock: either we see the lock free, or who has it sees our row when it looks again.
            fence(Ordering::SeqCst);
            let Ok(mut way_out) = self.way_out.try_lock() else { return };
            while self.pass_one(&mut way_out) {}
            way_out.ring.skip(self.lost.swap(0, Ordering::Relaxed));
            let head = way_out.head;
            drop(way_out);
            fence(Ordering::SeqCst);
            if !self.waits_at(head) && self.lost.load(Ordering::Relaxed) == 0 {
                return;
            }
        }
    }

    fn pass_one(&self, way_out: &mut WayOut) -> bool {
        if !self.waits_at(way_out.head) {
            return false;
        }
        let place = self.place(way_out.head);
        if let Ok(row) = place.row.try_lock() {
            way_out.ring.flush_at(row.time, |to| to.packed(&row.packed));
        }
        place.turn.store(way_out.head.wrapping_add(self.places.len()), Ordering::Release);
        way_out.head = way_out.head.wrapping_add(1);
        true
    }

    fn waits_at(&self, head: usize) -> bool {
        self.place(head).turn.load(Ordering::Acquire) == head.wrapping_add(1)
    }

    fn place(&self, position: usize) -> &Place {
        &self.places[position & (self.places.len() - 1)]
    }
}

impl Place {
    fn write(&self, time: u64, packed: &[u8]) {
        if let Ok(mut row) = self.row.try_lock() {
            row.time = time;
            row.packed.clear();
            row.packed.extend_from_slice(packed);
        }
    }
}

#[cfg(test)]
#[cfg(loom)]
#[path = "shared_models.rs"]
mod models;

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::ring::{Drain, ring};
    use std::thread;

    const TIME: u64 = 5;

    fn shared(ring_bytes: usize, waiting: usize) -> (SharedProbe, Drain) {
        let (rows, drain) = ring(ring_bytes.into(), None).unwrap();
        (SharedProbe::new(rows, waiting), drain)
    }

    #[test]
    fn what_one_thread_flushes_comes_out_in_order() {
        let (probe, mut drain) = shared(4_096, 4);
        for number in 0_u8..9 {
            probe.flush_at(TIME, &[number]);
        }
        for number in 0_u8..9 {
            let record = drain.pop().unwrap();
            assert_eq!(
                (record.sequence, record.time, record.row),
                (u64::from(number) + 1, TIME, &[number][..])
            );
        }
        assert!(drain.pop().is_none());
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_stopped_while_it_passes_rows_on() {
        let (probe, mut drain) = shared(4_096, 2);
        let stopped = probe.way_out.lock().unwrap();
        for number in 0_u8..5 {
            probe.flush_at(TIME, &[number]);
        }
        drop(stopped);
        assert!(drain.pop().is_none());
        // Two waited, three found no place and are counted behind them.
        probe.flush_at(TIME, &[9]);
        assert_eq!(drain.pop().map(|record| (record.sequence, record.row.to_vec())), Some((1, vec![0])));
        assert_eq!(drain.pop().map(|record| (record.sequence, record.row.to_vec())), Some((2, vec![1])));
        assert_eq!(drain.taken(), 6);
        probe.flush_at(TIME, &[10]);
        assert_eq!(drain.pop().map(|record| (record.sequence, record.row.to_vec())), Some((7, vec![10])));
    }

    #[test]
    fn a_disabled_probe_takes_nothing() {
        let (probe, mut drain) = shared(64, 2);
        drain.shared.set_enabled(false);
        assert!(!probe.is_enabled());
        probe.flush(&[1]);
        assert!(drain.pop().is_none());
        assert_eq!(drain.taken(), 0);
    }

    #[test]
    fn every_row_of_many_threads_arrives_once_or_is_counted_and_none_stays_behind() {
        const THREADS: u32 = 4;
        const EACH: u32 = 20_000;
        let (probe, mut drain) = shared(8_192, 8);
        let (mut seen, mut last) = (0, [None; THREADS as usize]);
        let mut take = |drain: &mut Drain| {
            while let Some(record) = drain.pop() {
                let (thread, number) =
                    (record.row[0], u32::from_le_bytes(record.row[1..].try_into().unwrap()));
                let before = last[usize::from(thread)].replace(number);
                assert!(before < Some(number), "{before:?} before {number}");
                seen += 1;
            }
        };
        thread::scope(|scope| {
            let flush = |thread: u8| {
                let probe = &probe;
                scope.spawn(move || {
                    for number in 0..EACH {
                        probe.flush_at(TIME, &[&[thread], &number.to_le_bytes()[..]].concat());
                    }
                })
            };
            let threads: Vec<_> = (0..THREADS as u8).map(flush).collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                take(&mut drain);
            }
        });
        take(&mut drain);
        assert_eq!(drain.taken(), u64::from(THREADS * EACH));
        assert!(seen > 0);
        assert!(!probe.waits_at(probe.way_out.lock().unwrap().head));
    }
}
