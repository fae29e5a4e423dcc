//! A pushed probe that many threads flush at once: loggers, spans.
//!
//! A ring has one producer. So rows wait in a bounded queue until a thread that finds the ring free moves them on,
//! its own and those of others. No thread waits for another. A thread that is suspended half-way, at whatever
//! priority, leaves its row and the later ones in the queue, and moves them when it continues.
//!
//! The models (`shared_models.rs`, `make check-memory`) try every order of these steps. They fail without the fences,
//! and without the second check.

#[cfg(not(loom))]
use crate::atomic::AtomicU64;
use crate::{clock::now_ns, process, ring::RowProbe};
#[cfg(loom)]
use loom::sync::{
    Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering, fence},
};

/// A [`RowProbe`] for many threads. Lock-free; allocates nothing once the queue's places have grown to the usual size
/// of a row.
#[derive(Debug)]
pub struct SharedProbe {
    /// The next place to write; the queue is D. Vyukov's bounded one, whose places carry turn numbers.
    tail: AtomicUsize,
    places: Box<[QueueSlot]>,
    /// Rows that found no place.
    lost: AtomicU64,
    /// Only ever locked with `try_lock`: its owner moves rows for all threads.
    outlet: Mutex<Outlet>,
    switch: crate::ring::Switch,
}

/// A slot of the queue.
#[derive(Debug)]
struct QueueSlot {
    /// `n`: free for the writer of position `n`. `n + 1`: its row waits.
    turn: AtomicUsize,
    /// Never contended: the turn number determines the owner.
    row: Mutex<Row>,
}

#[derive(Debug, Default)]
struct Row {
    time: u64,
    packed: Vec<u8>,
}

#[derive(Debug)]
struct Outlet {
    ring: RowProbe,
    /// The next place to read.
    head: usize,
}

impl SharedProbe {
    /// Shares a probe. At most `waiting` rows wait for its ring, rounded up to a power of two.
    pub fn new(ring: RowProbe, waiting: usize) -> Self {
        let places = waiting.clamp(2, 1 << 16).next_power_of_two();
        Self {
            tail: AtomicUsize::new(0),
            places: (0..places)
                .map(|turn| QueueSlot { turn: AtomicUsize::new(turn), row: Mutex::new(Row::default()) })
                .collect(),
            lost: AtomicU64::new(0),
            switch: ring.switch(),
            outlet: Mutex::new(Outlet { ring, head: 0 }),
        }
    }

    /// Returns whether samples are taken: a command may have disabled the probe.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// Returns whether the node runs in another process, of which this one is a child: then no sample is taken.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.switch.is_forked()
    }

    /// Takes a sample now, given as a packed row. A row that finds no place is counted, and reported to the DAC. After the
    /// shutdown of the node a row is refused, and the first one is logged.
    pub fn flush(&self, row: &[u8]) {
        self.flush_at(now_ns(), row);
    }

    /// Takes a sample like [`SharedProbe::flush`], at the given time in nanoseconds since 1970-01-01 UTC.
    pub fn flush_at(&self, time: u64, row: &[u8]) {
        if self.is_forked() {
            return process::warn_once();
        }
        if self.switch.refuses() {
            return;
        }
        if !self.is_enabled() {
            return;
        }
        if !self.put(time, row) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        self.pass_on();
    }

    /// Adds a row to the queue. Returns false if the queue is full.
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

    /// Moves waiting rows to the ring, unless another thread is doing so.
    fn pass_on(&self) {
        loop {
            // After our row, before the lock: either we see the lock free, or its owner sees our row in its second
            // check.
            fence(Ordering::SeqCst);
            let Ok(mut outlet) = self.outlet.try_lock() else { return };
            while self.pass_one(&mut outlet) {}
            outlet.ring.skip(self.lost.swap(0, Ordering::Relaxed));
            let head = outlet.head;
            drop(outlet);
            fence(Ordering::SeqCst);
            if !self.waits_at(head) && self.lost.load(Ordering::Relaxed) == 0 {
                return;
            }
        }
    }

    fn pass_one(&self, outlet: &mut Outlet) -> bool {
        if !self.waits_at(outlet.head) {
            return false;
        }
        let place = self.place(outlet.head);
        if let Ok(row) = place.row.try_lock() {
            outlet.ring.flush_at(row.time, |to| to.packed(&row.packed));
        }
        place.turn.store(outlet.head.wrapping_add(self.places.len()), Ordering::Release);
        outlet.head = outlet.head.wrapping_add(1);
        true
    }

    fn waits_at(&self, head: usize) -> bool {
        self.place(head).turn.load(Ordering::Acquire) == head.wrapping_add(1)
    }

    fn place(&self, position: usize) -> &QueueSlot {
        &self.places[position & (self.places.len() - 1)]
    }
}

impl QueueSlot {
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
    fn rows_of_one_thread_arrive_in_order() {
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
    fn no_thread_waits_for_one_that_is_suspended_while_it_moves_rows() {
        let (probe, mut drain) = shared(4_096, 2);
        let stopped = probe.outlet.lock().unwrap();
        for number in 0_u8..5 {
            probe.flush_at(TIME, &[number]);
        }
        drop(stopped);
        assert!(drain.pop().is_none());
        // Two waited, three found no place and are counted after them.
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
    fn every_row_of_many_threads_arrives_once_or_is_counted_and_none_stays_in_the_queue() {
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
        assert!(!probe.waits_at(probe.outlet.lock().unwrap().head));
    }
}
