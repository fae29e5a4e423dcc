//! Activity of the threads that write to readers: the doors count, handlers, probes and the API read.
//!
//! Every counter has one writer, its thread, and many readers. None guards other memory, so all accesses are relaxed.

use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// The meters of all shards of a DAC.
#[derive(Debug, Default)]
pub struct ShardMeters {
    meters: Mutex<Vec<Weak<ShardMeter>>>,
}

impl ShardMeters {
    /// Returns the meter of a new shard. It is listed until its last reference is dropped.
    pub fn open(&self, number: usize) -> Arc<ShardMeter> {
        let meter = Arc::new(ShardMeter { number, ..ShardMeter::default() });
        let mut meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        meters.retain(|known| known.strong_count() > 0);
        meters.push(Arc::downgrade(&meter));
        meter
    }

    /// Returns the figures of all shards, by number.
    pub fn figures(&self) -> Vec<ShardFigures> {
        let meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut figures: Vec<_> =
            meters.iter().filter_map(Weak::upgrade).map(|meter| meter.figures()).collect();
        figures.sort_by_key(|figures| figures.number);
        figures
    }
}

/// The counters of one shard.
#[derive(Debug, Default)]
pub struct ShardMeter {
    number: usize,
    is_leaving: AtomicBool,
    connections: AtomicUsize,
    bytes: AtomicU64,
    wakeups: AtomicU64,
    cpu_ns: AtomicU64,
    deliveries: AtomicU64,
    lag_ns: AtomicU64,
    /// The longest lag since [`ShardMeter::end_window`].
    longest_lag_ns: AtomicU64,
    /// That of the window before.
    last_longest_lag_ns: AtomicU64,
}

/// A snapshot of the counters of one shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShardFigures {
    /// Its number; that of a shard that has ended is used again.
    pub number: usize,
    /// Whether it hands its connections over and ends.
    pub is_leaving: bool,
    /// Connections now, those on their way to it included.
    pub connections: usize,
    /// Bytes that sockets have taken.
    pub bytes: u64,
    /// Number of wakeups of its thread.
    pub wakeups: u64,
    /// Processor time of its thread, a second old at most.
    pub cpu: Duration,
    /// Topics that it has written to their readers, each time counted.
    pub deliveries: u64,
    /// Sum of their lags: the time from ready to written.
    pub lag: Duration,
    /// The longest lag in the last whole second.
    pub longest_lag: Duration,
}

impl ShardMeter {
    /// Counts a connection until the result is dropped.
    pub fn seat(self: &Arc<Self>) -> Seat {
        self.connections.fetch_add(1, Relaxed);
        Seat(self.clone())
    }

    /// Counts a return from waiting.
    pub fn woken(&self) {
        self.wakeups.fetch_add(1, Relaxed);
    }

    /// Sets the processor time of the thread.
    pub fn set_cpu(&self, time: Duration) {
        self.cpu_ns.store(nanoseconds(time), Relaxed);
    }

    /// Counts a topic that was written to its readers this long after it was ready.
    pub fn delivered(&self, lag: Duration) {
        let lag = nanoseconds(lag);
        self.deliveries.fetch_add(1, Relaxed);
        self.lag_ns.fetch_add(lag, Relaxed);
        self.longest_lag_ns.fetch_max(lag, Relaxed);
    }

    /// Marks the shard as one that hands its connections over.
    pub fn leave(&self) {
        self.is_leaving.store(true, Relaxed);
    }

    /// Ends the window over which the longest lag is taken.
    pub fn end_window(&self) {
        self.last_longest_lag_ns.store(self.longest_lag_ns.swap(0, Relaxed), Relaxed);
    }

    /// Returns a snapshot.
    pub fn figures(&self) -> ShardFigures {
        ShardFigures {
            number: self.number,
            is_leaving: self.is_leaving.load(Relaxed),
            connections: self.connections.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            wakeups: self.wakeups.load(Relaxed),
            cpu: Duration::from_nanos(self.cpu_ns.load(Relaxed)),
            deliveries: self.deliveries.load(Relaxed),
            lag: Duration::from_nanos(self.lag_ns.load(Relaxed)),
            longest_lag: Duration::from_nanos(self.last_longest_lag_ns.load(Relaxed)),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// One connection's place at a shard, taken when the connection is sent to the shard.
#[derive(Debug)]
pub struct Seat(Arc<ShardMeter>);

impl Seat {
    /// Counts bytes that the connection's socket has taken.
    pub fn written(&self, bytes: u64) {
        self.0.bytes.fetch_add(bytes, Relaxed);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_listed_while_somebody_refers_to_it() {
        let meters = ShardMeters::default();
        let (second, first) = (meters.open(1), meters.open(0));
        let seat = first.seat();
        seat.written(10);
        let listed: Vec<_> = meters.figures().iter().map(|one| (one.number, one.connections)).collect();
        assert_eq!(listed, [(0, 1), (1, 0)]);
        drop((second, first));
        assert_eq!(meters.figures().len(), 1, "a connection is still counted");
        drop(seat);
        assert_eq!(meters.figures(), []);
    }

    #[test]
    fn the_longest_lag_is_that_of_the_last_whole_window() {
        let meter = ShardMeters::default().open(0);
        let millis = Duration::from_millis;
        meter.delivered(millis(3));
        meter.delivered(millis(1));
        assert_eq!(meter.figures().longest_lag, Duration::ZERO);
        meter.end_window();
        let figures = meter.figures();
        assert_eq!((figures.deliveries, figures.lag, figures.longest_lag), (2, millis(4), millis(3)));
        meter.end_window();
        assert_eq!(meter.figures().longest_lag, Duration::ZERO);
    }
}
