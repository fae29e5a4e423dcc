//! A recording becomes part of an archive that stores live samples meanwhile.

use super::{ROOM, numbers, segment_files};
use crate::plant::{self, Node, Plant, config, counter_of};
use oasis_recordings::import::Import;
use oasis_store::History;
use std::{path::Path, thread};
use tokio::runtime::Runtime;

/// Samples in a batch.
const BATCH: u64 = 40;

fn add(import: &mut Import, batches: u64) {
    let node = Node::new(9);
    for batch in 0..batches {
        import.add(&counter_of("recorded", 9), &node.batch(1, batch * BATCH, BATCH)).unwrap();
    }
}

fn instances(folder: &Path) -> Vec<String> {
    History::open(folder).unwrap().instances().unwrap().into_iter().map(|(node, _)| node).collect()
}

#[test]
fn it_is_there_at_once_and_live_samples_are_stored_all_the_while() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 2);
    let mut import = plant.begin_import();
    add(&mut import, 200);
    plant.fill(&mut node, 2);
    assert_eq!(instances(folder.path()), ["plant"]);
    assert_eq!(plant.finish_import(import).unwrap().samples, 200 * BATCH);
    assert_eq!(instances(folder.path()), ["plant", "recorded"]);
    let last = segment_files(folder.path()).pop();
    plant.fill(&mut node, 2);
    // Later samples of a lane follow those of the import.
    assert!(segment_files(folder.path()).pop() > last);
    plant.stop();
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..6 * BATCH));
    let history = History::open(folder.path()).unwrap();
    let stored = history.0.extents("recorded", "counter", 0).unwrap();
    let samples: u64 = stored.iter().map(|extent| extent.end.0 - extent.first.0).sum();
    assert_eq!(samples, 200 * BATCH);
    assert!(!folder.path().join("import.part").exists());
}

#[test]
fn it_takes_no_file_that_the_archive_begins_at_the_same_time() {
    const ROUNDS: u64 = 60;
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    for round in 0..ROUNDS {
        let mut import = plant.begin_import();
        node.take(BATCH);
        plant.send(&mut node, true);
        thread::scope(|scope| {
            // The archive begins a file, since the last import has ended the one before.
            let archive = plant.archive.clone();
            scope.spawn(move || Runtime::new().unwrap().block_on(archive.flush()).unwrap());
            let recorded = counter_of(&format!("recorded{round}"), 9);
            import.add(&recorded, &Node::new(9).batch(1, 0, BATCH)).unwrap();
        });
        plant.finish_import(import).unwrap();
    }
    plant.stop();
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..ROUNDS * BATCH));
}

#[test]
fn one_that_is_dropped_or_is_of_a_live_instance_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 2);
    let mut import = plant.begin_import();
    add(&mut import, 200);
    drop(import);
    let mut import = plant.begin_import();
    let refused = import.add(&counter_of("plant", 7), &Node::new(7).batch(1, 0, BATCH)).unwrap_err();
    assert!(refused.to_string().contains("plant/counter has sent samples"), "{refused}");
    drop(import);
    let mut import = plant.begin_import();
    add(&mut import, 1);
    plant.pause();
    let refused = plant.finish_import(import).unwrap_err();
    assert!(refused.to_string().contains("the archive is stopped"), "{refused}");
    assert_eq!(instances(folder.path()), ["plant"]);
    assert!(!folder.path().join("import.part").exists());
}
