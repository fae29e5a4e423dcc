//! Roll-ups of old samples: made once, whole or not at all, and equal to the samples.

use super::{copy_of, segment_files};
use crate::plant::{Node, Plant, STEP, config};
use oasis_rollup::{
    cells::{Level, Number, Track},
    points::{Points, Span},
};
use oasis_store::{
    ArchiveConfig, CheckEvent, RetentionRule,
    rollups::{RolledSeries, RollupFile, file::Draft},
};
use oasis_wire::{
    batch::{Encoder, Fields},
    value::{RowWriter, write_row},
};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

const ROOM: usize = 8 * 1024 * 1024;
const SAMPLES: u64 = 8_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

pub fn small_files(folder: &Path) -> ArchiveConfig {
    ArchiveConfig { segment_bytes: 4 * 1024, ..config(folder) }
}

pub fn rollup_files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "oroll")).collect();
    files.sort();
    files
}

pub fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn damage_first_batch(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    // Offset after the headers of file and record.
    bytes[64 + 40 + 20] ^= 1;
    fs::write(file, bytes).unwrap();
}

/// All sealed files are rolled up.
pub fn wait_for_rollups(plant: &Plant) {
    eventually("not all is rolled up", || {
        let counters = plant.archive.counters();
        assert_eq!(counters.rollup_failures, 0);
        counters.rollup_waiting == 0 && counters.rollup_files > 0
    });
}

fn points(plant: &Plant, to: u64, points: u32) -> Points {
    let span = Span { from: 0, to: to * STEP, is_open: false, points };
    oasis_query::points(&plant.archive.history(), "plant", "counter", span).unwrap()
}

/// Every sample from 0 to `to` went into one point, and each point says what its samples say.
fn check(points: &Points, to: u64) {
    let step = points.cells.step();
    let mut numbers = 0..to;
    for (number, cell) in points.cells.cells() {
        let own: Vec<u64> = numbers.by_ref().take(cell.samples as usize).collect();
        let (first, last) = (own[0], own[own.len() - 1]);
        assert_eq!((first * STEP / step, last * STEP / step), (number, number), "cell {number} of {step}");
        assert_eq!(cell.last_time, last * STEP);
        let Track::Number(summary) = &cell.tracks[0] else { panic!("{cell:?}") };
        assert_eq!((summary.min, summary.max), (Number::Uint(first), Number::Uint(last)));
        assert_eq!((summary.last, summary.numbers), (Number::Uint(last), cell.samples));
        assert!((summary.mean() - (first + last) as f64 / 2.0).abs() < 1e-6);
        assert_eq!(cell.tracks[1], Track::Text("x".repeat(last as usize % 20)));
    }
    assert!(numbers.is_empty(), "{numbers:?} are missing");
    assert!(points.gaps.is_empty(), "{:?}", points.gaps);
}

#[test]
fn old_samples_are_left_as_rollups_whatever_becomes_of_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    // A query during the writes combines the open files, and their roll-ups are made from that.
    for round in 1..=40 {
        plant.fill(&mut node, 5);
        check(&points(&plant, round * 200, 1), round * 200);
    }
    wait_for_rollups(&plant);
    assert!(segment_files(folder.path()).len() > 16, "enough to be merged");
    eventually("small files are not merged", || rollup_files(folder.path()).len() < 3 * 16);
    // Samples for what is finer than a second, roll-ups for what is not.
    for (most, level) in [(2_000, Level::Raw), (80, Level::Second), (7, Level::Second)] {
        let points = points(&plant, SAMPLES, most);
        assert!(
            points.level == level && points.cells.cells().len() <= most as usize,
            "{most}: {:?}",
            points.level
        );
        check(&points, SAMPLES);
    }
    plant.stop();
    // All but the last file goes; what was made stays, and is not made again.
    let mut config = small_files(folder.path());
    config.retention = vec![RetentionRule { instances: "*".into(), days: 0, bytes: 1 }];
    let plant = Plant::start(config, &node, ROOM);
    eventually("no file has gone", || segment_files(folder.path()).is_empty());
    assert!(
        plant.archive.counters().rolled_segments <= 1,
        "all but the file that the stop has sealed were made before"
    );
    for most in [2_000, 80, 7] {
        let points = points(&plant, SAMPLES, most);
        assert_eq!(points.level, Level::Second, "the samples are gone");
        check(&points, SAMPLES);
    }
    // Later samples go to files of other numbers, also after a start that finds none.
    plant.stop();
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 10);
    check(&points(&plant, SAMPLES + 400, 84), SAMPLES + 400);
}

#[test]
fn roll_ups_without_room_are_made_once_there_is_some() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    // A write there meets a full disk. The folder is removed with the unwritten parts, and then there is room.
    let first = folder.path().join("0000000001-0000000001.1s.oroll");
    let full = first.with_extension("part");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    plant.fill(&mut node, 20);
    eventually("nothing met the full disk", || !full.is_symlink());
    wait_for_rollups(&plant);
    assert!(first.exists());
    assert_eq!(plant.archive.counters().rolled_segments, plant.archive.counters().segments);
}

#[test]
fn a_second_question_includes_newer_samples() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    // Nothing is sealed, so nothing is rolled up.
    let mut plant =
        Plant::start(ArchiveConfig { segment_bytes: 1 << 30, ..config(folder.path()) }, &node, ROOM);
    for round in 1..=5 {
        plant.fill(&mut node, 7);
        for most in [2, 3] {
            let points = points(&plant, round * 280, most);
            assert!(
                points.level == Level::Second || points.cells.step() < 1_000_000_000,
                "{:?}",
                points.level
            );
            check(&points, round * 280);
        }
        let read = plant.archive.history().file_reads();
        assert_eq!(points(&plant, round * 280, 1).level, Level::Second);
        assert_eq!(plant.archive.history().file_reads(), read, "what was put together is not read again");
        let span = Span { from: 0, to: 1, is_open: true, points: 1 };
        let points = oasis_query::points(
            &plant.archive.history(),
            "plant",
            "counter",
            Span { to: round * STEP, ..span },
        )
        .unwrap();
        check(&points, round * 280);
    }
}

#[test]
fn a_crash_at_any_time_leaves_each_sample_in_one_rollup() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    for _ in 0..4 {
        plant.fill(&mut node, 50);
        let copy = copy_of(folder.path());
        // As a crash may leave them: half of a file that has no name yet, and what a merge was made of.
        fs::write(copy.path().join("0000000099-0000000099.1s.part"), b"OASISSEG").unwrap();
        let again = Plant::start(small_files(copy.path()), &node, ROOM);
        wait_for_rollups(&again);
        let stored = plant.account().stored;
        let to = stored / 100 * 100;
        check(&points(&again, to, u32::try_from(to / 100).unwrap()), to);
        assert!(!copy.path().join("0000000099-0000000099.1s.part").exists());
    }
}

#[test]
fn merged_roll_ups_are_not_counted_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 20);
    wait_for_rollups(&plant);
    let kept = copy_of(folder.path());
    plant.fill(&mut node, 180);
    wait_for_rollups(&plant);
    plant.stop();
    for file in rollup_files(kept.path()) {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let plant = Plant::start(small_files(folder.path()), &node, ROOM);
    check(&points(&plant, SAMPLES, 80), SAMPLES);
}

#[test]
fn a_damaged_roll_up_is_reported_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 200);
    wait_for_rollups(&plant);
    plant.stop();
    let files = rollup_files(folder.path());
    for (at, file) in files.iter().enumerate() {
        let mut bytes = fs::read(file).unwrap();
        let length = bytes.len();
        match at % 3 {
            // The directory; the end; nothing left.
            0 => bytes[length - 40] ^= 1,
            1 => bytes.truncate(length / 2),
            _ => bytes.clear(),
        }
        fs::write(file, bytes).unwrap();
    }
    let plant = Plant::start(small_files(folder.path()), &node, ROOM);
    let findings = plant.archive.counters().findings;
    assert_eq!(findings.iter().filter(|finding| finding.file.ends_with(".oroll")).count(), files.len());
    wait_for_rollups(&plant);
    let points = points(&plant, SAMPLES, 80);
    assert_eq!(points.level, Level::Second);
    check(&points, SAMPLES);
}

#[test]
fn damaged_cells_are_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 20);
    wait_for_rollups(&plant);
    plant.stop();
    rollup_files(folder.path()).iter().for_each(|file| damage_first_batch(file));
    let plant = Plant::start(small_files(folder.path()), &node, ROOM);
    let points = points(&plant, 800, 8);
    assert!(points.gaps.iter().any(|gap| gap.cause.word() == "damaged"), "{points:?}");
    assert!(plant.archive.counters().findings.iter().any(|finding| finding.kind == "damaged"));
}

#[test]
fn a_damaged_roll_up_is_reported_and_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 20);
    wait_for_rollups(&plant);
    plant.stop();
    let of_seconds = |file: &PathBuf| file.to_string_lossy().contains(".1s.");
    let damaged = rollup_files(folder.path()).into_iter().find(of_seconds).unwrap();
    damage_first_batch(&damaged);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 180);
    wait_for_rollups(&plant);
    eventually("small files are not merged", || rollup_files(folder.path()).len() < 3 * 16);
    // No query has read its cells.
    eventually("what is damaged is not told", || !plant.archive.counters().findings.is_empty());
    assert!(damaged.exists(), "it can still be made again");
    let gaps = points(&plant, SAMPLES, 80).gaps;
    assert!(gaps.iter().any(|gap| gap.cause.word() == "damaged"), "{gaps:?}");
}

#[test]
fn too_many_rollups_go_finest_and_oldest_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(small_files(folder.path()), &node, ROOM);
    plant.fill(&mut node, 200);
    wait_for_rollups(&plant);
    plant.stop();
    let bytes: u64 = rollup_files(folder.path()).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    let plant =
        Plant::start(ArchiveConfig { rollup_bytes: bytes / 2, ..small_files(folder.path()) }, &node, ROOM);
    eventually("no roll-up has gone", || {
        let left: u64 = rollup_files(folder.path())
            .iter()
            .map(|file| fs::metadata(file).map_or(0, |file| file.len()))
            .sum();
        left <= bytes / 2
    });
    let left = rollup_files(folder.path());
    assert!(left.iter().any(|file| file.to_string_lossy().contains(".1h.")), "{left:?}");
    drop(plant);
}

/// A batch of long texts, one sample a second.
fn long_texts(plant: &Plant, first: u64, count: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(&crate::plant::counter()).unwrap();
    for number in first..first + count {
        let mut row = Vec::new();
        let mut writer = RowWriter::new(&mut row);
        writer.u64(number);
        writer.string(&"x".repeat(300));
        encoder.push(number * NANOS_PER_SECOND, &row).unwrap();
    }
    let fields = Fields { topic: plant.topic(), first_sequence: first + 1, ..Fields::default() };
    let mut batch = Vec::new();
    encoder.finish(fields, &mut batch);
    batch
}

/// An archive that ended well, with this many samples of a long text, one a second, in one file.
fn archive_of_long_texts(folder: &Path, samples: u64) {
    let node = Node::new(1);
    let large = ArchiveConfig { segment_bytes: 1 << 30, ..config(folder) };
    let mut plant = Plant::start(large.clone(), &node, ROOM);
    for first in (0..samples).step_by(500) {
        let batch = long_texts(&plant, first, 500);
        plant.send_batch(&batch);
        plant.flush().unwrap();
    }
    plant.stop();
    // Sealed by the stop, and rolled up now.
    let plant = Plant::start(large, &node, ROOM);
    wait_for_rollups(&plant);
    plant.stop();
}

/// Returns whether a point for each second has all samples of `seconds` seconds, one a second, and no gap.
fn has_each_second(plant: &Plant, seconds: u64) -> bool {
    let points = u32::try_from(seconds).unwrap();
    let span = Span { from: 0, to: seconds * NANOS_PER_SECOND, is_open: false, points };
    let points = oasis_query::points(&plant.archive.history(), "plant", "counter", span).unwrap();
    let samples: u64 = points.cells.cells().map(|(_, cell)| cell.samples).sum();
    points.level == Level::Second && points.gaps.is_empty() && samples == seconds
}

/// Writes a roll-up file as earlier releases did: all cells of a series in one batch, whatever its size.
fn write_as_earlier_releases(folder: &Path, file: &Path) {
    let rollup = RollupFile::open(file).unwrap();
    let directory = &rollup.directory;
    let mut draft = Draft::new(directory.level, directory.segments.clone(), directory.sealed);
    for series in &directory.series {
        let cell_type = rollup.plan(series).0;
        let mut encoder = Encoder::new(cell_type).unwrap();
        for place in &series.batches {
            for cell in rollup.cells(series, place).unwrap().samples() {
                let mut row = Vec::new();
                write_row(cell_type, &cell.values, &mut row);
                encoder.push(cell.time, &row).unwrap();
            }
        }
        let mut batch = Vec::new();
        encoder.finish(Fields { first_sequence: 1, ..Fields::default() }, &mut batch);
        let times = series.batches.iter().map(|place| (place.min_time, place.max_time));
        let times = times.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap();
        let place = draft.put(&batch, times);
        let type_at = draft.type_at(cell_type);
        draft.directory.series.push(RolledSeries { type_at, batches: vec![place], ..series.clone() });
    }
    draft.finish(folder).unwrap();
}

#[test]
fn roll_ups_of_long_texts_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    archive_of_long_texts(folder.path(), 5_000);
    let plant = Plant::start(config(folder.path()), &Node::new(1), ROOM);
    assert!(has_each_second(&plant, 5_000));
}

#[test]
fn oversized_roll_ups_are_found_by_a_check_and_made_again_even_without_their_samples() {
    for keeps_samples in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        archive_of_long_texts(folder.path(), 5_000);
        let seconds = folder.path().join("0000000001-0000000001.1s.oroll");
        write_as_earlier_releases(folder.path(), &seconds);
        let mut damages = Vec::new();
        let on_event = |event: CheckEvent<'_>| {
            if let CheckEvent::Damage(damage) = event {
                damages.push(damage.clone());
            }
        };
        oasis_store::check(folder.path(), on_event).unwrap();
        assert_eq!(damages.len(), 1);
        assert!(damages[0].finding.detail.contains("at most 1048576 are allowed"), "{damages:?}");
        let mut config = config(folder.path());
        if !keeps_samples {
            config.retention = vec![RetentionRule { instances: "*".into(), days: 0, bytes: 1 }];
        }
        let plant = Plant::start(config, &Node::new(1), ROOM);
        eventually("samples stay", || keeps_samples || segment_files(folder.path()).is_empty());
        // A reader that comes before must not keep it from being made again.
        eventually("a file is still too large", || has_each_second(&plant, 5_000));
        assert!(!RollupFile::open(&seconds).unwrap().is_oversized());
    }
}

#[test]
fn oversized_and_damaged_roll_ups_are_made_again_from_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    archive_of_long_texts(folder.path(), 5_000);
    let seconds = folder.path().join("0000000001-0000000001.1s.oroll");
    write_as_earlier_releases(folder.path(), &seconds);
    damage_first_batch(&seconds);
    let plant = Plant::start(config(folder.path()), &Node::new(1), ROOM);
    eventually("a file is still too large", || {
        RollupFile::open(&seconds).is_ok_and(|file| !file.is_oversized())
    });
    eventually("it is not read", || has_each_second(&plant, 5_000));
}
