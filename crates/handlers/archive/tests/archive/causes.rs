//! Why samples are missing is known for as long as it is known that they are.

use super::{ROOM, copy_of, segment_files};
use crate::{
    plant::{self, Node, Plant, STEP, config, counter_of},
    rollups::{eventually, small_files, wait_for_rollups},
};
use oasis_archive::NotStored;
use oasis_history::{SampleOrMissing, Samples};
use oasis_rollup::{cells::Level, points::Span};
use oasis_store::{ArchiveConfig, History, LossTracker, Missing, RetentionRule};
use oasis_wire::loss::Cause;
use std::{collections::BTreeMap, fs, ops::RangeInclusive, path::Path, sync::atomic::AtomicBool};
use uuid::Uuid;

type Lost = BTreeMap<String, u64>;

/// Returns the missing samples by cause, as its points report them.
fn lost(plant: &Plant, to: u64, points: u32) -> (Level, Lost) {
    let span = Span { from: 0, to: to * STEP, is_open: false, points };
    let points = oasis_query::points(&plant.archive.history(), "plant", "counter", span).unwrap();
    let mut lost = Lost::new();
    for gap in &points.gaps {
        *lost.entry(gap.cause.word().to_owned()).or_default() += gap.samples;
    }
    (points.level, lost)
}

#[test]
fn old_gaps_keep_their_causes_when_ledger_and_files_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    // A topic log with little more room than a batch takes.
    let mut plant = Plant::start(small_files(folder.path()), &node, 2_000);
    for _ in 0..20 {
        node.take(40);
        plant.send(&mut node, true);
        plant.flush().unwrap();
        node.drop_samples(3);
    }
    // The archive lags: evicted samples begin with those that the node had dropped.
    for _ in 0..20 {
        node.take(40);
        plant.send(&mut node, true);
    }
    plant.flush().unwrap();
    let behind = plant.account().missing;
    assert!(behind > 0);
    // The process ends with seven samples that it had not delivered. The next one has dropped many before it meets the DAC.
    let mut again = Node::new(2);
    plant.restart_node(node.taken() + 7, &again);
    again.drop_samples(node.taken() + 7);
    again.take(40);
    plant.send(&mut again, true);
    plant.flush().unwrap();

    let ring_full = 20 * 3 + node.taken() + 7;
    let expected: Lost = [("ring_full", ring_full), ("archive_lag", behind), ("node_restart", 7)]
        .map(|(c, n)| (c.into(), n))
        .into();
    let to = again.taken();
    let check = |plant: &Plant, points: u32, level: Level| {
        assert_eq!(lost(plant, to, points), (level, expected.clone()))
    };
    check(&plant, 10_000, Level::Raw);
    check(&plant, 1, Level::Second);
    // A crash now, before anything was listed that is listed once a second.
    let copy = copy_of(folder.path());
    let crashed = Plant::start(small_files(copy.path()), &again, ROOM);
    check(&crashed, 10_000, Level::Raw);
    wait_for_rollups(&crashed);
    check(&crashed, 1, Level::Second);
    crashed.stop();

    plant.stop();
    let none_stays = vec![RetentionRule { instances: "*".into(), days: 0, bytes: 1 }];
    let gone = ArchiveConfig { retention: none_stays, ..small_files(folder.path()) };
    Plant::start(gone.clone(), &again, ROOM).stop();
    // The second start knows of nothing but roll-ups: with the files, the catalogue has removed the losses of the
    // ledgers.
    let plant = Plant::start(gone, &again, ROOM);
    eventually("no file has gone", || segment_files(folder.path()).is_empty());
    check(&plant, 1, Level::Second);
    check(&plant, 10_000, Level::Second);
}

/// Returns the missing samples by cause, as a reader of every sample finds them.
fn missing(plant: &Plant) -> Lost {
    let mut samples = Samples::new(&plant.archive.history(), ("plant", "counter"), 0, None, 4_096);
    let mut lost = Lost::new();
    while let Some(item) = samples.next().unwrap() {
        if let SampleOrMissing::Missing(missing) = item {
            *lost.entry(missing.cause.word().to_owned()).or_default() += missing.count;
        }
    }
    lost
}

#[test]
fn samples_that_came_after_the_end_of_their_run_are_not_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    node.take(40);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    // Its process ends, and another one begins before the file spool of the first was sent.
    let mut other = Node::new(2);
    plant.restart_node(node.taken() + 60, &other);
    other.take(10);
    plant.send(&mut other, true);
    plant.flush().unwrap();
    assert_eq!(missing(&plant), Lost::from([("node_restart".into(), 60)]));
    plant.stop();
    // Another run of the DAC knows both runs, and the first continues.
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    node.take(40);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    assert_eq!(missing(&plant), Lost::from([("node_restart".into(), 20)]));
    plant.restart_node(0, &other);
    other.take(1);
    plant.send(&mut other, true);
    plant.flush().unwrap();
    assert_eq!(missing(&plant), Lost::from([("node_restart".into(), 20)]));
}

#[test]
fn damage_in_a_recovered_file_has_that_cause() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let one_file = |folder: &Path| ArchiveConfig { segment_bytes: 1 << 30, ..config(folder) };
    let mut plant = Plant::start(one_file(folder.path()), &node, ROOM);
    // The second commit shows that the first was synced.
    for _ in 0..2 {
        for _ in 0..20 {
            node.take(40);
            plant.send(&mut node, true);
        }
        plant.flush().unwrap();
    }
    let copy = copy_of(folder.path());
    let file = &segment_files(copy.path())[0];
    let mut bytes = fs::read(file).unwrap();
    let in_first = bytes.len() / 4;
    bytes[in_first] ^= 1;
    fs::write(file, bytes).unwrap();
    let plant = Plant::start(one_file(copy.path()), &node, ROOM);
    let gaps = plant.past(0, None).gaps;
    assert!(matches!(gaps[..], [(from, to, "damaged")] if to - from == 40), "{gaps:?}");
    let expected = Lost::from([("damaged".into(), 40)]);
    assert_eq!(lost(&plant, node.taken(), 10_000), (Level::Raw, expected.clone()));
    wait_for_rollups(&plant);
    assert_eq!(lost(&plant, node.taken(), 1), (Level::Second, expected));
}

/// An archive with some samples, on whose disk nothing fits any more.
#[test]
fn samples_of_a_file_that_somebody_removed_are_not_said_to_be_evicted() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 20);
    plant.stop();
    let files = segment_files(folder.path());
    fs::remove_file(&files[files.len() / 2]).unwrap();
    let causes = |read: &plant::Read| read.gaps.iter().map(|gap| gap.2).collect::<Vec<_>>();
    assert_eq!(causes(&plant::read_alone(folder.path())), ["damaged"]);
    // The next start finds that the file is gone.
    let plant = Plant::start(small_files(folder.path()), &Node::new(2), ROOM);
    plant.stop();
    assert_eq!(causes(&plant::read_alone(folder.path())), ["damaged"]);
}

fn on_a_full_disk(folder: &Path, node: &mut Node, topic_bytes: usize) -> Plant {
    let mut plant = Plant::start(config(folder), node, ROOM);
    plant.fill(node, 2);
    plant.stop();
    Plant::start(ArchiveConfig { min_free_bytes: u64::MAX, ..config(folder) }, node, topic_bytes)
}

#[test]
fn losses_of_a_full_disk_are_counted_at_once_and_known_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    // The topic log has little more room than a batch takes.
    let mut plant = on_a_full_disk(folder.path(), &mut node, 2_000);
    let mut counted = Vec::new();
    for _ in 0..20 {
        node.take(40);
        plant.send(&mut node, true);
        plant.flush().unwrap_err();
        counted.push(plant.archive.counters().missing);
    }
    assert!(counted.is_sorted() && *counted.last().unwrap() > 600, "{counted:?}");
    let account = plant.account();
    assert_eq!((account.missing, account.stored, account.gaps.len()), (*counted.last().unwrap(), 0, 1));
    assert_eq!(account.gaps[0].cause.word(), "disk_full");
    plant.stop_unstored();

    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    node.take(40);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    let expected: Lost = [("disk_full".to_owned(), 20 * 40)].into();
    assert_eq!(lost(&plant, node.taken(), 10_000).1, expected);
    let (span, go_on) = (0..node.taken() * STEP, AtomicBool::new(false));
    let summary = oasis_query::summarize(&plant.archive.history(), "plant", "counter", span, &go_on).unwrap();
    let summed: Lost =
        summary.unwrap().lost.into_iter().map(|(cause, lost)| (cause.word().to_owned(), lost)).collect();
    assert_eq!(summed, expected);
    plant.stop();
}

type LossesByCause = Vec<(String, Option<RangeInclusive<u64>>)>;

/// Follows an instance's samples as consecutive sequence numbers.
struct Follower(LossTracker);

impl Follower {
    fn new(folder: &Path, from: u64) -> Self {
        Self(LossTracker::new(&History::open(folder).unwrap(), from))
    }

    fn follow(&mut self, run: u128, numbers: RangeInclusive<u64>) -> LossesByCause {
        let missing = self.0.before(&counter_of("plant", run), *numbers.start()).unwrap();
        self.0.pass(*numbers.end());
        Self::found(missing)
    }

    fn ends(&mut self) -> LossesByCause {
        Self::found(self.0.after_last("plant", "counter", false).unwrap())
    }

    fn found(missing: Vec<Missing>) -> LossesByCause {
        missing.into_iter().map(|missing| (missing.cause.word().to_owned(), missing.numbers)).collect()
    }
}

/// An archive with samples 1 to 40 and 51 to 90; the ring had no room for those between.
fn with_a_hole(folder: &Path) {
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder), &node, ROOM);
    plant.fill(&mut node, 1);
    node.drop_samples(10);
    plant.fill(&mut node, 1);
    plant.stop();
}

#[test]
fn a_gap_is_reported_once_also_where_older_samples_follow_later_ones() {
    let folder = tempfile::tempdir().unwrap();
    with_a_hole(folder.path());
    let gap = |cause: &str, numbers| (cause.to_owned(), Some(numbers));
    let mut follower = Follower::new(folder.path(), 0);
    assert_eq!(follower.follow(1, 1..=40), []);
    assert_eq!(follower.follow(1, 51..=90), [gap("ring_full", 41..=50)]);
    // As an import leaves it.
    assert_eq!(follower.follow(1, 20..=30), []);
    assert_eq!(follower.follow(1, 91..=95), []);
    assert_eq!(follower.ends(), []);
}

#[test]
fn a_gap_within_samples_that_follow_later_ones_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    with_a_hole(folder.path());
    let gap = |cause: &str, numbers| (cause.to_owned(), Some(numbers));
    let mut follower = Follower::new(folder.path(), 0);
    assert_eq!(follower.follow(1, 61..=90), [gap("ring_full", 41..=50)]);
    assert_eq!(follower.follow(2, 1..=9), []);
    assert_eq!(follower.follow(1, 1..=20), []);
    assert_eq!(follower.follow(1, 31..=35), [gap("unexplained", 21..=30)]);
    // Reported gaps are not reported again, nor are present samples.
    assert_eq!(follower.follow(1, 56..=58), [gap("unexplained", 36..=40), gap("unexplained", 51..=55)]);
    assert_eq!(follower.follow(1, 91..=91), [gap("unexplained", 59..=60)]);
    assert_eq!(follower.ends(), []);
}

#[test]
fn more_pieces_than_are_kept_cost_no_hole_that_is_read_forward() {
    let folder = tempfile::tempdir().unwrap();
    with_a_hole(folder.path());
    let mut follower = Follower::new(folder.path(), 0);
    follower.follow(2, 1..=9);
    // Backwards, so that each is a piece of its own, and more than are kept of a run.
    for piece in (100..1_300).rev() {
        follower.follow(1, piece * 10..=piece * 10 + 5);
    }
    let expected = [("unexplained".to_owned(), Some(13_006..=13_999))];
    follower.follow(1, 12_996..=13_005);
    assert_eq!(follower.follow(1, 14_000..=14_001), expected);
    assert_eq!(follower.ends(), []);
}

#[test]
fn losses_where_nothing_was_read_are_reported_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    with_a_hole(folder.path());
    let gap = |numbers| ("ring_full".to_owned(), Some(numbers));
    let mut follower = Follower::new(folder.path(), 0);
    assert_eq!(follower.follow(1, 45..=46), [gap(41..=44)]);
    assert_eq!(follower.follow(2, 1..=9), [gap(47..=50)]);
    assert_eq!(follower.ends(), []);
    // Samples before those of the time that is asked for are not missing.
    let mut follower = Follower::new(folder.path(), 1);
    assert_eq!(follower.follow(1, 60..=90), []);
    assert_eq!(follower.follow(1, 1..=20), []);
    assert_eq!(follower.follow(1, 31..=35), []);
    assert_eq!(follower.ends(), []);
    // Two recordings that end and begin around it.
    let mut follower = Follower::new(folder.path(), 0);
    assert_eq!(follower.follow(2, 1..=9), []);
    assert_eq!(follower.follow(1, 1..=20), []);
    assert_eq!(follower.follow(2, 10..=19), [gap(41..=50)]);
    assert_eq!(follower.follow(1, 60..=90), []);
    assert_eq!(follower.ends(), []);
}

#[test]
fn losses_of_a_full_disk_have_their_cause_in_each_run_that_ended_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = on_a_full_disk(folder.path(), &mut node, ROOM);
    let send = |plant: &mut Plant, node: &mut Node| {
        node.take(40);
        plant.send(node, true);
        plant.flush().unwrap_err();
    };
    send(&mut plant, &mut node);
    let mut again = Node::new(2);
    plant.restart_node(node.taken(), &again);
    send(&mut plant, &mut again);
    plant.stop_unstored();

    let sql = oasis_query::Sql::open(folder.path()).unwrap();
    let gaps = "SELECT group_concat(run || ' ' || from_sequence || '-' || to_sequence || ' ' || cause, ', ') FROM (SELECT * FROM gaps ORDER BY run)";
    let [first, second] = [1, 2].map(Uuid::from_u128);
    assert_eq!(crate::sql::one(&sql, gaps), format!("{first} 81-120 disk_full, {second} 1-40 disk_full"));
}

#[test]
fn samples_evicted_unstored_are_missing_in_their_own_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    // The topic log has little more room than a batch takes.
    let mut plant = Plant::start(config(folder.path()), &node, 2_000);
    plant.fill(&mut node, 2);
    plant.pause();
    let send = |plant: &mut Plant, node: &mut Node, batches: u64| {
        for _ in 0..batches {
            node.take(40);
            plant.send(node, true);
        }
    };
    send(&mut plant, &mut node, 3);
    let mut again = Node::new(2);
    plant.restart_node(node.taken(), &again);
    send(&mut plant, &mut again, 4);
    let mut last = Node::new(3);
    plant.restart_node(again.taken(), &last);
    send(&mut plant, &mut last, 5);
    plant.resume();
    while plant.flush() == Err(NotStored::Stopped) {
        std::thread::yield_now();
    }
    plant.stop();

    let history = History::open(folder.path()).unwrap();
    let mut samples = Samples::new(&history, ("plant", "counter"), 0, None, 1 << 20);
    let (mut stored, mut lost) = ([0; 3], [0; 3]);
    while let Some(next) = samples.next().unwrap() {
        let of_run = |run: Uuid| run.as_u128() as usize - 1;
        match next {
            SampleOrMissing::Sample(series, ..) => stored[of_run(series.run)] += 1,
            SampleOrMissing::Missing(missing) => {
                assert_eq!(missing.cause, Cause::ArchiveStopped);
                lost[of_run(missing.run)] += missing.count;
            }
        }
    }
    // The log has two batches.
    assert_eq!((stored, lost), ([80, 0, 80], [120, 160, 120]));
}
