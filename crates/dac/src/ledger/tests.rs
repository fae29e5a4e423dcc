use super::*;
use oasis_wire::stored::StoredRun;
use proptest::prelude::*;

const RUN: Uuid = Uuid::from_u128(1);
const NEXT_RUN: Uuid = Uuid::from_u128(2);
const NOW: Nanos = Nanos(0);

fn ledger_that_met_the_node_from_its_start() -> Ledger {
    let mut ledger = Ledger::default();
    ledger.registered(RUN, NOW);
    ledger.counters(0, 0, Drops::default());
    assert_eq!(ledger.batch(1, 1, 0, NOW), Verdict::New);
    ledger
}

/// A ledger of a DAC that starts, whose archive has samples of a run up to a number.
fn restored(run: Uuid, last_sequence: u64) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.restore_runs(&[StoredRun { run, last_sequence, taken: 0 }]);
    ledger
}

fn causes(ledger: &Ledger) -> Vec<(u64, u64, Cause)> {
    ledger.gaps.iter().map(|gap| (gap.from_sequence, gap.to_sequence, gap.cause)).collect()
}

#[test]
fn samples_missing_in_a_recording_have_the_recorded_cause() {
    let mut ledger = Ledger::default();
    for run in [RUN, NEXT_RUN] {
        ledger.registered(run, NOW);
        ledger.not_in_recording(1..=40, Cause::NotRecorded, NOW);
        assert_eq!(ledger.batch(41, 10, 0, NOW), Verdict::New);
        ledger.not_in_recording(51..=55, Cause::RingFull, NOW);
        assert_eq!(ledger.batch(56, 1, 0, NOW), Verdict::New);
    }
    let lap = [(1, 40, Cause::NotRecorded), (51, 55, Cause::RingFull)];
    assert_eq!(causes(&ledger), [lap, lap].concat());
    assert_eq!((ledger.received, ledger.unexplained), (22, 0));
}

#[test]
fn what_the_node_dropped_last_is_missing_before_there_is_another_batch() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    let ring = |ring_full| Drops { ring_full, ..Drops::default() };
    // A batch is on its way, or not all that was taken is dropped.
    ledger.dropped_after(2, 5, ring(3), NOW);
    ledger.dropped_after(1, 5, ring(3), NOW);
    assert_eq!(ledger.last_sequence, 1);
    for dropped in [ring(3), ring(3), Drops { invalid_row: 2, ..ring(3) }, ring(1)] {
        ledger.dropped_after(1, 1 + dropped.total(), dropped, NOW);
    }
    assert_eq!(causes(&ledger), [(2, 4, Cause::RingFull), (5, 6, Cause::InvalidRow)]);
    // The next batch reports them with the samples dropped after them, and without samples of which no report is known.
    ledger.counters(12, 1, Drops::default());
    ledger.counters(12, 12, Drops { invalid_row: 2, ..ring(6) });
    assert_eq!(ledger.batch(12, 1, 8, NOW), Verdict::New);
    assert_eq!(causes(&ledger)[2..], [(7, 8, Cause::Unexplained), (9, 11, Cause::RingFull)]);
    assert_eq!((ledger.received, ledger.missing, ledger.unexplained), (2, 10, 2));
    // The run ends: nothing is lost with it.
    ledger.dropped_after(12, 14, ring(2), NOW);
    ledger.counters(14, 12, Drops { invalid_row: 2, ..ring(6) });
    ledger.registered(NEXT_RUN, NOW);
    ledger.dropped_after(0, 2, ring(2), NOW);
    assert_eq!(
        ledger.causes,
        BTreeMap::from([(Cause::RingFull, 10), (Cause::InvalidRow, 2), (Cause::Unexplained, 2)])
    );
}

#[test]
fn losses_of_a_recording_that_are_repeated_after_a_reconnect_count_once() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    for _ in 0..2 {
        ledger.registered(RUN, NOW);
        ledger.not_in_recording(2..=4, Cause::Network, NOW);
        ledger.not_in_recording(5..=9, Cause::RingFull, NOW);
        ledger.batch(10, 2, 0, NOW);
    }
    assert_eq!(causes(&ledger), [(2, 4, Cause::Network), (5, 9, Cause::RingFull)]);
    assert_eq!((ledger.received, ledger.duplicates, ledger.last_sequence), (3, 2, 11));
    // The node did not report the following samples to this DAC.
    ledger.not_in_recording(14..=15, Cause::RingFull, NOW);
    assert_eq!(causes(&ledger)[2..], [(12, 13, Cause::Unexplained), (14, 15, Cause::RingFull)]);
}

#[test]
fn samples_of_a_replay_that_an_earlier_dac_had_are_not_missing() {
    let mut ledger = restored(RUN, 20);
    ledger.registered(RUN, NOW);
    ledger.not_in_recording(15..=18, Cause::Network, NOW);
    ledger.not_in_recording(31..=33, Cause::RingFull, NOW);
    assert_eq!(causes(&ledger), [(21, 30, Cause::BeforeEpoch), (31, 33, Cause::RingFull)]);
}

#[test]
fn every_cause_is_found_by_its_word() {
    for cause in oasis_wire::loss::TABLE.iter().map(|entry| entry.cause) {
        assert_eq!(Cause::from_word(cause.word()), Some(cause));
        assert_eq!(serde_json::to_value(cause).unwrap(), cause.word());
    }
    assert_eq!(Cause::from_word("weather"), None);
}

#[test]
fn kept_back_and_invalid_rows_are_not_losses_of_the_ring() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.counters(
        12,
        12,
        Drops { ring_full: 2, spool_full: 1, kept_back: 5, invalid_row: 2, ..Drops::default() },
    );
    assert_eq!(ledger.batch(12, 1, 10, NOW), Verdict::New);
    assert_eq!(
        causes(&ledger),
        [
            (2, 2, Cause::SpoolFull),
            (3, 7, Cause::KeptBack),
            (8, 9, Cause::InvalidRow),
            (10, 11, Cause::RingFull)
        ]
    );
}

/// Cause and sequence numbers of the gaps before the batch that was accepted last.
fn gaps_before(ledger: &mut Ledger) -> Vec<(Cause, u64, u64)> {
    let gaps = ledger.take_gaps_before();
    gaps.iter()
        .flat_map(|gaps| gaps.iter())
        .map(|gap| (gap.cause, gap.from_sequence, gap.to_sequence))
        .collect()
}

#[test]
fn the_batch_after_a_gap_has_each_cause_and_the_next_one_none() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    assert_eq!(ledger.take_gaps_before(), None);
    ledger.counters(12, 12, Drops { ring_full: 2, kept_back: 5, ..Drops::default() });
    ledger.batch(12, 1, 7, NOW);
    assert_eq!(
        gaps_before(&mut ledger),
        [(Cause::Unexplained, 2, 4), (Cause::KeptBack, 5, 9), (Cause::RingFull, 10, 11)]
    );
    ledger.batch(13, 1, 0, NOW);
    assert_eq!(ledger.take_gaps_before(), None);
    // Datagrams that did not come are noticed before the batch after them.
    ledger.lost_on_the_way(15, NOW);
    ledger.counters(17, 17, Drops { ring_full: 3, kept_back: 5, ..Drops::default() });
    ledger.batch(17, 1, 1, NOW);
    assert_eq!(gaps_before(&mut ledger), [(Cause::Network, 14, 15), (Cause::RingFull, 16, 16)]);
}

#[test]
fn the_loss_at_the_end_of_a_run_comes_before_the_first_batch_of_the_next_unless_it_came_after_all() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.counters(5, 1, Drops::default());
    ledger.registered(NEXT_RUN, NOW);
    ledger.batch(1, 1, 0, NOW);
    let gaps = ledger.take_gaps_before().unwrap();
    assert_eq!((gaps[0].cause, gaps[0].count, gaps[0].run), (Cause::NodeRestart, 4, RUN));
    ledger.counters(3, 1, Drops::default());
    ledger.registered(RUN, NOW);
    assert_eq!(causes(&ledger).len(), 1, "that of the second run");
    ledger.registered(NEXT_RUN, NOW);
    ledger.batch(2, 2, 0, NOW);
    assert_eq!(gaps_before(&mut ledger), [(Cause::NodeRestart, 2, 5)], "the first run ended again");
}

#[test]
fn consecutive_batches_leave_no_gap() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    assert_eq!(ledger.batch(2, 10, 0, NOW), Verdict::New);
    assert_eq!((ledger.received, ledger.missing, ledger.last_sequence), (11, 0, 11));
}

#[test]
fn reported_drops_have_their_cause() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.counters(10, 10, Drops { ring_full: 3, spool_full: 5, ..Drops::default() });
    ledger.batch(10, 1, 8, NOW);
    assert_eq!(causes(&ledger), [(2, 6, Cause::SpoolFull), (7, 9, Cause::RingFull)]);
    assert_eq!((ledger.missing, ledger.unexplained), (8, 0));
}

#[test]
fn unreported_losses_are_unexplained() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.batch(5, 1, 1, NOW);
    assert_eq!(causes(&ledger), [(2, 3, Cause::Unexplained), (4, 4, Cause::RingFull)]);
    assert_eq!(ledger.unexplained, 2);
}

#[test]
fn a_batch_sent_again_counts_as_duplicate_and_changes_nothing_else() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.batch(2, 3, 0, NOW);
    assert_eq!(ledger.batch(2, 3, 0, NOW), Verdict::Duplicate);
    assert_eq!(ledger.batch(4, 3, 0, NOW), Verdict::Overlap);
    assert_eq!((ledger.received, ledger.duplicates, ledger.last_sequence), (4, 3, 4));
}

#[test]
fn a_dac_that_starts_late_reports_samples_before_its_epoch() {
    let mut ledger = Ledger::default();
    ledger.registered(RUN, NOW);
    ledger.batch(100, 1, 4, NOW);
    assert_eq!(causes(&ledger), [(1, 95, Cause::BeforeEpoch), (96, 99, Cause::RingFull)]);
    assert_eq!(ledger.unexplained, 0);
}

#[test]
fn samples_that_an_earlier_dac_has_stored_are_duplicates() {
    let mut ledger = restored(RUN, 90);
    ledger.registered(NEXT_RUN, NOW);
    assert_eq!(ledger.batch(1, 10, 0, NOW), Verdict::New);
    ledger.registered(RUN, NOW);
    assert_eq!(ledger.batch(81, 10, 0, NOW), Verdict::Duplicate);
    assert_eq!(ledger.batch(101, 10, 0, NOW), Verdict::New);
    assert_eq!(causes(&ledger), [(91, 100, Cause::BeforeEpoch)]);
    assert_eq!(ledger.received - 10 + ledger.missing + ledger.stored_before, ledger.last_sequence);
}

#[test]
fn a_run_that_returns_goes_on_where_it_stopped() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.counters(20, 20, Drops::default());
    ledger.batch(2, 9, 0, NOW);
    ledger.registered(NEXT_RUN, NOW);
    ledger.batch(1, 5, 0, NOW);
    assert_eq!(causes(&ledger), [(11, 20, Cause::NodeRestart)]);
    assert_eq!(ledger.accounted(), 25);
    ledger.registered(RUN, NOW);
    assert_eq!((causes(&ledger), ledger.missing, ledger.accounted()), (vec![], 0, 15));
    assert_eq!(ledger.batch(1, 10, 0, NOW), Verdict::Duplicate);
    assert_eq!(ledger.batch(11, 5, 0, NOW), Verdict::New);
    ledger.registered(NEXT_RUN, NOW);
    assert_eq!(ledger.batch(1, 5, 0, NOW), Verdict::Duplicate);
    assert_eq!(causes(&ledger), [(16, 20, Cause::NodeRestart)]);
    assert_eq!((ledger.received, ledger.missing, ledger.accounted()), (20, 5, 25));
}

#[test]
fn the_archive_learns_what_came_though_it_had_listed_it_as_lost() {
    let mut ledger = Ledger::default();
    ledger.restore_runs(&[StoredRun { run: RUN, last_sequence: 10, taken: 20 }]);
    ledger.registered(RUN, NOW);
    assert_eq!(ledger.came_after_all(), []);
    ledger.batch(11, 2, 0, NOW);
    let came =
        |numbers: &[_], last_sequence| CameAfterAll { run: RUN, numbers: numbers.to_vec(), last_sequence };
    assert_eq!(ledger.came_after_all(), [came(&[11..=12], 12)]);
    ledger.note_retracted(&came(&[11..=12], 12), true);
    ledger.counters(14, 14, Drops { ring_full: 1, ..Drops::default() });
    ledger.batch(14, 2, 1, NOW);
    ledger.registered(NEXT_RUN, NOW);
    // The end that the archive had listed is lost again, but not more.
    assert_eq!(causes(&ledger), [(13, 13, Cause::RingFull), (16, 20, Cause::NodeRestart)]);
    assert_eq!(ledger.came_after_all(), [came(&[14..=15], 15)]);
    ledger.note_retracted(&came(&[14..=15], 15), false);
    assert_eq!(ledger.came_after_all(), []);
}

#[test]
fn a_ledger_forgets_the_oldest_of_many_ended_runs() {
    let mut ledger = Ledger::default();
    for run in 1..=40 {
        ledger.registered(Uuid::from_u128(run), NOW);
        ledger.batch(1, 1, 0, NOW);
    }
    let known: Vec<_> = ledger.known_runs().iter().map(|known| known.run.as_u128()).collect();
    assert_eq!(known, (24..=40).collect::<Vec<_>>());
}

#[test]
fn drops_reported_to_an_earlier_dac_explain_nothing() {
    let mut ledger = Ledger::default();
    ledger.registered(RUN, NOW);
    ledger.counters(120, 120, Drops { spool_full: 20, ..Drops::default() });
    ledger.batch(100, 1, 0, NOW);
    ledger.counters(130, 130, Drops { ring_full: 3, spool_full: 20, ..Drops::default() });
    ledger.batch(104, 1, 3, NOW);
    assert_eq!(causes(&ledger), [(1, 99, Cause::BeforeEpoch), (101, 103, Cause::RingFull)]);
}

#[test]
fn samples_a_dead_process_had_taken_are_lost_with_it() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.counters(4, 4, Drops::default());
    ledger.registered(NEXT_RUN, NOW);
    assert_eq!(ledger.batch(1, 1, 0, NOW), Verdict::New);
    assert_eq!(causes(&ledger), [(2, 4, Cause::NodeRestart)]);
    assert_eq!((ledger.last_sequence, ledger.unexplained), (1, 0));
}

#[test]
fn a_resumed_run_cannot_lower_its_count_of_taken_samples() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.counters(9, 9, Drops::default());
    ledger.counters(4, 4, Drops::default());
    assert_eq!(ledger.batch(2, 3, 0, NOW), Verdict::New);
    ledger.registered(NEXT_RUN, NOW);
    assert_eq!(causes(&ledger), [(5, 9, Cause::NodeRestart)]);
}

#[test]
fn lost_datagrams_have_that_cause_and_nothing_waits_for_them() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.lost_on_the_way(4, NOW);
    ledger.lost_on_the_way(3, NOW);
    assert_eq!(ledger.batch(2, 3, 0, NOW), Verdict::Duplicate);
    assert_eq!(ledger.batch(5, 1, 0, NOW), Verdict::New);
    assert_eq!(causes(&ledger), [(2, 4, Cause::Network)]);
}

#[test]
fn a_gateway_that_restarts_counts_the_losses_of_its_line_from_0() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    let lost = |network, spool_full| Drops { network, spool_full, ..Drops::default() };
    ledger.counters(10, 10, lost(6, 2));
    ledger.batch(10, 1, 8, NOW);
    ledger.counters(0, 0, lost(0, 0));
    // The device went on meanwhile: all before its batch is on the account of the new process.
    ledger.counters(20, 20, lost(19, 0));
    ledger.batch(20, 1, 19, NOW);
    ledger.counters(25, 25, lost(20, 3));
    ledger.batch(25, 1, 4, NOW);
    let expected = [
        (2, 3, Cause::SpoolFull),
        (4, 9, Cause::Network),
        (11, 19, Cause::Network),
        (21, 23, Cause::SpoolFull),
        (24, 24, Cause::Network),
    ];
    assert_eq!(causes(&ledger), expected);
}

#[test]
fn a_gateway_that_explains_what_is_here_already_explains_no_later_gap() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    ledger.batch(2, 99, 0, NOW);
    // Its process was killed: it knows only that the device is at 121.
    ledger.counters(121, 121, Drops { network: 120, ..Drops::default() });
    ledger.batch(121, 1, 120, NOW);
    ledger.counters(130, 130, Drops { network: 120, ring_full: 8, ..Drops::default() });
    ledger.batch(130, 1, 8, NOW);
    assert_eq!(causes(&ledger), [(101, 120, Cause::Network), (122, 129, Cause::RingFull)]);
}

/// Found by the model of two DACs.
#[test]
fn a_first_batch_of_an_earlier_connection_does_not_make_samples_of_another_dac_unexplained() {
    let mut ledger = Ledger::default();
    ledger.registered(Uuid::from_u128(1), Nanos(0));
    ledger.connected(0, Drops::default(), Nanos(0));
    ledger.counters(4, 0, Drops::default());
    // The node was at another DAC, which has 1 to 3, and is back. Its first connection still brings 1.
    let dropped = Drops { ring_full: 1, ..Drops::default() };
    ledger.connected(3, dropped, Nanos(1));
    ledger.counters(4, 3, dropped);
    assert_eq!(ledger.batch(1, 1, 0, Nanos(2)), Verdict::New);
    assert_eq!(ledger.batch(4, 1, 0, Nanos(3)), Verdict::New);
    assert_eq!((causes(&ledger), ledger.unexplained), (vec![(2, 3, Cause::OtherDac)], 0));
}

#[test]
fn samples_sent_before_the_node_connected_are_before_the_epoch() {
    let mut ledger = Ledger::default();
    ledger.registered(RUN, NOW);
    ledger.joined_at(7, NOW);
    ledger.joined_at(9, NOW);
    ledger.lost_on_the_way(8, NOW);
    assert_eq!(causes(&ledger), [(1, 7, Cause::BeforeEpoch), (8, 8, Cause::Network)]);
}

#[test]
fn totals_of_causes_outlive_the_gaps_that_are_listed() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    let gaps = GAPS_KEPT as u64 + 10;
    for gap in 0..gaps {
        ledger.counters(2 * gap + 3, 2 * gap + 3, Drops { ring_full: gap + 1, ..Drops::default() });
        ledger.batch(2 * gap + 3, 1, 1, NOW);
    }
    assert_eq!((ledger.gaps.len(), ledger.gaps_forgotten), (GAPS_KEPT, 10));
    assert_eq!(ledger.causes, BTreeMap::from([(Cause::RingFull, gaps)]));
}

#[test]
fn hostile_numbers_neither_panic_nor_wrap() {
    let mut ledger = ledger_that_met_the_node_from_its_start();
    assert_eq!(ledger.batch(u64::MAX, 2, 0, NOW), Verdict::Overlap);
    assert_eq!(ledger.batch(u64::MAX, 0, 0, NOW), Verdict::Overlap);
    assert_eq!(ledger.batch(u64::MAX, 1, u64::MAX, NOW), Verdict::Jump);
    let far = ledger.highest_plausible(NOW);
    assert_eq!(ledger.batch(far, 1, u64::MAX, NOW), Verdict::New);
    assert_eq!(ledger.batch(far, 1, u64::MAX, Nanos(u64::MAX)), Verdict::Duplicate);
    ledger.counters(
        u64::MAX,
        u64::MAX,
        Drops { ring_full: u64::MAX, spool_full: u64::MAX, ..Drops::default() },
    );
    ledger.registered(NEXT_RUN, NOW);
    assert!(!ledger.not_in_recording(0..=u64::MAX, Cause::Network, NOW));
    assert!(!ledger.not_in_recording(u64::MAX..=u64::MAX, Cause::Network, NOW));
    assert!(ledger.not_in_recording(0..=5, Cause::Network, NOW));
    assert!(!ledger.lost_on_the_way(u64::MAX, NOW));
}

proptest! {
    #[test]
    fn received_and_missing_add_up_to_the_last_sequence(
        steps in proptest::collection::vec((0_u64..5, 1_u64..5, 0_u64..6), 1..50),
    ) {
        let mut ledger = Ledger::default();
        ledger.registered(RUN, NOW);
        for (skipped, count, dropped) in steps {
            ledger.batch(ledger.last_sequence + 1 + skipped, count, dropped, NOW);
            prop_assert_eq!(ledger.received + ledger.missing, ledger.last_sequence);
            let listed: u64 = ledger.gaps.iter().map(|gap| gap.count).sum();
            prop_assert_eq!(listed, ledger.missing);
            prop_assert_eq!(ledger.causes.values().sum::<u64>(), ledger.missing);
        }
    }

    /// A replay reports ranges of numbers in order, some of them missing. Connections break, and DACs end with or without an archive. Ranges without an
    /// acknowledgement are reported again.
    #[test]
    fn nothing_of_a_replay_is_unexplained_or_there_twice_however_connections_and_dacs_end(
        pieces in proptest::collection::vec((any::<bool>(), 1_u64..5), 1..30),
        lives in proptest::collection::vec((0_usize..30, 0_usize..30, 0_usize..3, any::<bool>()), 0..8),
    ) {
        let mut last = 0;
        let pieces: Vec<_> = pieces
            .into_iter()
            .map(|(is_batch, count)| {
                let first = last + 1;
                last += count;
                (is_batch, first..=last)
            })
            .collect();
        let tell = |ledger: &mut Ledger, (is_batch, numbers): &(bool, RangeInclusive<u64>)| {
            let (first, count) = (*numbers.start(), numbers.end() - numbers.start() + 1);
            match is_batch {
                true => ledger.batch(first, count, 0, NOW),
                false => {
                    ledger.not_in_recording(numbers.clone(), Cause::RingFull, NOW);
                    Verdict::New
                }
            }
        };
        let mut ledger = Ledger::default();
        ledger.registered(RUN, NOW);
        let mut acknowledged = 0;
        for (received, heard, kind, has_archive) in lives {
            let received = (acknowledged + received).min(pieces.len());
            for piece in &pieces[acknowledged..received] {
                prop_assert_ne!(tell(&mut ledger, piece), Verdict::Overlap);
            }
            acknowledged = (acknowledged + heard).min(received);
            if kind == 0 {
                // Batches are stored whole, in order.
                let stored = pieces[..received / 2].iter().rev().find(|(is_batch, _)| *is_batch);
                let stored = stored.map_or(0, |(_, numbers)| *numbers.end());
                ledger = if has_archive { restored(RUN, stored) } else { Ledger::default() };
                ledger.registered(RUN, NOW);
            } else {
                ledger.registered(RUN, NOW);
            }
        }
        for piece in &pieces[acknowledged..] {
            prop_assert_ne!(tell(&mut ledger, piece), Verdict::Overlap);
        }
        prop_assert_eq!(ledger.unexplained, 0);
        if acknowledged < pieces.len() {
            prop_assert_eq!(ledger.last_sequence, last);
        }
        prop_assert_eq!(ledger.received + ledger.missing + ledger.stored_before, ledger.last_sequence);
    }
}

#[test]
fn many_ledgers_keep_fewer_gaps_each_and_count_the_others() {
    let room = GapRoom::new(100 * 64 * size_of::<Gap>());
    let mut ledger = Ledger::default();
    ledger.share(room.clone());
    ledger.registered(Uuid::from_u128(1), Nanos(0));
    let lose = |ledger: &mut Ledger, times: std::ops::Range<u64>| {
        times.for_each(|number| assert_eq!(ledger.batch(2 * number, 1, 0, Nanos(number)), Verdict::New));
    };
    room.divide(1);
    lose(&mut ledger, 1..301);
    assert_eq!((ledger.gaps.len(), ledger.gaps_forgotten, ledger.missing), (256, 44, 300));
    room.divide(100);
    lose(&mut ledger, 301..302);
    assert_eq!((ledger.gaps.len(), ledger.gaps_forgotten, ledger.missing), (64, 237, 301));
    assert!(ledger.gaps.capacity() < 256);
    assert_eq!(ledger.gaps.back().unwrap().to_sequence, 601);
    // However many there are, each can say something.
    room.divide(1_000_000);
    lose(&mut ledger, 302..303);
    assert_eq!(ledger.gaps.len(), 8);
}

#[test]
fn samples_that_a_stopped_node_did_not_take_are_missing_with_their_cause() {
    let mut ledger = Ledger::default();
    ledger.registered(RUN, NOW);
    ledger.counters(0, 0, Drops::default());
    assert_eq!(ledger.batch(1, 3, 0, NOW), Verdict::New);
    ledger.counters(6_010, 6_010, Drops { not_taken: 6_000, ..Drops::default() });
    assert_eq!(ledger.batch(6_004, 7, 6_000, NOW), Verdict::New);
    assert_eq!(ledger.causes, [(Cause::NotTaken, 6_000)].into());
    assert_eq!((ledger.missing, ledger.unexplained, ledger.accounted()), (6_000, 0, 6_010));
}

#[test]
fn an_instance_with_another_type_continues_the_account() {
    let mut former = restored(RUN, 40);
    former.registered(RUN, NOW);
    assert_eq!(former.batch(41, 10, 0, NOW), Verdict::New);
    former.dropped_after(50, 52, Drops { ring_full: 2, ..Drops::default() }, NOW);
    let mut ledger = Ledger::default();
    ledger.replace(former);
    ledger.registered(RUN, NOW);
    assert_eq!((ledger.received_before, ledger.gaps_before()), (10, 1));
    let same_numbers = ledger.clone();
    ledger.continue_after(52);
    assert_eq!(ledger.batch(53, 5, 0, NOW), Verdict::New);
    let account = |ledger: &Ledger| (ledger.received, ledger.missing, ledger.unexplained, ledger.accounted());
    assert_eq!(account(&ledger), (15, 2, 0, 17));
    assert_eq!(ledger.received + ledger.missing + ledger.stored_before, ledger.last_sequence);
    assert_eq!((ledger.first_sequence, causes(&ledger)), (41, vec![(51, 52, Cause::RingFull)]));
    // A sample that had a number, and did not come.
    let mut lacking = same_numbers.clone();
    lacking.continue_after(53);
    assert_eq!(lacking.batch(54, 1, 0, NOW), Verdict::New);
    assert_eq!(causes(&lacking)[1..], [(53, 53, Cause::Unexplained)]);
    // The numbers of a node that registers anew begin with 1.
    let mut anew = same_numbers;
    assert_eq!(anew.batch(1, 3, 0, NOW), Verdict::New);
    assert_eq!((account(&anew), anew.last_sequence), ((13, 2, 0, 15), 3));
}
