//! The catalogue may be damaged in any way, or gone: samples are there, and the damage is reported.

use super::{copy_of, numbers};
use crate::plant::{Node, Plant, config};
use proptest::prelude::*;
use std::{fs, path::Path};

const ROOM: usize = 8 * 1024 * 1024;

/// An archive of 1,200 samples that was closed cleanly, with a pinned test run.
fn archive(folder: &Path) -> Node {
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder), &node, ROOM);
    plant.fill(&mut node, 30);
    plant.stop();
    node
}

fn renamed(folder: &Path) -> usize {
    let names =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("catalogue.damaged-") && name.ends_with(".sqlite")).count()
}

#[test]
fn a_catalogue_that_is_none_is_put_aside_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let node = archive(folder.path());
    // No database; an invalid page; an unknown version; a header that forbids to write.
    for (at, damage) in [(0, &b"SQLite format 4"[..]), (100, &[0xff; 400]), (60, &[0xff]), (18, &[9])] {
        let mut bytes = fs::read(folder.path().join("catalogue.sqlite")).unwrap();
        bytes[at..at + damage.len()].copy_from_slice(damage);
        fs::write(folder.path().join("catalogue.sqlite"), bytes).unwrap();
        let before = renamed(folder.path());
        let plant = Plant::start(config(folder.path()), &node, ROOM);
        assert_eq!(plant.past(0, None).numbers, numbers(0..1_200));
        let findings = plant.archive.counters().findings;
        let told = findings.iter().find(|finding| finding.file == "catalogue.sqlite").unwrap();
        assert!(told.kind == "damaged" && told.detail.contains("catalogue.damaged-"), "{told:?}");
        assert_eq!(renamed(folder.path()), before + 1);
        plant.stop();
    }
}

#[test]
fn a_column_whose_name_is_damaged_does_not_stop_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let node = archive(folder.path());
    let whole = fs::read(folder.path().join("catalogue.sqlite")).unwrap();
    let places: Vec<_> = (0..whole.len()).filter(|&at| whole[at..].starts_with(b"host")).collect();
    assert!(!places.is_empty(), "a column has this name");
    for at in places {
        let copy = copy_of(folder.path());
        let mut bytes = whole.clone();
        bytes[at] ^= 2;
        fs::write(copy.path().join("catalogue.sqlite"), bytes).unwrap();
        let plant = Plant::start(config(copy.path()), &node, ROOM);
        assert_eq!(plant.past(0, None).numbers, numbers(0..1_200));
        plant.stop();
    }
}

#[test]
fn a_missing_catalogue_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let node = archive(folder.path());
    fs::remove_file(folder.path().join("catalogue.sqlite")).unwrap();
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    assert_eq!(plant.past(0, None).numbers, numbers(0..1_200));
    let findings = plant.archive.counters().findings;
    assert!(findings.iter().any(|finding| finding.detail.contains("it is gone")), "{findings:?}");
}

#[test]
fn a_new_archive_lacks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plant = Plant::start(config(folder.path()), &Node::new(1), ROOM);
    assert!(plant.archive.counters().findings.is_empty());
}

#[test]
fn entries_of_the_catalogue_alone_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    let node = archive(folder.path());
    let path = folder.path().join("catalogue.sqlite");
    {
        let sqlite = rusqlite::Connection::open(&path).unwrap();
        let run = "INSERT INTO test_run (name, started, stopped, notes, pinned, who) VALUES ('kept', 1, 2, 'n', 1, 'me')";
        sqlite.execute(run, []).unwrap();
        // A file that the catalogue has another length of.
        sqlite.execute("UPDATE segment SET bytes = bytes + 1", []).unwrap();
    }
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    assert_eq!((plant.past(0, None).numbers, renamed(folder.path())), (numbers(0..1_200), 1));
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    let kept: String =
        sqlite.query_row("SELECT name FROM test_run WHERE pinned = 1", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "kept");
}

#[test]
fn a_table_whose_columns_have_damaged_names_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let node = archive(folder.path());
    let path = folder.path().join("catalogue.sqlite");
    {
        let sqlite = rusqlite::Connection::open(&path).unwrap();
        let run = "INSERT INTO test_run (name, started, notes, pinned, who) VALUES ('kept', 1, 'n', 1, 'me')";
        sqlite.execute(run, []).unwrap();
        sqlite.execute("UPDATE segment SET bytes = bytes + 1", []).unwrap();
        sqlite.pragma_update(None, "writable_schema", true).unwrap();
        // No UTF-8.
        let name = "UPDATE sqlite_schema SET sql = replace(sql, 'notes', CAST(x'6e6fff6573' AS TEXT)) WHERE name = 'test_run'";
        assert_eq!(sqlite.execute(name, []).unwrap(), 1);
    }
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    assert_eq!((plant.past(0, None).numbers, renamed(folder.path())), (numbers(0..1_200), 1));
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    let kept: String = sqlite.query_row("SELECT notes FROM test_run", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "n");
}

#[test]
fn causes_of_losses_that_there_is_no_room_for_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = archive(folder.path());
    {
        let sqlite = rusqlite::Connection::open(folder.path().join("catalogue.sqlite")).unwrap();
        let many = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            INSERT INTO loss SELECT 'other', 'instance', 'run', i, i, 'network', i FROM n";
        assert_eq!(sqlite.execute(many, []).unwrap(), 100_000);
    }
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    assert_eq!(plant.archive.counters().losses_forgotten, 0);
    for _ in 0..3 {
        node.lose(5);
        node.take(40);
        plant.send(&mut node, true);
    }
    // Losses of the ledgers are listed at the latest when the archive ends.
    let archive = plant.stop();
    assert_eq!(archive.counters().losses_forgotten, 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever bytes are flipped, the start succeeds. If anything was put aside, every sample is there.
    #[test]
    fn flipped_bytes_never_stop_a_start(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..200),
    ) {
        thread_local! {
            static PLANT: (tempfile::TempDir, Node) = {
                let folder = tempfile::tempdir().unwrap();
                let node = archive(folder.path());
                (folder, node)
            };
        }
        PLANT.with(|(folder, node)| {
            let copy = copy_of(folder.path());
            let path = copy.path().join("catalogue.sqlite");
            let mut bytes = fs::read(&path).unwrap();
            for (at, flip) in &flips {
                let at = at.index(bytes.len());
                // The last byte of the version: a later one is refused, as that of a newer program is.
                if at != 63 {
                    bytes[at] ^= flip;
                }
            }
            fs::write(&path, bytes).unwrap();
            let plant = Plant::start(config(copy.path()), node, ROOM);
            if renamed(copy.path()) > 0 {
                prop_assert_eq!(plant.past(0, None).numbers, numbers(0..1_200));
            }
            plant.stop();
            Ok(())
        })?;
    }
}
