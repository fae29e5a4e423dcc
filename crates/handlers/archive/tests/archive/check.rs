//! A check finds what readers stumble over, and nothing else.

use super::{copy_of, segment_files};
use crate::plant::{Node, Plant, STEP, config, read_alone};
use oasis_store::{CheckEvent, CheckTotals, Damage, OpenError};
use proptest::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
};

const ROOM: usize = 8 * 1024 * 1024;
/// Samples of an archive that is read here.
const SAMPLES: u64 = 1_200;

/// An archive that was closed cleanly, all its files sealed.
fn archive() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, SAMPLES / 40);
    plant.stop();
    Plant::start(config(folder.path()), &node, ROOM).stop();
    folder
}

fn check(folder: &Path) -> (CheckTotals, Vec<Damage>) {
    let mut damages = Vec::new();
    let mut read = CheckTotals::default();
    let on_event = |event: CheckEvent<'_>| match event {
        CheckEvent::Damage(damage) => damages.push(damage.clone()),
        CheckEvent::Read(checked, files) => {
            assert!(checked.segments <= files && checked.bytes >= read.bytes);
            read = checked;
        }
    };
    let checked = oasis_store::check(folder, on_event).unwrap();
    (checked, damages)
}

fn lost(damages: &[Damage]) -> u64 {
    damages.iter().flat_map(|damage| &damage.lost).map(|lost| lost.samples).sum()
}

/// As many as readers get.
fn readable(folder: &Path) -> u64 {
    read_alone(folder).numbers.iter().map(|(first, end)| end - first).sum()
}

fn damage(path: &Path, damage: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    damage(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn of_ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

#[test]
fn a_sound_archive_is_called_sound_while_its_dac_is_at_work_and_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 30);
    let (checked, damages) = check(folder.path());
    assert_eq!((checked.samples, damages), (SAMPLES, vec![]));
    plant.stop();
    let (checked, damages) = check(folder.path());
    assert_eq!((checked.samples, damages), (SAMPLES, vec![]));
    assert_eq!(checked.segments, segment_files(folder.path()).len() as u64);
    assert_eq!(checked.rollups, of_ending(folder.path(), "oroll").len() as u64);
}

#[test]
fn damage_says_whose_samples_it_costs_and_when_they_were_taken() {
    let folder = archive();
    let file = &segment_files(folder.path())[0];
    let middle = fs::metadata(file).unwrap().len() / 2;
    damage(file, |bytes| bytes[middle as usize] ^= 0x10);
    let (checked, damages) = check(folder.path());
    let [Damage { finding, lost }] = &damages[..] else { panic!("{damages:?}") };
    assert!(finding.from <= middle && middle < finding.to && finding.kind == "damaged");
    let [lost] = &lost[..] else { panic!("{lost:?}") };
    assert_eq!((&*lost.node, &*lost.instance, lost.samples), ("plant", "counter", 40));
    assert_eq!(lost.times.1 - lost.times.0, 39 * STEP);
    assert_eq!(checked.samples, SAMPLES - 40);
}

#[test]
fn a_file_that_is_gone_costs_all_that_is_listed_of_it() {
    let folder = archive();
    fs::remove_file(&segment_files(folder.path())[0]).unwrap();
    let (checked, damages) = check(folder.path());
    assert_eq!(damages.len(), 1);
    assert_eq!(checked.samples + lost(&damages), SAMPLES);
    assert!(lost(&damages) > 0 && damages[0].finding.detail.contains("gone"), "{damages:?}");
}

#[test]
fn a_damaged_or_missing_catalogue_is_reported_and_files_are_read() {
    let folder = archive();
    let path = folder.path().join("catalogue.sqlite");
    damage(&path, |bytes| bytes[100..500].fill(0xff));
    let of_catalogue = |damages: &[Damage]| {
        damages.len() == 1 && damages[0].finding.file == "catalogue.sqlite" && damages[0].lost.is_empty()
    };
    let (checked, damages) = check(folder.path());
    assert!(of_catalogue(&damages) && checked.samples == SAMPLES, "{checked:?} {damages:?}");
    fs::remove_file(path).unwrap();
    let (checked, damages) = check(folder.path());
    assert!(of_catalogue(&damages) && checked.samples == SAMPLES, "{checked:?} {damages:?}");
    let nothing = tempfile::tempdir().unwrap();
    assert!(matches!(oasis_store::check(nothing.path(), |_| {}), Err(OpenError::Absent(_))));
}

#[test]
fn batches_that_readers_refuse_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 10);
    // The DAC forwards batches without decoding their columns.
    let batch = node.batch(plant.topic(), 400, 40);
    plant.send_batch(&batch[..batch.len() - 3]);
    plant.flush().unwrap();
    for _ in 0..2 {
        let (checked, damages) = check(folder.path());
        let [Damage { finding, lost }] = &damages[..] else { panic!("{damages:?}") };
        assert!(finding.detail.starts_with("batches that readers refuse: 1,"), "{finding:?}");
        assert_eq!((lost[0].samples, lost[0].times), (40, (400 * STEP, 439 * STEP)));
        assert_eq!(checked.samples, 400);
        plant.pause();
    }
}

#[test]
fn a_damaged_roll_up_is_reported_and_costs_no_sample() {
    let folder = archive();
    let rollups = of_ending(folder.path(), "oroll");
    for path in &rollups {
        damage(path, |bytes| bytes[120] ^= 1);
    }
    let (checked, damages) = check(folder.path());
    assert_eq!((damages.len(), lost(&damages)), (rollups.len(), 0));
    assert_eq!(checked.samples, SAMPLES);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn readers_get_all_samples_that_a_check_calls_readable(
        bits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..8_u8), 1..4),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        // Made once: each case damages a copy.
        static ARCHIVE: std::sync::LazyLock<tempfile::TempDir> = std::sync::LazyLock::new(archive);
        let folder = copy_of(ARCHIVE.path());
        let files = segment_files(folder.path());
        for (file, byte, bit) in bits {
            let file = &files[file.index(files.len())];
            damage(file, |bytes| {
                let at = byte.index(bytes.len());
                bytes[at] ^= 1 << bit;
            });
        }
        if let Some(cut) = cut {
            damage(&files[0], |bytes| bytes.truncate(cut.index(bytes.len())));
        }
        let (checked, damages) = check(folder.path());
        prop_assert_eq!(checked.samples, readable(folder.path()));
        prop_assert_eq!(checked.samples + lost(&damages), SAMPLES);
    }
}
