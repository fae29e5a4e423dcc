use super::*;
use crate::deadband::Deadbands;
use oasis_wire::schema::{Metric, MetricType, ProbeType};

/// Bytes of a sample of one number.
const NUMBER: usize = ROW_HEAD_BYTES + 8;

impl RowProbe {
    fn flush_number(&mut self, number: u64) -> bool {
        self.flush_at(number, |row| row.u64(number))
    }
}

fn ring_of(bytes: usize, overflow: Overflow) -> (RowProbe, Drain) {
    ring(RingConfig { bytes, overflow }, None).unwrap()
}

fn sequences(drain: &mut Drain) -> Vec<u64> {
    std::iter::from_fn(|| drain.pop().map(|record| record.sequence)).collect()
}

#[test]
fn samples_come_out_in_order_with_number_time_and_state() {
    let (mut probe, mut drain) = ring_of(1_000, Overflow::DropNewest);
    assert!(drain.pop().is_none());
    assert!(probe.flush_number(7));
    probe.set_state(ProbeState(9));
    assert!(probe.flush_at(8, |row| row.string("odd")));
    let mut next = || {
        let of = |record: Record<'_>| (record.sequence, record.time, record.state.0, record.row.to_vec());
        drain.pop().map(of)
    };
    assert_eq!(next(), Some((1, 7, 0, 7_u64.to_le_bytes().to_vec())));
    assert_eq!(next(), Some((2, 8, 9, b"\x03odd".to_vec())));
    assert_eq!(next(), None);
}

#[test]
fn a_flush_wakes_nobody_unless_the_collector_sleeps_or_the_application_asks_for_it() {
    let bell = Bell::default();
    let (mut probe, _drain) = ring_of(1_000, Overflow::DropNewest);
    probe.set_bell(bell.clone());
    assert!(probe.is_enabled() && probe.flush_number(1));
    assert!(!bell.answer());
    probe.wake_node();
    assert!(bell.answer());
    bell.set_asleep(true);
    assert!(probe.flush_number(2) && bell.answer() && !bell.is_asleep());
    bell.set_asleep(true);
    assert!(!probe.flush_at(3, |row| row.string(&"x".repeat(2_000))), "too long");
    assert!(bell.answer(), "the node reports it now");
}

#[test]
fn a_full_ring_drops_the_newest_and_leaves_a_gap_in_the_sequence_numbers() {
    let (mut probe, mut drain) = ring_of(2 * NUMBER, Overflow::DropNewest);
    let pushed: Vec<bool> = (0..4).map(|value| probe.flush_number(value)).collect();
    assert_eq!(pushed, [true, true, false, false]);
    assert_eq!(sequences(&mut drain), [1, 2]);
    assert!(probe.flush_number(9));
    assert_eq!(sequences(&mut drain), [5]);
    assert_eq!(drain.taken(), 5);
}

#[test]
fn a_full_ring_drops_the_oldest_if_configured() {
    let (mut probe, mut drain) = ring_of(2 * NUMBER, Overflow::DropOldest);
    assert!((0..5).all(|value| probe.flush_number(value)));
    assert_eq!(sequences(&mut drain), [4, 5]);
    assert_eq!(drain.taken(), 5);
}

#[test]
fn a_producer_that_may_wait_does_so_until_there_is_room() {
    let (mut probe, mut drain) = ring_of(2 * NUMBER, Overflow::Block(Duration::from_secs(60)));
    let producer = thread::spawn(move || (0..200).all(|value| probe.flush_number(value)));
    let mut seen = Vec::new();
    while seen.len() < 200 {
        seen.extend(sequences(&mut drain));
    }
    assert!(producer.join().unwrap());
    assert!(seen.into_iter().eq(1..=200));
}

#[test]
fn waiting_ends_with_the_time_allowed_and_with_the_node() {
    let (mut probe, mut drain) = ring_of(NUMBER, Overflow::Block(Duration::from_millis(1)));
    assert!(probe.flush_number(1));
    assert!(!probe.flush_number(2));
    assert_eq!(sequences(&mut drain), [1]);
    let (mut probe, drain) = ring_of(NUMBER, Overflow::Block(Duration::MAX));
    assert!(probe.flush_number(1));
    drop(drain);
    assert!(!probe.flush_number(2));
}

#[test]
fn a_row_longer_than_the_ring_is_dropped_at_once_whatever_the_policy_and_the_node_learns_the_limit() {
    for overflow in [Overflow::DropNewest, Overflow::DropOldest, Overflow::Block(Duration::MAX)] {
        let (mut probe, mut drain) = ring_of(NUMBER, overflow);
        assert_eq!(probe.max_row_bytes(), 8);
        assert!(!probe.flush_at(1, |row| row.packed(&[0; 9])));
        let record = drain.pop().unwrap();
        assert_eq!((record.sequence, record.row.len(), record.limit), (1, 0, Some(8)));
        assert!(probe.flush_number(2));
        assert!(!probe.flush_at(1, |row| row.packed(&[0; 9])));
        let record = drain.pop().unwrap();
        assert_eq!(record.limit, if overflow == Overflow::DropOldest { Some(8) } else { None });
    }
}

#[test]
fn a_disabled_probe_takes_nothing() {
    let (mut probe, mut drain) = ring_of(1_000, Overflow::DropNewest);
    drain.shared.set_enabled(false);
    assert!(probe.flush_number(1));
    assert!(drain.pop().is_none());
    drain.shared.set_enabled(true);
    assert!(probe.flush_number(1));
    assert_eq!(sequences(&mut drain), [1]);
}

#[test]
fn a_probe_whose_node_has_ended_refuses_and_counts_and_what_was_taken_before_is_read() {
    let (mut probe, mut drain) = ring_of(1_000, Overflow::DropNewest);
    assert!(probe.flush_number(1) && !probe.has_ended());
    drain.end();
    assert!(probe.has_ended());
    assert_eq!([2, 3].map(|number| probe.flush_number(number)), [false, false]);
    assert_eq!((probe.refused(), sequences(&mut drain)), (2, vec![1]));
    drop(drain);
    assert!(!probe.flush_number(4));
    assert_eq!(probe.refused(), 3);
    let (mut probe, drain) = ring_of(1_000, Overflow::DropOldest);
    drop(drain);
    assert!(!probe.flush_number(1), "a ring with room that nobody reads");
}

#[test]
fn a_probe_on_change_numbers_only_what_it_keeps_and_offers_a_dropped_change_again() {
    let counter = ProbeType {
        name: "Counter".into(),
        uuid: uuid::Uuid::nil(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: vec![Metric::new("value", MetricType::Uint64)],
    };
    let limits = Limits::new(&counter, &Deadbands::any_change()).unwrap();
    let (mut probe, mut drain) = ring(NUMBER.into(), Some(limits)).unwrap();
    assert!(probe.flush_number(5) && probe.flush_number(5));
    assert!(!probe.flush_number(6), "no room");
    assert_eq!(sequences(&mut drain), [1]);
    assert!(probe.flush_number(6));
    assert_eq!(sequences(&mut drain), [3]);
}
