//! One reader over archive and topic log: every sample once, whatever is stored, evicted or restarted meanwhile.

use crate::{
    numbers,
    plant::{Node, Plant, STEP, config, runs},
};
use oasis_handler::InstanceLog;
use oasis_history::{Batch, HistoryPart, NextStep, Reader, SampleOrMissing, Samples, Start};
use oasis_store::Newest;
use oasis_wire::{
    batch,
    loss::Cause,
    quantity::{Epoch, Offset, PortablePosition, Position},
    value::Value,
};
use proptest::prelude::*;
use std::sync::Arc;

/// Capacity at which the log keeps only a few batches.
const LITTLE: usize = 8 * 1024;

/// A reader of the plant's counter, and what it got.
struct Follower {
    reader: Reader,
    numbers: Vec<u64>,
    gaps: Vec<(Option<std::ops::Range<u64>>, Cause)>,
    /// Gaps of samples that never reached the log, by the batches after them: first and last sequence number.
    gaps_before: Vec<(Cause, u64, u64)>,
    types: usize,
}

impl Follower {
    fn new(plant: &Plant, start: Start, until: Option<u64>) -> Self {
        let instance = plant.dac.registry.find("plant", "counter").unwrap();
        let reader = Reader::new("plant", "counter", start)
            .with_archive(plant.archive.history())
            .with_type(instance.probe_type.clone())
            .with_log(Arc::new(InstanceLog(instance)))
            .until(until);
        Self { reader, numbers: Vec::new(), gaps: Vec::new(), gaps_before: Vec::new(), types: 0 }
    }

    /// Reads until the log has no more. Returns whether the end of the time was reached.
    fn catch_up(&mut self, plant: &Plant, bytes: usize) -> bool {
        loop {
            let read = self.reader.read(bytes).unwrap();
            let is_empty = read.pieces.is_empty();
            read.pieces.into_iter().for_each(|(piece, after)| self.take(piece, after));
            match read.then {
                NextStep::Flush => plant.flush().unwrap(),
                NextStep::TimeEnd => return true,
                NextStep::Log { .. } if is_empty => return false,
                NextStep::More | NextStep::Log { .. } => {}
                NextStep::ArchiveEnd => panic!("there is a log"),
            }
        }
    }

    fn take(&mut self, piece: HistoryPart, after: Position) {
        match piece {
            HistoryPart::Samples(Batch { series, bytes, wanted, gaps_before, .. }) => {
                assert_eq!(wanted.end, after.offset);
                let gaps = gaps_before.iter().flat_map(|gaps| gaps.iter());
                self.gaps_before.extend(gaps.map(|gap| (gap.cause, gap.from_sequence, gap.to_sequence)));
                let batch = batch::Batch::parse(&bytes, &series.probe_type).unwrap();
                let wanted = batch.samples().filter(|sample| wanted.contains(&Offset(sample.offset)));
                self.numbers.extend(wanted.map(|sample| match sample.values[0] {
                    Value::Uint(number) => number,
                    ref other => panic!("{other:?}"),
                }));
            }
            HistoryPart::Gap { offsets, cause, .. } => {
                self.gaps.push((offsets.map(|range| range.start.0..range.end.0), cause));
            }
            HistoryPart::Epoch => {}
            HistoryPart::Type(_) => self.types += 1,
        }
    }

    fn runs(&self) -> Vec<(u64, u64)> {
        runs(self.numbers.iter().copied())
    }
}

#[test]
fn a_reader_of_samples_that_only_the_archive_has_goes_over_to_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
    plant.fill(&mut node, 100);
    let log = &plant.dac.registry.find("plant", "counter").unwrap().log;
    assert!(log.state().first_offset > Offset(1_000), "the log has evicted most samples");

    for start in [Start::Time(0), Start::Position(Position { epoch: plant.epoch(), offset: Offset(0) })] {
        let mut follower = Follower::new(&plant, start, None);
        assert!(!follower.catch_up(&plant, 10_000));
        assert_eq!((follower.runs(), follower.gaps.len()), (numbers(0..4_000), 0));
    }
    let newest = Start::Newest(Newest::new(0..u64::MAX, 3_333));
    let mut follower = Follower::new(&plant, newest, None);
    follower.catch_up(&plant, 10_000);
    assert_eq!(follower.runs(), numbers(667..4_000));
}

#[test]
fn gaps_before_batches_are_the_same_in_the_archive_and_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
    let mut expected = Vec::new();
    for dropped in 1..=9 {
        plant.fill(&mut node, 10);
        let taken = node.taken();
        node.drop_samples(dropped);
        expected.push((Cause::RingFull, taken + 1, taken + dropped));
    }
    plant.fill(&mut node, 10);
    let log = &plant.dac.registry.find("plant", "counter").unwrap().log;
    let first = log.state().first_offset;
    assert!(
        first > Offset(1_000)
            && log.read(first, usize::MAX).segments.iter().any(|held| held.gaps_before().is_some())
    );
    let mut follower = Follower::new(&plant, Start::Time(0), None);
    follower.catch_up(&plant, 10_000);
    assert_eq!(follower.gaps_before, expected);
    // One that begins later learns only of what is missing from there on.
    let at = Position { epoch: plant.epoch(), offset: Offset(1_000) };
    let mut follower = Follower::new(&plant, Start::Position(at), None);
    follower.catch_up(&plant, 10_000);
    assert_eq!(follower.gaps_before, expected[2..]);
}

#[test]
fn a_reader_stops_where_its_time_ends_in_the_archive_and_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
    plant.fill(&mut node, 100);
    for until in [1_001, 3_999] {
        let mut follower = Follower::new(&plant, Start::Time(7 * STEP), Some(until * STEP));
        assert!(follower.catch_up(&plant, 10_000), "{until}");
        assert_eq!(follower.runs(), numbers(7..until));
        assert!(follower.catch_up(&plant, 10_000), "the end stays the end");
    }
}

#[test]
fn samples_that_neither_has_are_one_gap_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    // Nothing of this instance is archived.
    let mut config = config(folder.path());
    config.retention = vec![oasis_store::RetentionRule { instances: "other/*".into(), days: 0, bytes: 0 }];
    let mut plant = Plant::start(config, &node, LITTLE);
    plant.fill(&mut node, 100);
    let first = plant.dac.registry.find("plant", "counter").unwrap().log.state().first_offset.0;
    let start = Position { epoch: plant.epoch(), offset: Offset(5) };
    let mut follower = Follower::new(&plant, Start::Position(start), None);
    follower.catch_up(&plant, 10_000);
    assert_eq!(follower.gaps, [(Some(5..first), Cause::LogRetention)]);
    assert_eq!(follower.runs(), numbers(first..4_000));
}

#[test]
fn a_change_of_type_precedes_its_first_sample() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
    plant.fill(&mut node, 10);
    plant.change_type();
    let mut follower = Follower::new(&plant, Start::Time(0), None);
    follower.catch_up(&plant, 10_000);
    // The reader knows the new type. It reports the change to the old type, and the change back.
    assert_eq!((follower.runs(), follower.types), (numbers(0..400), 2));
}

#[test]
fn samples_of_an_archive_come_with_the_gaps_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, 8 * 1024 * 1024);
    node.take(10);
    plant.send(&mut node, true);
    node.drop_samples(4);
    node.take(10);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    let mut samples = Samples::new(&plant.archive.history(), ("plant", "counter"), 0, None, 1_000);
    let (mut read, mut missing) = (Vec::new(), Vec::new());
    while let Some(found) = samples.next().unwrap() {
        match found {
            SampleOrMissing::Sample(_, _, sample) => read.push(sample.sequence),
            SampleOrMissing::Missing(some) => missing.push((read.len(), some.count, some.cause)),
        }
    }
    assert_eq!(runs(read), [(1, 11), (15, 25)]);
    assert_eq!(missing, [(10, 4, Cause::RingFull)]);
    assert!(samples.next().unwrap().is_none(), "the end stays the end");
}

#[test]
fn a_position_in_an_epoch_of_which_nothing_is_stored_goes_on_with_all_of_the_present_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
    plant.fill(&mut node, 100);
    let start = Position { epoch: Epoch(plant.epoch().0 - 1), offset: Offset(7) };
    let mut follower = Follower::new(&plant, Start::Position(start), None);
    follower.catch_up(&plant, 10_000);
    assert_eq!(follower.gaps, [(None, Cause::EpochChanged)]);
    assert_eq!(follower.runs(), numbers(0..4_000));
}

#[test]
fn a_reader_of_another_dac_goes_on_where_its_run_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
    plant.fill(&mut node, 50);
    node.drop_samples(4);
    plant.fill(&mut node, 50);
    let run = plant.dac.registry.find("plant", "counter").unwrap().ledger().run().unwrap();
    let elsewhere = Position { epoch: Epoch(plant.epoch().0 - 1), offset: Offset(7) };
    let resumed = |run, sequence| Start::Resumed(Some(elsewhere), PortablePosition { run, sequence });
    let read = |start| {
        let mut follower = Follower::new(&plant, start, None);
        follower.catch_up(&plant, 10_000);
        (follower.runs(), follower.gaps)
    };
    // The first number is the sequence number 1.
    assert_eq!(read(resumed(run, 1_501)), (vec![(1_500, 2_000), (2_004, 4_004)], vec![]));
    assert_eq!(read(resumed(run, 2_001)), (vec![(2_004, 4_004)], vec![]));
    assert_eq!(read(resumed(run, 3_006)), (vec![(3_005, 4_004)], vec![]));
    assert_eq!(read(resumed(run, 4_005)), (vec![], vec![]));
    let (all, gaps) = read(resumed(uuid::Uuid::from_u128(77), 3_006));
    assert_eq!((all, gaps[0].clone()), (vec![(0, 2_000), (2_004, 4_004)], (None, Cause::EpochChanged)));
}

#[test]
fn samples_that_come_and_are_evicted_after_the_reader_has_caught_up_are_read_from_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
    plant.fill(&mut node, 1);
    let start = Position { epoch: plant.epoch(), offset: Offset(0) };
    drop(plant.stop());
    plant = Plant::start(config(folder.path()), &node, LITTLE);
    let mut follower = Follower::new(&plant, Start::Position(start), None);
    // Nothing of the new epoch has arrived.
    follower.catch_up(&plant, 10_000);
    plant.fill(&mut node, 99);
    follower.catch_up(&plant, 10_000);
    assert_eq!((follower.runs(), follower.gaps.len()), (numbers(0..4_000), 0));
}

/// Events while a reader reads.
#[derive(Debug, Clone)]
enum Step {
    Send(u64),
    Store,
    Restart,
    Read(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..200_u64).prop_map(Step::Send),
        2 => Just(Step::Store),
        1 => Just(Step::Restart),
        3 => (100..20_000_usize).prop_map(Step::Read),
    ];
    proptest::collection::vec(step, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_sample_is_read_once_whatever_happens_meanwhile(steps in steps(), from in 0..400_u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut node = Node::new(1);
        let mut plant = Plant::start(config(folder.path()), &node, LITTLE);
        let mut follower = Follower::new(&plant, Start::Position(Position { epoch: plant.epoch(), offset: Offset(0) }), None);
        for step in steps {
            match step {
                Step::Send(count) => {
                    // The archive keeps up: what the log evicts was stored.
                    if plant.received() - plant.account().stored + count > 200 {
                        plant.flush().unwrap();
                    }
                    node.take(count);
                    plant.send(&mut node, true);
                }
                Step::Store => plant.flush().unwrap(),
                Step::Restart => {
                    // Its position is all that a reader takes along.
                    follower.catch_up(&plant, 5_000);
                    let at = follower.reader.read(1).unwrap().begin;
                    drop(plant.stop());
                    plant = Plant::start(config(folder.path()), &node, LITTLE);
                    let read = std::mem::take(&mut follower.numbers);
                    follower = Follower { numbers: read, ..Follower::new(&plant, Start::Position(at), None) };
                }
                Step::Read(bytes) => { follower.catch_up(&plant, bytes); }
            }
        }
        follower.catch_up(&plant, 5_000);
        prop_assert_eq!(follower.runs(), numbers(0..node.taken()));
        // One that comes late, at any time.
        let mut late = Follower::new(&plant, Start::Time(from * STEP), None);
        late.catch_up(&plant, 5_000);
        prop_assert_eq!(late.runs(), numbers(from.min(node.taken())..node.taken()));
    }
}
