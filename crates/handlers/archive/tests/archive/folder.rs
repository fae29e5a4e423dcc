//! A folder that loses its name while it is open: nothing that has no name is reported as stored.

use super::{ROOM, numbers, segment_files};
use crate::{
    plant::{Node, Plant, STEP, config, read_alone},
    rollups::eventually,
};
use oasis_archive::NotStored;
use oasis_handler::Handler as _;
use oasis_store::{CatalogueError, Condition, Description, FolderGone, Note, OpenError, TestRunError};
use oasis_wire::quantity::Nanos;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A folder within another one, which stays.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let around = tempfile::tempdir().unwrap();
    let folder = around.path().join("archive");
    (around, folder)
}

/// Sends `samples` samples, and expects that they are not stored because the folder is gone.
fn send_in_vain(plant: &mut Plant, node: &mut Node, samples: u64) {
    let before = plant.account();
    node.take(samples);
    plant.send(node, true);
    let refused = plant.flush().unwrap_err();
    assert!(matches!(refused, NotStored::Gone(_)), "{refused}");
    assert_eq!(plant.account().stored_offset, before.stored_offset);
    assert_eq!(plant.archive.counters().condition, Condition::Gone);
    assert!(plant.archive.problem().is_some());
}

fn refuses_notes(plant: &Plant) {
    let description = Description { name: "lost".into(), ..Description::default() };
    let started = plant.archive.test_runs().start(description, "test", Nanos(1));
    assert!(matches!(started, Err(TestRunError::Catalogue(CatalogueError::Gone(_)))), "{started:?}");
    let note = Note { time: Nanos(1), until: None, text: "lost".into(), targets: Vec::new() };
    assert!(plant.archive.annotations().add(note, "test", Nanos(1)).is_err());
}

fn stores_again(plant: &Plant) {
    eventually("nothing is stored again", || plant.flush().is_ok());
    assert_eq!(plant.archive.counters().condition, Condition::Storing);
    assert_eq!(plant.archive.problem(), None);
}

fn all_of(folder: &Path) -> Vec<(u64, u64)> {
    read_alone(folder).numbers
}

#[test]
fn a_folder_that_is_renamed_and_returns_has_every_sample_once() {
    let (around, folder) = folder();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(&folder), &node, ROOM);
    plant.fill(&mut node, 30);
    let away = around.path().join("away");
    fs::rename(&folder, &away).unwrap();
    send_in_vain(&mut plant, &mut node, 40);
    refuses_notes(&plant);
    assert!(!folder.exists(), "a folder is made");
    fs::rename(&away, &folder).unwrap();
    stores_again(&plant);
    let read = plant.past(0, None);
    assert_eq!((read.numbers, read.gaps), (numbers(0..1_240), vec![]));
    assert_eq!((plant.account().stored, plant.account().missing), (1_240, 0));
    let description = Description { name: "kept".into(), ..Description::default() };
    plant.archive.test_runs().start(description, "test", Nanos(1)).unwrap();
    plant.fill(&mut node, 10);
    plant.stop();
    assert_eq!(all_of(&folder), numbers(0..1_640));
}

#[test]
fn a_folder_that_is_removed_is_not_made_again_and_a_new_one_gets_what_the_log_has() {
    let (_around, folder) = folder();
    let mut node = Node::new(1);
    // The topic log keeps little more than 40 samples.
    let mut plant = Plant::start(config(&folder), &node, 2_000);
    plant.fill(&mut node, 30);
    fs::remove_dir_all(&folder).unwrap();
    for _ in 0..5 {
        send_in_vain(&mut plant, &mut node, 40);
    }
    assert!(!folder.exists(), "a folder is made");
    fs::create_dir(&folder).unwrap();
    stores_again(&plant);
    let read = plant.past(0, None);
    let first = read.numbers[0].0;
    assert_eq!((first > 0, read.numbers.clone()), (true, numbers(first..1_400)));
    let at = oasis_wire::quantity::Position { epoch: plant.epoch(), offset: oasis_wire::quantity::Offset(0) };
    assert_eq!(plant.past_at(at).gaps, [(0, first, "disk_error")]);
    plant.stop();
    assert_eq!(all_of(&folder), read.numbers);
}

#[test]
fn a_folder_that_another_process_has_taken_is_left_to_it() {
    let (_around, folder) = folder();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(&folder), &node, ROOM);
    plant.fill(&mut node, 5);
    fs::remove_dir_all(&folder).unwrap();
    let other = oasis_store::open(config(&folder)).unwrap();
    send_in_vain(&mut plant, &mut node, 40);
    eventually("the owner is not shown", || {
        plant.archive.problem().is_some_and(|problem| problem.contains("open in another process"))
    });
    assert!(segment_files(&folder).is_empty());
    drop(other);
    stores_again(&plant);
    assert_eq!(plant.past(0, None).numbers, numbers(0..240));
}

#[test]
fn a_stop_and_a_start_while_the_folder_is_gone_change_nothing() {
    let (around, folder) = folder();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(&folder), &node, ROOM);
    plant.fill(&mut node, 5);
    let away = around.path().join("away");
    fs::rename(&folder, &away).unwrap();
    send_in_vain(&mut plant, &mut node, 40);
    plant.pause();
    assert!(matches!(
        oasis_store::open_again(&plant.archive.history().0, config(&folder)),
        Err(OpenError::Gone(FolderGone::Absent(_)))
    ));
    plant.resume();
    eventually("the thread has not begun", || matches!(plant.flush(), Err(NotStored::Gone(_))));
    send_in_vain(&mut plant, &mut node, 40);
    fs::rename(&away, &folder).unwrap();
    stores_again(&plant);
    assert_eq!(plant.past(0, None).numbers, numbers(0..280));
}

#[test]
fn samples_in_a_removed_file_are_not_reported_as_stored() {
    let (_around, folder) = folder();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(&folder), &node, ROOM);
    plant.fill(&mut node, 1);
    segment_files(&folder).iter().for_each(|file| fs::remove_file(file).unwrap());
    node.take(40);
    plant.send(&mut node, true);
    let refused = plant.flush().unwrap_err();
    assert!(matches!(&refused, NotStored::DiskError(detail) if detail.contains("removed")), "{refused}");
    assert_eq!(plant.account().stored, 40);
    stores_again(&plant);
    assert_eq!(plant.past(40 * STEP, None).numbers, numbers(40..80));
}
