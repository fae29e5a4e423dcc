use super::*;
use crate::moment::steady;
use proptest::prelude::*;

const EPOCH: Epoch = Epoch(1);

fn log(per_topic: usize) -> TopicLog {
    TopicLog::new(EPOCH, LogBudget::new(per_topic, usize::MAX))
}

fn append(log: &TopicLog, count: u16) {
    log.append(vec![0; 8], count, |batch, offset| batch.copy_from_slice(&offset.0.to_le_bytes()));
}

/// Memory of one segment of [`append`].
fn segment_cost() -> usize {
    let log = log(usize::MAX);
    append(&log, 1);
    log.state().bytes
}

#[test]
fn the_offset_is_stamped_before_the_bytes_become_immutable() {
    let log = log(usize::MAX);
    append(&log, 5);
    append(&log, 2);
    let read = log.read(Offset(0), 10);
    let stamped: Vec<u64> =
        read.segments.iter().map(|s| u64::from_le_bytes(s.batch()[..].try_into().unwrap())).collect();
    assert_eq!(stamped, [0, 5]);
    assert_eq!(log.next(), Offset(7));
}

#[test]
fn a_reader_before_the_oldest_sample_receives_the_gap() {
    let log = log(2 * segment_cost());
    (0..5).for_each(|_| append(&log, 10));
    let read = log.read(Offset(7), 10);
    assert_eq!(read.missed, Some((Offset(7), Offset(30))));
    assert_eq!(read.segments.iter().map(|s| s.first().0).collect::<Vec<_>>(), [30, 40]);
    assert_eq!((log.state().evicted, log.state().segments), (30, 2));
}

#[test]
fn skipped_offsets_are_missed_by_readers_and_never_run_out() {
    let log = log(usize::MAX);
    append(&log, 3);
    log.skip(7);
    append(&log, 2);
    let read = log.read(Offset(1), 10);
    assert_eq!((read.missed, read.segments.len()), (None, 1), "what comes before them is read first");
    let read = log.read(Offset(3), 10);
    assert_eq!((read.missed, read.segments.len()), (Some((Offset(3), Offset(10))), 1));
    assert_eq!(log.state().evicted, 7);
    let mut last = log.next();
    for _ in 0..3 {
        log.skip(u64::MAX);
        append(&log, 2);
        assert!(log.next() > last, "offsets never go back");
        last = log.next();
    }
}

#[test]
fn evicted_samples_are_still_known_by_run() {
    let log = log(segment_cost());
    let of = |from, to| -> Vec<_> {
        let parts = log.by_run(Offset(from)..Offset(to)).into_iter();
        parts.map(|(run, offsets)| (run.as_u128(), offsets.start.0..offsets.end.0)).collect()
    };
    assert_eq!(of(0, 5), [(0, 0..5)]);
    for run in [1, 1, 2, 3, 1] {
        log.begin_run(Uuid::from_u128(9));
        log.begin_run(Uuid::from_u128(run));
        append(&log, 10);
    }
    assert_eq!(log.state().evicted, 40);
    assert_eq!(of(5, 45), [(1, 5..20), (2, 20..30), (3, 30..40), (1, 40..45)]);
    assert_eq!((of(22, 27), of(30, 30)), (vec![(2, 22..27)], vec![]));

    for run in 100..100 + MOST_RUNS as u128 {
        log.begin_run(Uuid::from_u128(run));
        append(&log, 1);
    }
    assert_eq!(of(45, 52), [(100, 45..51), (101, 51..52)]);
}

#[test]
fn many_topics_of_one_large_segment_stay_within_the_total() {
    const LARGE: usize = 100_000;
    let budget = LogBudget::new(usize::MAX, 10 * LARGE);
    let logs: Vec<_> = (0..50).map(|_| TopicLog::new(EPOCH, budget.clone())).collect();
    for log in &logs {
        log.append(vec![0; LARGE], 1, |_, _| {});
        assert!(budget.used() <= 10 * LARGE, "{}", budget.used());
    }
    // Evicted samples are a gap, not silence.
    let last = logs.last().unwrap();
    assert_eq!((last.read(Offset(0), 1).missed, last.state().evicted), (Some((Offset(0), Offset(1))), 1));
    // Small topics keep their newest samples, because the large ones give way.
    let small: Vec<_> = (0..50).map(|_| TopicLog::new(EPOCH, budget.clone())).collect();
    logs[0].append(vec![0; LARGE], 1, |_, _| {});
    for log in &small {
        append(log, 1);
        logs.iter().chain(&small).for_each(TopicLog::shrink);
    }
    assert!(small.iter().all(|log| log.latest().is_some()));
    assert!(budget.used() <= 10 * LARGE, "{}", budget.used());
}

#[test]
fn a_reader_in_the_middle_of_a_segment_gets_that_segment() {
    let log = log(usize::MAX);
    append(&log, 10);
    append(&log, 10);
    let read = log.read(Offset(13), 10);
    assert_eq!((read.missed, read.segments.len(), read.segments[0].first()), (None, 1, Offset(10)));
}

#[test]
fn samples_that_are_too_old_are_evicted_except_the_newest() {
    let log = log(usize::MAX);
    let before = steady();
    append(&log, 2);
    let after = steady();
    while steady() == after {}
    append(&log, 2);
    append(&log, 2);
    log.expire(before);
    assert_eq!(log.state().evicted, 0, "nothing has arrived before");
    log.expire(Nanos(after.0 + 1));
    assert_eq!((log.state().first_offset, log.state().evicted), (Offset(2), 2));
    log.expire(Nanos(u64::MAX));
    assert_eq!((log.state().segments, log.state().first_offset), (1, Offset(4)));
}

#[test]
fn the_newest_segment_stays_whatever_it_costs() {
    let log = log(0);
    append(&log, 1);
    append(&log, 1);
    assert_eq!((log.state().segments, log.state().first_offset), (1, Offset(1)));
}

#[test]
fn encodings_are_made_once_and_count_as_memory_until_their_segment_is_evicted() {
    let budget = LogBudget::new(usize::MAX, usize::MAX);
    let log = TopicLog::new(EPOCH, budget.clone());
    append(&log, 1);
    let segment = log.latest().unwrap();
    let made = std::cell::Cell::new(0);
    let make = |_: &[u8]| -> Pieces {
        made.set(made.get() + 1);
        [Bytes::from_static(&[7; 136])].into()
    };
    let before = budget.used();
    log.pieces(&segment, make);
    log.pieces(&segment, make);
    assert_eq!((made.get(), budget.used() - before), (1, 136 + size_of::<Bytes>()));
    drop(log);
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_segment_that_was_evicted_belongs_to_its_readers() {
    let log = log(segment_cost());
    append(&log, 1);
    let old = log.latest().unwrap();
    append(&log, 1);
    let before = log.state().bytes;
    log.pieces(&old, |_| [Bytes::from_static(&[7; 136])].into());
    assert_eq!(log.state().bytes, before);
}

#[test]
fn above_the_total_each_topic_shrinks_to_its_share() {
    let budget = LogBudget::new(usize::MAX, 20 * segment_cost());
    let logs = [TopicLog::new(EPOCH, budget.clone()), TopicLog::new(EPOCH, budget.clone())];
    (0..100).for_each(|_| logs.iter().for_each(|log| append(log, 1)));
    assert!(budget.used() <= 20 * segment_cost());
    assert!(logs.iter().all(|log| log.state().segments >= 9));
}

proptest! {
    /// The plain model: a list of all samples ever appended, of which the log keeps the tail.
    #[test]
    fn a_reader_receives_every_sample_once_or_a_gap(
        steps in proptest::collection::vec((1_u16..20, 0_usize..4), 1..80),
        capacity in 1_usize..20,
    ) {
        let log = log(capacity * segment_cost());
        let (mut next, mut accounted) = (Offset(0), 0);
        for (count, reads) in steps {
            append(&log, count);
            for _ in 0..reads {
                let read = log.read(next, 2);
                if let Some((from, to)) = read.missed {
                    prop_assert_eq!(from, next);
                    accounted += to.0 - from.0;
                    next = to;
                }
                for segment in &read.segments {
                    prop_assert_eq!(segment.first(), next);
                    accounted += u64::from(segment.count());
                    next = segment.end();
                }
                prop_assert_eq!(accounted, next.0);
            }
            prop_assert!(log.state().segments <= capacity);
        }
    }
}
