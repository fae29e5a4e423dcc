//! Every order of steps of threads that flush one probe: `make check-memory`.

use super::*;
use crate::ring::ring;
use loom::{sync::Arc, thread};

/// Flushes a row on another thread and one here. Returns the rows in the ring, and how many samples were taken.
fn run(waiting: usize) -> (Vec<u8>, u64) {
    let (rows, mut drain) = ring(256.into(), None).unwrap();
    let probe = Arc::new(SharedProbe::new(rows, waiting));
    let other = {
        let probe = probe.clone();
        thread::spawn(move || probe.flush_at(1, &[1]))
    };
    probe.flush_at(2, &[2]);
    other.join().unwrap();
    let read = std::iter::from_fn(|| drain.pop().map(|record| record.row[0])).collect();
    (read, drain.taken())
}

#[test]
fn no_row_stays_in_the_queue_when_its_thread_has_ended() {
    loom::model(|| {
        let (mut read, taken) = run(2);
        read.sort_unstable();
        assert_eq!((read, taken), (vec![1, 2], 2));
    });
}

#[test]
fn a_row_that_finds_no_place_is_counted() {
    loom::model(|| {
        let (rows, mut drain) = ring(256.into(), None).unwrap();
        let probe = Arc::new(SharedProbe::new(rows, 2));
        let threads = [1, 2].map(|number| {
            let probe = probe.clone();
            thread::spawn(move || {
                probe.flush_at(1, &[number]);
                probe.flush_at(1, &[number]);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let read = std::iter::from_fn(|| drain.pop().map(|record| record.sequence)).count();
        assert!(read > 0);
        assert_eq!(drain.taken(), 4);
    });
}
