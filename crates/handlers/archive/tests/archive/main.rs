//! Stored samples are there: over restarts, crashes, damage and a full disk.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod catalogue;
mod causes;
mod check;
mod clock;
mod folder;
mod import;
mod live_import;
mod plant;
mod quotas;
mod remembered;
mod rollups;
mod seam;
mod search;
mod sql;
mod test_runs;

use oasis_archive::NotStored;
use oasis_store::{ArchiveConfig, Condition, OpenError, RetentionRule};
use oasis_wire::quantity::{Offset, Position};
use plant::{Node, Plant, STEP, config};
use proptest::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
};

const ROOM: usize = 8 * 1024 * 1024;

/// A run of numbers, as [`plant::Read`] has it.
fn numbers(range: std::ops::Range<u64>) -> Vec<(u64, u64)> {
    if range.is_empty() { vec![] } else { vec![(range.start, range.end)] }
}

/// Copies the folder as `kill -9` would leave it: all that was handed to the system, without clean-up.
fn copy_of(directory: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match fs::copy(&path, copy.path().join(path.file_name().unwrap())) {
            // Roll-ups are made, renamed and merged meanwhile; what a copy lacks of them is made again.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            copied => drop(copied.unwrap()),
        }
    }
    copy
}

fn segment_files(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "oseg")).collect();
    files.sort();
    files
}

#[test]
fn stored_samples_are_read_from_any_time_to_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    assert!(segment_files(folder.path()).len() > 1, "more than one file was needed");
    for (from, until) in [(0, 2_000), (0, 0), (7, 8), (39, 41), (1_234, 1_777), (1_999, 2_000)] {
        let read = plant.past(from * STEP, Some(until * STEP));
        assert_eq!((read.numbers, read.gaps), (numbers(from..until), vec![]), "{from} {until}");
    }
    assert_eq!(plant.past(5 * STEP - 1, None).numbers, numbers(5..2_000));
    assert_eq!(plant.past(2_000 * STEP, None).numbers, numbers(0..0));
    let at = Position { epoch: plant.epoch(), offset: Offset(1_500) };
    assert_eq!(plant.past_at(at).numbers, numbers(1_500..2_000));
    let account = plant.account();
    assert_eq!((account.stored_offset, account.stored, account.missing), (Offset(2_000), 2_000, 0));
}

#[test]
fn the_newest_samples_of_a_time_are_found_over_files_and_lives_of_the_dac_without_reading_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    plant.stop();
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 1);
    let history = plant.archive.history();
    assert_eq!(history.reaches().unwrap()[&("plant".to_owned(), "counter".to_owned())], (0, 2_039 * STEP));
    assert_eq!(history.reach_of("plant", "counter").unwrap(), Some((0, 2_039 * STEP)));
    assert_eq!(history.reach_of("plant", "no counter").unwrap(), None);
    let always = 0..u64::MAX;
    for (times, samples, found) in [
        (always.clone(), 1, 2_039..2_040),
        (always.clone(), 40, 2_000..2_040),
        (always.clone(), 41, 1_999..2_040),
        (always.clone(), 1_500, 540..2_040),
        (always.clone(), 9_999, 0..2_040),
        (0..1_234 * STEP, 1, 1_233..1_234),
        (0..1_234 * STEP, 100, 1_134..1_234),
        (0..1_234 * STEP + 1, 1, 1_234..1_235),
        (1_200 * STEP..1_234 * STEP, 100, 1_200..1_234),
        (5_000 * STEP..6_000 * STEP, 100, 0..0),
        (0..0, 100, 0..0),
    ] {
        let read = plant.newest(times.clone(), samples, 40);
        assert_eq!((read.numbers, read.gaps), (numbers(found), vec![]), "{times:?} {samples}");
    }
    let before = plant.archive.history().file_reads();
    plant.newest(0..1_234 * STEP, 100, 40);
    assert!(plant.archive.history().file_reads() - before < 8, "a file or two");
}

#[test]
fn received_is_not_stored_before_its_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.flush().unwrap();
    node.take(10);
    plant.send(&mut node, true);
    assert_eq!((plant.received(), plant.account().stored), (10, 0));
    plant.flush().unwrap();
    assert_eq!((plant.received(), plant.account().stored), (10, 10));
}

#[test]
fn a_late_reader_receives_the_gaps_of_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    // Room for little more than the newest batch.
    let mut plant = Plant::start(config(folder.path()), &node, 2_000);
    plant.flush().unwrap();
    for _ in 0..20 {
        node.take(40);
        plant.send(&mut node, true);
    }
    plant.flush().unwrap();
    let read = plant.past(0, None);
    let first = read.numbers[0].0;
    assert_eq!(read.numbers, numbers(first..800));
    assert!(first > 0);
    let at = Position { epoch: plant.epoch(), offset: Offset(0) };
    assert_eq!(plant.past_at(at).gaps, [(0, first, "archive_lag")]);
    assert_eq!((plant.account().missing, plant.account().stored), (first, 800 - first));
}

#[test]
fn a_full_disk_stops_the_archive_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut config = config(folder.path());
    config.min_free_bytes = u64::MAX;
    let mut plant = Plant::start(config, &node, ROOM);
    node.take(10);
    plant.send(&mut node, true);
    let refused = plant.flush().unwrap_err();
    assert!(
        matches!(&refused, NotStored::DiskFull(detail) if detail.contains("min_free_bytes")),
        "{refused}"
    );
    assert_eq!(plant.archive.counters().condition, Condition::DiskFull);
    assert_eq!((plant.received(), plant.account().stored), (10, 0));
}

#[test]
fn a_folder_has_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::new(1);
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    let refused = oasis_store::open(config(folder.path()));
    assert!(matches!(refused, Err(OpenError::Locked(_))), "{refused:?}");
    plant.stop();
    oasis_store::open(config(folder.path())).unwrap();
}

#[test]
fn retention_evicts_the_oldest_files_and_readers_receive_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut config = config(folder.path());
    config.retention = vec![RetentionRule { instances: "plant/*".into(), days: 0, bytes: 40_000 }];
    let mut plant = Plant::start(config, &node, ROOM);
    plant.fill(&mut node, 200);
    let is_done = || plant.archive.counters().removed_files > 0;
    let start = std::time::Instant::now();
    while !is_done() {
        assert!(start.elapsed().as_secs() < 20, "nothing was removed");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    // More may be evicted while it reads: it receives all others as gaps.
    let read = plant.past_at(Position { epoch: plant.epoch(), offset: Offset(0) });
    assert_eq!((read.gaps[0].0, read.numbers.last().unwrap().1), (0, 8_000));
    assert!(read.gaps.iter().all(|gap| gap.2 == "archive_retention"), "{read:?}");
}

#[test]
fn a_catalogue_that_is_gone_is_made_again_from_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 30);
    plant.stop();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("catalogue") {
            fs::remove_file(path).unwrap();
        }
    }
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    assert_eq!(plant.past(0, None).numbers, numbers(0..1_200));
}

#[test]
fn a_file_that_is_not_listed_is_read_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 60);
    plant.stop();
    let catalogue = rusqlite::Connection::open(folder.path().join("catalogue.sqlite")).unwrap();
    catalogue.pragma_update(None, "foreign_keys", true).unwrap();
    assert_eq!(catalogue.execute("DELETE FROM segment WHERE number = 1", []).unwrap(), 1);
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..2_400));
}

#[test]
fn a_flipped_bit_costs_one_batch_and_is_located() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 10);
    let epoch = plant.epoch();
    plant.stop();
    let file = &segment_files(folder.path())[0];
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(file, &bytes).unwrap();
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    let read = plant.past_at(Position { epoch, offset: Offset(0) });
    let [(from, to, "damaged")] = read.gaps[..] else { panic!("{read:?}") };
    assert_eq!(to - from, 40);
    assert_eq!(read.numbers, [numbers(0..from), numbers(to..400)].concat());
    let findings = plant.archive.counters().findings;
    assert_eq!((findings.len(), findings[0].kind), (1, "damaged"));
    assert!(findings[0].from <= middle as u64);
}

/// As a power cut may leave it: a sector is lost, and later ones are not.
fn lose_sector(directory: &Path, at: u64) {
    let file = &segment_files(directory)[0];
    let mut bytes = fs::read(file).unwrap();
    let at = at as usize / 8 * 8;
    bytes[at..at + 512].fill(0);
    fs::write(file, &bytes).unwrap();
}

#[test]
fn samples_behind_a_hole_that_a_power_cut_left_are_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let one_file = ArchiveConfig { segment_bytes: 1 << 20, ..config(folder.path()) };
    let mut plant = Plant::start(one_file, &node, ROOM);
    let mut ends = vec![0];
    for _ in 0..3 {
        (0..10).for_each(|_| node.take(40));
        plant.send(&mut node, false);
        plant.flush().unwrap();
        ends.push(fs::metadata(&segment_files(folder.path())[0]).unwrap().len());
    }
    let middle_of = |commit: usize| (ends[commit] + ends[commit + 1]) / 2;

    let unsynced = copy_of(folder.path());
    lose_sector(unsynced.path(), middle_of(2));
    let mut again = Plant::start(config(unsynced.path()), &node, ROOM);
    let read = again.past(0, None);
    let stored = read.numbers[0].1;
    assert!(800 < stored && stored < 1_200, "{read:?}");
    assert_eq!((read.numbers, read.gaps.len()), (numbers(0..stored), 0));
    again.send(&mut node, false);
    again.flush().unwrap();
    assert_eq!(again.past(0, None).numbers, numbers(0..1_200));

    // A later commit shows that these bytes were synced, so this is damage: only what it hit is lost.
    let synced = copy_of(folder.path());
    lose_sector(synced.path(), middle_of(1));
    let again = Plant::start(config(synced.path()), &node, ROOM);
    let read = again.past(0, None);
    let [(from, to, "damaged")] = read.gaps[..] else { panic!("{read:?}") };
    assert!(400 < from && to < 800);
    assert_eq!(read.numbers, [numbers(0..from), numbers(to..1_200)].concat());
}

#[test]
fn an_unreadable_file_is_reported_and_costs_only_its_samples() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 60);
    let at = Position { epoch: plant.epoch(), offset: Offset(0) };
    let first = &segment_files(folder.path())[0];
    assert!(segment_files(folder.path()).len() > 1);
    // The file can be opened, and each read of it fails.
    fs::rename(first, folder.path().join("moved")).unwrap();
    fs::create_dir(first).unwrap();
    let read = plant.past_at(at);
    let [(0, to, "read_error")] = read.gaps[..] else { panic!("{read:?}") };
    assert_eq!(read.numbers, numbers(to..2_400));
    // Also for those who begin with it.
    let read = plant.past(0, None);
    assert_eq!((read.numbers, read.gaps.len()), (numbers(to..2_400), 1));
    // The file comes back: nothing was lost.
    fs::remove_dir(first).unwrap();
    fs::rename(folder.path().join("moved"), first).unwrap();
    assert_eq!(plant.past_at(at).numbers, numbers(0..2_400));
}

#[derive(Debug, Clone)]
enum Step {
    Take(u64),
    Send {
        is_acknowledged: bool,
    },
    Flush,
    /// `kill -9`, and the last file cut somewhere after the stored samples.
    Crash(prop::sample::Index),
    /// A clean end.
    Restart,
    /// The node's process ends and starts again.
    NewRun,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_u64..200).prop_map(Step::Take),
        6 => any::<bool>().prop_map(|is_acknowledged| Step::Send { is_acknowledged }),
        4 => Just(Step::Flush),
        1 => any::<prop::sample::Index>().prop_map(Step::Crash),
        1 => Just(Step::Restart),
        1 => Just(Step::NewRun),
    ]
}

/// Appends part of a record, as a power cut leaves it, here one that stands earlier in the same file.
fn tear(directory: &Path, cut: prop::sample::Index) {
    let Some(last) = segment_files(directory).pop() else { return };
    let bytes = fs::read(&last).unwrap();
    let from = (cut.index(bytes.len()) / 8) * 8;
    fs::write(&last, [&bytes[..], &bytes[from..]].concat()).unwrap();
}

/// An archive that stores nothing until it is flushed.
fn start(folder: &Path, node: &Node) -> Plant {
    let plant = Plant::start(config(folder), node, ROOM);
    // The first round comes by itself: it is over before anything is sent.
    plant.flush().unwrap();
    plant
}

/// The plain model: a list of what the disk must have.
#[derive(Debug, Default)]
struct Model {
    run: u128,
    stored: Vec<(u128, u64)>,
    received: Vec<(u128, u64)>,
}

impl Model {
    /// Adds numbers that the node sends, again or not.
    fn send(&mut self, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            let sample = (self.run, number);
            if !self.stored.contains(&sample) && !self.received.contains(&sample) {
                self.received.push(sample);
            }
        }
    }

    fn store(&mut self) {
        self.stored.append(&mut self.received);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stored_samples_are_there_once_and_in_order_whatever_happens(
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let mut folder = tempfile::tempdir().unwrap();
        let mut model = Model { run: 1, ..Model::default() };
        let mut node = Node::new(model.run);
        let mut plant = start(folder.path(), &node);
        for step in steps.into_iter().chain([Step::Flush]) {
            match step {
                Step::Take(count) => node.take(count),
                Step::Send { is_acknowledged } => {
                    model.send(node.unacknowledged());
                    plant.send(&mut node, is_acknowledged);
                }
                Step::Flush => {
                    plant.flush().unwrap();
                    model.store();
                }
                Step::Crash(cut) => {
                    let copy = copy_of(folder.path());
                    drop(plant);
                    tear(copy.path(), cut);
                    folder = copy;
                    model.received.clear();
                    plant = start(folder.path(), &node);
                }
                Step::Restart => {
                    plant.stop();
                    model.store();
                    plant = start(folder.path(), &node);
                }
                Step::NewRun => {
                    plant.stop();
                    model.store();
                    model.run += 1;
                    node = Node::new(model.run);
                    plant = start(folder.path(), &node);
                }
            }
        }
        let read = plant.past(0, None);
        prop_assert_eq!(&read.gaps, &vec![]);
        prop_assert_eq!(read.numbers, plant::runs(model.stored.iter().map(|(_, number)| *number)));
    }
}

#[test]
fn a_stopped_archive_is_read_and_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 5);
    plant.pause();
    assert_eq!(plant.archive.counters().condition, Condition::Stopped);
    assert_eq!(plant.flush(), Err(NotStored::Stopped));
    assert_eq!(plant.past(0, None).numbers, numbers(0..200));
    // Samples wait in the topic log meanwhile.
    node.take(100);
    plant.send(&mut node, true);
    plant.resume();
    while plant.flush() == Err(NotStored::Stopped) {
        std::thread::yield_now();
    }
    assert_eq!(plant.past(0, None), plant::Read { numbers: numbers(0..300), ..Default::default() });
    let account = plant.account();
    assert_eq!((account.stored, account.missing, account.stored_offset), (300, 0, Offset(300)));
    assert_eq!(plant.archive.counters().condition, Condition::Storing);
    drop(plant.stop());
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..300));
}

#[test]
fn an_archive_that_still_runs_does_not_report_that_everything_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let plant = Plant::start(config(folder.path()), &Node::new(1), ROOM);
    // An answer means that the thread runs.
    plant.flush().unwrap();
    assert_eq!(plant.archive.close(), Err(NotStored::Unfinished));
    plant.pause();
    assert_eq!(plant.archive.close(), Ok(()));
}

#[test]
fn samples_evicted_while_the_archive_is_stopped_have_that_cause() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, 8 * 1024);
    plant.fill(&mut node, 5);
    plant.pause();
    for _ in 0..50 {
        node.take(40);
        plant.send(&mut node, true);
    }
    let first = plant.dac.registry.find("plant", "counter").unwrap().log.state().first_offset.0;
    plant.resume();
    while plant.flush() == Err(NotStored::Stopped) {
        std::thread::yield_now();
    }
    let read = plant.past_at(Position { epoch: plant.epoch(), offset: Offset(0) });
    assert_eq!(read.gaps, [(200, first, "archive_stopped")]);
    assert_eq!(read.numbers, [(0, 200), (first, 2_200)]);
    assert_eq!(plant.account().missing, first - 200);
}

#[test]
fn samples_received_by_a_stopped_archive_have_that_cause_after_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 5);
    plant.pause();
    node.take(40);
    plant.send(&mut node, true);
    drop(plant.stop());
    // The node continues with the next number.
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 1);
    let mut samples =
        oasis_history::Samples::new(&plant.archive.history(), ("plant", "counter"), 0, None, 1_000);
    let mut missing = Vec::new();
    while let Some(found) = samples.next().unwrap() {
        if let oasis_history::SampleOrMissing::Missing(some) = found {
            missing.push((some.numbers, some.cause.word()));
        }
    }
    assert_eq!(missing, [(Some(201..=240), "archive_stopped")]);
}
