use super::*;
use oasis_channel::Release;
use oasis_wire::{
    batch::{Encoder, Fields, Header},
    schema::ProbeType,
};

const TOPICS: [(usize, TopicId); 2] = [(0, TopicId(10)), (1, TopicId(11))];
/// A DAC that does not say what is safe.
const SAME: MetDac = MetDac { is_new: false, safe_when: None, takes_ahead: false };
const SAME_THAT_STORES: MetDac = MetDac { safe_when: Some(SafeWhen::Stored), ..SAME };
const NEW: MetDac = MetDac { is_new: true, ..SAME_THAT_STORES };

fn batch(instance: usize, first_sequence: u64, count: u16) -> NewBatch {
    let heartbeat = ProbeType {
        name: "Beat".into(),
        uuid: uuid::Uuid::nil(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: Vec::new(),
    };
    let mut encoder = Encoder::new(&heartbeat).unwrap();
    (0..count).for_each(|time| encoder.push(time.into(), &[]).unwrap());
    let mut bytes = Vec::new();
    encoder.finish(Fields { first_sequence, ..Fields::default() }, &mut bytes);
    NewBatch { instance, first_sequence, count, before: Missing::default(), bytes: Arc::new(bytes) }
}

fn dropped(ring_full: u64) -> Missing {
    Missing { ring_full, ..Missing::default() }
}

fn spool_for(batches: usize) -> Spool {
    Spool::new(batches * (Outgoing::<QueuedBatch>::cost(batch(0, 1, 1).bytes.len())), 2)
}

fn take(spool: &mut Spool) -> Vec<Header> {
    spool.take(100, |_| true).batches.iter().map(|bytes| Header::parse(bytes).unwrap()).collect()
}

#[test]
fn nothing_is_sent_before_the_topics_are_known() {
    let mut spool = spool_for(10);
    spool.push(batch(0, 1, 1));
    assert!(take(&mut spool).is_empty());
    spool.connected(TOPICS.into_iter(), SAME);
    assert_eq!(take(&mut spool).iter().map(|header| header.topic).collect::<Vec<_>>(), [10]);
}

#[test]
fn a_batch_that_the_dac_acknowledged_before_is_not_sent_and_does_not_count_as_dropped() {
    let mut spool = spool_for(10);
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    // Over an earlier connection, which brought a batch that the file had and this queue had not.
    spool.acknowledge(TopicId(10), 2);
    spool.push(batch(0, 1, 2));
    spool.push(batch(0, 3, 1));
    let sent = take(&mut spool);
    assert_eq!(
        sent.iter().map(|header| (header.first_sequence, header.dropped_before)).collect::<Vec<_>>(),
        [(3, 0)]
    );
    spool.acknowledge(TopicId(10), 3);
    spool.safe(TopicId(10), 3);
    assert!(spool.is_finished());
}

#[test]
fn unacknowledged_batches_are_sent_again_with_the_new_topic() {
    let mut spool = spool_for(10);
    spool.connected(TOPICS.into_iter(), SAME);
    spool.push(batch(0, 1, 1));
    spool.push(batch(0, 2, 1));
    assert_eq!(take(&mut spool).len(), 2);
    spool.acknowledge(TopicId(10), 1);
    spool.connected([(0, TopicId(77))].into_iter(), SAME);
    let again = take(&mut spool);
    assert_eq!(
        again.iter().map(|header| (header.topic, header.first_sequence)).collect::<Vec<_>>(),
        [(77, 2)]
    );
    spool.acknowledge(TopicId(77), 2);
    assert!(spool.is_finished());
}

#[test]
fn the_oldest_unsent_batch_is_dropped_and_the_next_one_reports_it() {
    let mut spool = spool_for(2);
    (1..=5).for_each(|sequence| spool.push(batch(0, sequence, 1)));
    spool.connected(TOPICS.into_iter(), SAME);
    let sent = take(&mut spool);
    assert_eq!(spool.sent(0).dropped, Drops { spool_full: 3, ..Drops::default() });
    let told: Vec<_> = sent.iter().map(|header| (header.first_sequence, header.dropped_before)).collect();
    assert_eq!(told, [(4, 3), (5, 0)]);
}

#[test]
fn a_drop_reported_by_a_dropped_batch_is_reported_again() {
    let mut spool = spool_for(1);
    spool.connected(TOPICS.into_iter(), SAME);
    spool.push(batch(0, 1, 1));
    spool.push(batch(0, 2, 1)); // drops 1
    assert_eq!(take(&mut spool)[0].dropped_before, 1);
    spool.connected(TOPICS.into_iter(), SAME); // the connection broke: 2 is unsent again
    spool.push(batch(0, 3, 1)); // drops 2, which reported 1
    let sent = take(&mut spool);
    assert_eq!((sent[0].first_sequence, sent[0].dropped_before), (3, 2));
}

#[test]
fn a_drop_after_batches_that_are_sent_again_is_reported_where_it_happened() {
    let mut spool = spool_for(6);
    spool.connected(TOPICS.into_iter(), SAME);
    spool.push(batch(0, 1, 1));
    assert_eq!(take(&mut spool).len(), 1);
    (2..=7).for_each(|sequence| spool.push(batch(0, sequence, 1))); // drops 2: 1 is under way
    spool.connected(TOPICS.into_iter(), SAME);
    let told = |sent: Vec<Header>| -> Vec<_> {
        sent.iter().map(|header| (header.first_sequence, header.dropped_before)).collect()
    };
    assert_eq!(told(take(&mut spool)), [(1, 0)]);
    assert_eq!(spool.sent(0).dropped, Drops::default());
    assert_eq!(told(take(&mut spool)), [(3, 1), (4, 0), (5, 0)]);
    assert_eq!(spool.sent(0).dropped, Drops { spool_full: 1, ..Drops::default() });
}

#[test]
fn drops_of_the_ring_and_of_the_spool_are_counted_separately() {
    let mut spool = spool_for(2);
    spool.connected(TOPICS.into_iter(), SAME);
    spool.push(NewBatch { before: dropped(4), ..batch(0, 5, 1) });
    spool.push(batch(0, 6, 1));
    spool.push(NewBatch { before: dropped(2), ..batch(0, 9, 1) }); // drops 5, which reported 4 before it
    assert_eq!(take(&mut spool)[0].dropped_before, 5);
    assert_eq!(spool.sent(0).dropped, Drops { ring_full: 4, spool_full: 1, ..Drops::default() });
    assert_eq!(take(&mut spool)[0].dropped_before, 2);
    assert_eq!(spool.sent(0).dropped, Drops { ring_full: 6, spool_full: 1, ..Drops::default() });
}

#[test]
fn at_most_half_of_the_spool_is_in_transit() {
    let mut spool = spool_for(10);
    spool.connected(TOPICS.into_iter(), SAME);
    (1..=10).for_each(|sequence| spool.push(batch(0, sequence, 1)));
    assert_eq!(take(&mut spool).len(), 6); // the sixth passes the half, a seventh does not start
    assert!(!spool.has_unsent());
    spool.acknowledge(TopicId(10), 6);
    assert!(spool.has_unsent());
}

fn numbers(headers: &[Header]) -> Vec<u64> {
    headers.iter().map(|header| header.first_sequence).collect()
}

#[test]
fn a_received_batch_is_sent_again_only_to_a_new_dac_until_it_is_safe() {
    let mut spool = spool_for(10);
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    (1..=4).for_each(|sequence| spool.push(batch(0, sequence, 1)));
    assert_eq!(take(&mut spool).len(), 4);
    spool.acknowledge(TopicId(10), 3);
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    assert_eq!(numbers(&take(&mut spool)), [4]);
    spool.acknowledge(TopicId(10), 4);
    spool.safe(TopicId(10), 2);
    assert!(spool.is_received() && !spool.is_finished());
    spool.connected(TOPICS.into_iter(), NEW);
    assert!(!spool.is_received());
    assert_eq!(spool.sent(0).sequence, 2, "the new DAC need not have what is safe");
    assert_eq!(numbers(&take(&mut spool)), [3, 4]);
    spool.acknowledge(TopicId(10), 4);
    spool.safe(TopicId(10), 4);
    assert!(spool.is_finished());
}

#[test]
fn samples_are_safe_when_received_if_the_dac_says_nothing_and_need_no_wait_if_it_has_no_archive() {
    for (safe_when, is_kept) in [(None, false), (Some(SafeWhen::Held), true)] {
        let mut spool = spool_for(10);
        spool.connected(TOPICS.into_iter(), MetDac { safe_when, ..SAME });
        spool.push(batch(0, 1, 1));
        take(&mut spool);
        spool.acknowledge(TopicId(10), 1);
        assert!(spool.is_finished());
        spool.connected(TOPICS.into_iter(), MetDac { safe_when, ..NEW });
        assert_eq!(take(&mut spool).len(), usize::from(is_kept), "{safe_when:?}");
    }
}

#[test]
fn a_spool_is_settled_when_its_dac_owes_no_acknowledgement() {
    let mut spool = spool_for(10);
    spool.connected(TOPICS.into_iter(), NEW);
    spool.push(batch(0, 1, 1));
    assert!(spool.is_settled(), "nothing was sent");
    take(&mut spool);
    spool.push(batch(0, 2, 1));
    assert!(!spool.is_settled());
    spool.acknowledge(TopicId(10), 1);
    assert!(!spool.is_settled(), "it is not stored");
    spool.safe(TopicId(10), 1);
    assert!(spool.is_settled() && spool.has_unsent());
    spool.connected(TOPICS.into_iter(), MetDac { safe_when: Some(SafeWhen::Held), ..NEW });
    take(&mut spool);
    assert!(!spool.is_settled());
    spool.acknowledge(TopicId(10), 2);
    assert!(spool.is_settled(), "a DAC without an archive makes nothing safe when it ends");
}

#[test]
fn received_batches_leave_a_full_spool_first_and_are_no_drops() {
    let mut spool = spool_for(3);
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    spool.push(batch(0, 1, 1));
    spool.push(batch(0, 2, 1));
    take(&mut spool);
    spool.acknowledge(TopicId(10), 2);
    (3..=5).for_each(|sequence| spool.push(batch(0, sequence, 1)));
    assert_eq!(numbers(&take(&mut spool)), [3, 4]);
    spool.connected(TOPICS.into_iter(), NEW);
    assert_eq!(spool.sent(0), SequencePosition { sequence: 2, ..SequencePosition::default() });
    assert_eq!(numbers(&take(&mut spool)), [3, 4]);
}

#[test]
fn drops_before_batches_that_a_new_dac_receives_again_are_reported_again() {
    let mut spool = spool_for(10);
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    spool.push(batch(0, 1, 1));
    spool.push(NewBatch { before: dropped(4), ..batch(0, 6, 1) });
    take(&mut spool);
    take(&mut spool);
    spool.acknowledge(TopicId(10), 6);
    spool.connected(TOPICS.into_iter(), NEW);
    assert_eq!(take(&mut spool)[0].dropped_before, 0);
    assert_eq!(take(&mut spool)[0].dropped_before, 4);
    assert_eq!(spool.sent(0).dropped, Drops { ring_full: 4, ..Drops::default() });
}

#[test]
fn a_batch_in_the_file_that_is_safe_before_one_ahead_of_it_is_acknowledged_is_released() {
    let mut spool = Spool::before_a_file(100_000, 2);
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    for (offset, instance) in [(0, 0), (100, 1)] {
        let NewBatch { first_sequence, count, before, bytes, .. } = batch(instance, 1, 1);
        let stored = Some(FilePlace { segment: 1, offset });
        spool.admit(QueuedBatch { instance, first_sequence, count, before, bytes, stored });
    }
    assert_eq!(take(&mut spool).len(), 2);
    // Datagrams: the first is lost, which the DAC notices only after it has stored the second.
    spool.acknowledge(TOPICS[1].1, 1);
    spool.safe(TOPICS[1].1, 1);
    spool.acknowledge(TOPICS[0].1, 1);
    spool.safe(TOPICS[0].1, 1);
    assert_eq!(spool.released().iter().map(|place| place.sequence).collect::<Vec<_>>(), [1, 1]);
    assert!(spool.is_finished());
}

#[test]
fn a_batch_that_is_safe_before_it_is_read_from_the_file_again_is_not_waited_for() {
    let mut spool = Spool::before_a_file(100_000, 2);
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    // An earlier connection brought it, and broke before it was acknowledged.
    spool.safe(TOPICS[0].1, 1);
    let NewBatch { instance, first_sequence, count, before, bytes } = batch(0, 1, 1);
    let stored = Some(FilePlace { segment: 1, offset: 0 });
    spool.admit(QueuedBatch { instance, first_sequence, count, before, bytes, stored });
    assert!(take(&mut spool).is_empty());
    assert!(spool.is_finished());
}

fn first(batch: Option<Vec<u8>>) -> Option<(u32, u64)> {
    batch.map(|bytes| Header::parse(&bytes).unwrap()).map(|header| (header.topic, header.first_sequence))
}

/// A spool with a backlog: the newest batches of both instances may go ahead.
fn with_backlog() -> Spool {
    let mut spool = spool_for(1_000).for_link(Some(1));
    (1..=30).for_each(|sequence| spool.push(batch(0, sequence, 1)));
    spool.push(batch(1, 1, 1));
    spool
}

const TAKES_AHEAD: MetDac = MetDac { takes_ahead: true, ..SAME_THAT_STORES };

#[test]
fn the_newest_batches_go_before_a_backlog_and_a_release_takes_their_turn() {
    let mut spool = with_backlog();
    assert!(spool.has_ahead());
    spool.connected(TOPICS.into_iter(), TAKES_AHEAD);
    let ahead = [spool.take_ahead(), spool.take_ahead(), spool.take_ahead()].map(first);
    assert_eq!(ahead, [Some((10, 30)), Some((11, 1)), None]);
    spool.kept_ahead(TopicId(10), 30);
    spool.kept_ahead(TopicId(10), 29);
    let shipment = spool.take(100, |_| true);
    assert_eq!((shipment.batches.len(), shipment.releases.len()), (28, 0), "a release begins a shipment");
    let shipment = spool.take(100, |_| true);
    let release = Release { topic: TopicId(10), from_sequence: 29, to_sequence: 30, dropped_before: 0 };
    assert_eq!((&shipment.releases[..], shipment.batches.len(), shipment.pieces()), (&[release][..], 1, 3));
    assert_eq!(spool.sent(0).sequence, 30);
    spool.acknowledge(TopicId(10), 30);
    spool.safe(TopicId(10), 30);
    spool.safe(TopicId(11), 1);
    assert!(spool.is_finished());
}

#[test]
fn a_new_connection_keeps_nothing_ahead() {
    let mut spool = with_backlog();
    spool.connected(TOPICS.into_iter(), TAKES_AHEAD);
    assert!(spool.take_ahead().is_some());
    spool.kept_ahead(TopicId(10), 30);
    spool.connected(TOPICS.into_iter(), TAKES_AHEAD);
    let shipment = spool.take(100, |_| true);
    assert_eq!((shipment.batches.len(), shipment.releases.len()), (31, 0));
}

#[test]
fn drops_before_a_batch_that_the_dac_keeps_are_reported_when_it_is_released() {
    let mut spool = spool_for(20).for_link(Some(1));
    spool.connected(TOPICS.into_iter(), TAKES_AHEAD);
    (1..=20).for_each(|sequence| spool.push(batch(0, sequence, 1)));
    assert_eq!(first(spool.take_ahead()), Some((10, 20)));
    spool.kept_ahead(TopicId(10), 20);
    (21..=39).for_each(|sequence| spool.push(batch(0, sequence, 1)));
    let shipment = spool.take(100, |_| true);
    let release = Release { topic: TopicId(10), from_sequence: 20, to_sequence: 20, dropped_before: 19 };
    assert_eq!((&shipment.releases[..], shipment.tells_of_drops), (&[release][..], true));
    assert_eq!(spool.sent(0).dropped, Drops { spool_full: 19, ..Drops::default() });
}

#[test]
fn without_a_backlog_or_an_offer_of_the_dac_nothing_goes_ahead() {
    let mut spool = spool_for(1_000).for_link(Some(1));
    spool.connected(TOPICS.into_iter(), TAKES_AHEAD);
    spool.push(batch(0, 1, 1));
    assert!(!spool.has_ahead());
    let mut spool = with_backlog();
    spool.connected(TOPICS.into_iter(), SAME_THAT_STORES);
    assert!(!spool.has_ahead() && spool.take_ahead().is_none());
    spool.connected(TOPICS.into_iter(), TAKES_AHEAD);
    spool.push(batch(0, 31, 1));
    take(&mut spool);
    assert!(!spool.has_ahead(), "its turn came first");
}
