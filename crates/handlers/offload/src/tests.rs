//! Segments that are copied to a folder, with what a test expects in it.

mod archive_of_samples;

use crate::{
    config::Location,
    destination::Destination,
    manifest::{ListedGap, Manifest},
    object_names,
    segment_copy::{CopiedSegment, CopyError, CopyOutcome, SegmentCopy},
    segment_ledger::EarlierAttempts,
    series_shares::UnreadParts,
    sorted_samples::HOUR,
};
use archive_of_samples::{ArchiveOfSamples, EPOCH, RUN, TestSample, counter, rows_in};
use oasis_store::{Gap, History, ReadError};
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Nanos, Offset},
};
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

/// 2025-11-21 00:00.
const DAY: u64 = 1_763_683_200_000_000_000;

fn copy_to(folder: &Path, history: &History) -> Result<Vec<CopiedSegment>, String> {
    let mut destination =
        Destination::open(&Location::Folder(folder.into())).map_err(|error| error.to_string())?;
    let segments = history.0.catalogue().segments().unwrap();
    let copy = |segment| {
        let earlier = EarlierAttempts::NONE;
        match SegmentCopy::copy(history, &mut destination, &|| false, (segment, earlier), None) {
            Ok(CopyOutcome::Complete(copied)) => Ok(copied),
            other => Err(format!("{other:?}")),
        }
    };
    segments.iter().map(copy).collect()
}

fn manifest(folder: &Path, segment: u64) -> Manifest {
    let name = object_names::manifest(&object_names::segment_name(EPOCH, segment)).unwrap();
    Manifest::parse(&fs::read(folder.join(name.as_ref())).unwrap(), EPOCH, segment).unwrap()
}

/// All files below a folder, with their content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(path).unwrap());
                }
            }
        }
    }
    found
}

/// The samples of all objects, and that each object is sorted.
fn samples_in(folder: &Path) -> Vec<TestSample> {
    let mut all = Vec::new();
    for (name, bytes) in files(folder) {
        if !name.ends_with(".parquet") {
            continue;
        }
        let rows = rows_in(bytes);
        assert!(rows.is_sorted_by_key(|row| (row.instance.clone(), row.time)), "{name}");
        let hour = rows[0].time / HOUR;
        let is_first_hour = name.contains("day=1970-01-01/hour=00");
        assert!(is_first_hour || rows.iter().all(|row| row.time / HOUR == hour), "{name}");
        all.extend(rows);
    }
    all.sort();
    all
}

fn sample(instance: &str, sequence: u64, time: u64) -> TestSample {
    TestSample { instance: instance.into(), sequence, time, count: sequence * 3 }
}

#[test]
fn every_sample_is_in_one_object_of_its_type_and_hour() {
    let mut archive = ArchiveOfSamples::new();
    let mut expected = Vec::new();
    for instance in ["b", "a"] {
        let samples: Vec<_> = (1..=500).map(|at| sample(instance, at, DAY + at * 20_000_000_000)).collect();
        archive.add(&counter("Plant::Tank"), &samples, 40);
        expected.extend(samples);
    }
    let other: Vec<_> = (1..=10).map(|at| sample("c", at, DAY + at)).collect();
    archive.add(&counter("Other"), &other, 3);
    archive.seal();
    expected.extend(other);
    expected.sort();

    let folder = tempfile::tempdir().unwrap();
    let copied = copy_to(folder.path(), &archive.history()).unwrap();
    assert_eq!((copied[0].samples, copied[0].objects, copied[0].is_found), (1_010, 4, false));
    assert_eq!(samples_in(folder.path()), expected);
    let names: Vec<String> = files(folder.path()).into_keys().collect();
    let stem = format!("{EPOCH}-00000001");
    assert_eq!(
        names,
        [
            format!("_manifests/{stem}.json"),
            format!("type=Other/day=2025-11-21/hour=00/{stem}-f97e9da0-0.parquet"),
            format!("type=Plant%3A%3ATank/day=2025-11-21/hour=00/{stem}-45fbf99a-0.parquet"),
            format!("type=Plant%3A%3ATank/day=2025-11-21/hour=01/{stem}-45fbf99a-0.parquet"),
            format!("type=Plant%3A%3ATank/day=2025-11-21/hour=02/{stem}-45fbf99a-0.parquet"),
        ]
    );
    let manifest = manifest(folder.path(), 1);
    assert_eq!(manifest.samples, 1_010);
    assert_eq!(manifest.objects.iter().map(|object| object.rows).sum::<u64>(), 1_010);
    assert_eq!(manifest.series.iter().map(|series| series.samples).collect::<Vec<_>>(), [500, 500, 10]);
    assert_eq!(manifest.gaps, []);

    let before = files(folder.path());
    let again = copy_to(folder.path(), &archive.history()).unwrap();
    assert!(again[0].is_found);
    assert_eq!(files(folder.path()), before);
}

#[test]
fn samples_of_a_clock_that_jumps_are_sorted() {
    let mut archive = ArchiveOfSamples::new();
    let mut random = fastrand::Rng::with_seed(7);
    let samples: Vec<_> = (1..=5_000).map(|at| sample("a", at, DAY + random.u64(0..3 * HOUR))).collect();
    archive.add(&counter("Clock"), &samples, 100);
    archive.seal();
    let folder = tempfile::tempdir().unwrap();
    let copied = copy_to(folder.path(), &archive.history()).unwrap();
    assert_eq!((copied[0].samples, copied[0].objects), (5_000, 3));
    let mut expected = samples;
    expected.sort();
    assert_eq!(samples_in(folder.path()), expected);
}

#[test]
fn forged_times_make_a_bounded_number_of_objects() {
    let mut archive = ArchiveOfSamples::new();
    let samples: Vec<_> = (1..=600).map(|at| sample("a", at, at * 1_000 * HOUR)).collect();
    archive.add(&counter("Forged"), &samples, 600);
    let beyond: Vec<_> = (601..=603).map(|at| sample("a", at, u64::MAX - 603 + at)).collect();
    archive.add(&counter("Forged"), &beyond, 2);
    archive.seal();
    let folder = tempfile::tempdir().unwrap();
    let copied = copy_to(folder.path(), &archive.history()).unwrap();
    assert!(copied[0].objects <= crate::series_shares::MAX_HOURS as u64 + 1, "{copied:?}");
    assert_eq!((copied[0].samples, copied[0].left_out), (600, 3));
    let mut expected = samples;
    expected.sort();
    assert_eq!(samples_in(folder.path()), expected);
    assert_eq!(manifest(folder.path(), 1).samples_beyond_times, 3);
}

#[test]
fn missing_samples_are_in_the_manifest_with_their_causes() {
    let mut archive = ArchiveOfSamples::new();
    let run =
        |range: std::ops::RangeInclusive<u64>| range.map(|at| sample("a", at, DAY + at)).collect::<Vec<_>>();
    archive.add(&counter("Tank"), &run(1..=10), 10);
    archive.seal();
    archive.gap(
        "a",
        &counter("Tank"),
        Gap { from: Offset(10), to: Offset(15), cause: Cause::DiskFull, time: Nanos(5) },
    );
    archive.add(&counter("Tank"), &run(16..=20), 5);
    // Two numbers never reached the DAC.
    archive.add(&counter("Tank"), &run(23..=25), 3);
    archive.seal();
    let folder = tempfile::tempdir().unwrap();
    copy_to(folder.path(), &archive.history()).unwrap();
    assert_eq!(manifest(folder.path(), 1).gaps, []);
    let gaps: Vec<_> = manifest(folder.path(), 2)
        .gaps
        .iter()
        .map(|gap| (gap.samples, gap.cause, gap.from_sequence, gap.to_sequence))
        .collect();
    assert_eq!(gaps, [(5, Cause::DiskFull, Some(11), Some(15)), (2, Cause::Unexplained, Some(21), Some(22))]);
}

/// The gaps of a manifest.
fn gaps(folder: &Path, name: &str) -> Vec<(u64, Cause, Option<u64>)> {
    let text = fs::read(folder.join("_manifests").join(name)).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let gaps: Vec<ListedGap> = serde_json::from_value(manifest["gaps"].clone()).unwrap();
    gaps.iter().map(|gap| (gap.samples, gap.cause, gap.from_sequence)).collect()
}

#[test]
fn gaps_of_later_epochs_are_in_their_own_manifests() {
    let mut archive = ArchiveOfSamples::new();
    let run =
        |range: std::ops::RangeInclusive<u64>| range.map(|at| sample("a", at, DAY + at)).collect::<Vec<_>>();
    archive.add(&counter("Tank"), &run(1..=10), 10);
    archive.add(&counter("Tank"), &run(12..=20), 9);
    archive.seal_epoch(Epoch(0xac), RUN);
    archive.add(&counter("Tank"), &run(24..=30), 7);
    archive.add(&counter("Tank"), &run(36..=40), 5);
    archive.seal_epoch(Epoch(0xad), RUN);
    archive.add(&counter("Tank"), &run(41..=50), 10);
    archive.seal();
    let folder = tempfile::tempdir().unwrap();
    copy_to(folder.path(), &archive.history()).unwrap();
    let of = |epoch: u64, segment| {
        gaps(folder.path(), &format!("{}.json", object_names::segment_name(Epoch(epoch), segment)))
    };
    assert_eq!(of(0xab, 1), [(1, Cause::Unexplained, Some(11))]);
    assert_eq!(of(0xac, 2), [(3, Cause::Unexplained, Some(21)), (5, Cause::Unexplained, Some(31))]);
    assert_eq!(of(0xad, 3), []);
}

#[test]
fn gaps_are_listed_once_after_a_segment_with_a_damaged_end() {
    let mut archive = ArchiveOfSamples::new();
    let run =
        |range: std::ops::RangeInclusive<u64>| range.map(|at| sample("a", at, DAY + at)).collect::<Vec<_>>();
    archive.add(&counter("Tank"), &run(1..=10), 10);
    archive.add(&counter("Tank"), &run(14..=20), 7);
    archive.lose("a", 11..=13);
    archive.seal();
    archive.add(&counter("Tank"), &run(23..=30), 8);
    archive.seal();
    archive.damage_batch(1, 14);
    let folder = tempfile::tempdir().unwrap();
    copy_to(folder.path(), &archive.history()).unwrap();
    let of = |segment| gaps(folder.path(), &format!("{}.json", object_names::segment_name(EPOCH, segment)));
    assert_eq!(of(2), [(2, Cause::Unexplained, Some(21))]);
    assert_eq!(of(1), [(3, Cause::RingFull, Some(11)), (7, Cause::Damaged, Some(14))]);
}

#[test]
fn a_half_written_object_is_replaced_and_a_strange_one_removed() {
    let mut archive = ArchiveOfSamples::new();
    let samples: Vec<_> = (1..=100).map(|at| sample("a", at, DAY + at)).collect();
    archive.add(&counter("Tank"), &samples, 10);
    archive.seal();
    let folder = tempfile::tempdir().unwrap();
    copy_to(folder.path(), &archive.history()).unwrap();
    let whole = files(folder.path());

    let hour = folder.path().join("type=Tank/day=2025-11-21/hour=00");
    let object = hour.join(format!("{EPOCH}-00000001-c0b21fb1-0.parquet"));
    let manifest = folder.path().join(format!("_manifests/{EPOCH}-00000001.json"));
    let text = fs::read(&manifest).unwrap();
    let bytes = fs::read(&object).unwrap();
    for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
        // Without a manifest, or with one that is cut, nothing counts.
        fs::write(&manifest, &text[..text.len() / 2]).unwrap();
        fs::write(&object, &bytes[..cut]).unwrap();
        fs::write(hour.join(format!("{EPOCH}-00000001-7.parquet")), b"of another release").unwrap();
        fs::write(hour.join(format!("{EPOCH}-00000002-0.parquet")), b"of another segment").unwrap();
        let copied = copy_to(folder.path(), &archive.history()).unwrap();
        assert_eq!((copied[0].replaced, copied[0].is_found), (3, false));
        let other = hour.join(format!("{EPOCH}-00000002-0.parquet"));
        assert_eq!(fs::read(&other).unwrap(), b"of another segment");
        fs::remove_file(other).unwrap();
        assert_eq!(files(folder.path()), whole);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_nothing_is_listed() {
    let mut archive = ArchiveOfSamples::new();
    archive.add(&counter("Tank"), &[sample("a", 1, DAY)], 1);
    archive.seal();
    let folder = tempfile::tempdir().unwrap();
    // A file where the folder of the type would be, which stops root too.
    fs::write(folder.path().join("type=Tank"), b"in the way").unwrap();
    let error = copy_to(folder.path(), &archive.history()).unwrap_err();
    assert!(error.contains("type=Tank"), "{error}");
    assert!(!folder.path().join("_manifests").exists());
    fs::remove_file(folder.path().join("type=Tank")).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(folder.path().join("probe"), b"").is_err() {
        assert!(copy_to(folder.path(), &archive.history()).is_err());
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(copy_to(folder.path(), &archive.history()).unwrap()[0].samples, 1);
}

#[test]
fn a_segment_that_is_evicted_while_it_is_copied_has_no_manifest() {
    let mut archive = ArchiveOfSamples::new();
    for type_name in ["Tank", "Valve"] {
        let samples: Vec<_> = (1..=10).map(|at| sample(type_name, at, DAY + at)).collect();
        archive.add(&counter(type_name), &samples, 10);
    }
    archive.seal();
    let history = archive.history();
    let segments = history.0.catalogue().segments().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut destination = Destination::open(&Location::Folder(folder.path().into())).unwrap();
    let mut copy = |segment, evict: &dyn Fn() -> bool| {
        SegmentCopy::copy(&history, &mut destination, evict, (segment, EarlierAttempts::NONE), None)
    };
    let evict = || {
        history.0.catalogue().remove(1).unwrap();
        false
    };
    assert_eq!(copy(&segments[0], &evict).unwrap(), CopyOutcome::Evicted);
    assert!(!folder.path().join("_manifests").exists());
    // Before its first sample is read.
    assert_eq!(copy(&segments[0], &|| false).unwrap(), CopyOutcome::Evicted);
    assert!(!folder.path().join("_manifests").exists());
}

#[test]
fn damaged_batches_are_gaps() {
    let mut archive = ArchiveOfSamples::new();
    let samples: Vec<_> = (1..=30).map(|at| sample("a", at, DAY + at)).collect();
    archive.add(&counter("Tank"), &samples, 10);
    archive.seal();
    archive.damage_batch(1, 11);
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(copy_to(folder.path(), &archive.history()).unwrap()[0].samples, 20);
    let gaps = manifest(folder.path(), 1).gaps;
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!((gaps[0].samples, gaps[0].cause, gaps[0].from_sequence), (10, Cause::Damaged, Some(11)));
}

#[test]
fn a_segment_without_its_file_is_a_gap_after_several_attempts() {
    let mut archive = ArchiveOfSamples::new();
    for numbers in [1..=30, 31..=40, 41..=50_u64] {
        let samples: Vec<_> = numbers.map(|at| sample("a", at, DAY + at * HOUR)).collect();
        archive.add(&counter("Tank"), &samples, 10);
        archive.seal();
    }
    archive.remove_file(1);
    archive.remove_file(2);
    let history = archive.history();
    let folder = tempfile::tempdir().unwrap();
    let mut destination = Destination::open(&Location::Folder(folder.path().into())).unwrap();
    let segments = history.0.catalogue().segments().unwrap();
    let mut copy = |at: usize, earlier| {
        SegmentCopy::copy(&history, &mut destination, &|| false, (&segments[at], earlier), None)
    };
    let skipping = EarlierAttempts { has_failed: true, unread: UnreadParts::Skip };
    for at in [0, 1] {
        let error = copy(at, EarlierAttempts::NONE).unwrap_err();
        assert!(matches!(error, CopyError::Archive(_, ReadError::Io(_))), "{error}");
        assert!(matches!(copy(at, skipping).unwrap(), CopyOutcome::Complete(copied) if copied.samples == 0));
    }
    assert!(matches!(copy(2, skipping).unwrap(), CopyOutcome::Complete(copied) if copied.samples == 10));
    let of = |segment| {
        let gaps = gaps(folder.path(), &format!("{}.json", object_names::segment_name(EPOCH, segment)));
        gaps.iter().map(|gap| gap.0).collect::<Vec<_>>()
    };
    assert_eq!([1, 2, 3].map(of), [vec![30], vec![10], vec![]]);
}

#[test]
fn a_stop_ends_a_copy_and_the_next_one_completes_it() {
    let mut archive = ArchiveOfSamples::new();
    let samples: Vec<_> = (1..=20_000).map(|at| sample("a", at, DAY + at * 1_000_000_000)).collect();
    archive.add(&counter("Tank"), &samples, 500);
    archive.seal();
    let history = archive.history();
    let folder = tempfile::tempdir().unwrap();
    let mut destination = Destination::open(&Location::Folder(folder.path().into())).unwrap();
    let segments = history.0.catalogue().segments().unwrap();
    let stopped =
        SegmentCopy::copy(&history, &mut destination, &|| true, (&segments[0], EarlierAttempts::NONE), None);
    assert_eq!(stopped.unwrap_err().to_string(), "stopped");
    assert_eq!(copy_to(folder.path(), &history).unwrap()[0].samples, 20_000);
    assert_eq!(samples_in(folder.path()), samples);
}
