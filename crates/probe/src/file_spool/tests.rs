//! The files compared with a plain list of the written batches, with damage at any place.

use super::{
    directory::{Directory, segments},
    journal::Journal,
};
use crate::{
    announcement::Announcement,
    spool::{Missing, QueuedBatch, SequencePosition},
};
use oasis_channel::{InstanceState, NodeIdentity, RegisteredInstance};
use oasis_wire::probe_kind::ProbeKind;
use proptest::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

pub const LIMIT: u64 = 1024 * 1024;

/// Returns a node with this many instances.
pub fn announcement(instances: usize) -> Arc<Announcement> {
    let instance = |number| RegisteredInstance {
        name: format!("instance {number}"),
        probe_type: Uuid::nil(),
        kind: ProbeKind::Pushed,
        demand: None,
        declared: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    let (uuid, run) = (Uuid::nil(), Uuid::new_v4());
    let identity =
        NodeIdentity { name: "n".into(), uuid, run, host: "h".into(), software: "s".into(), pid: 1 };
    Arc::new(Announcement {
        identity,
        secret: None,
        types: Vec::new(),
        instances: (0..instances).map(instance).collect(),
    })
}

fn journal(folder: &Path) -> Journal {
    Journal::begin(Arc::new(Directory::open(folder, LIMIT).unwrap()), announcement(2))
}

/// Returns a batch with unique bytes.
fn batch(instance: usize, first_sequence: u64, count: u16, length: usize) -> QueuedBatch {
    let bytes = (0..length).map(|at| (at as u64 * 31 + first_sequence * 7 + instance as u64) as u8).collect();
    QueuedBatch {
        instance,
        first_sequence,
        count,
        before: Missing::default(),
        bytes: Arc::new(bytes),
        stored: None,
    }
}

/// Returns consecutive batches of these instances, counts and lengths.
fn batches(shapes: &[(usize, u16, usize)]) -> Vec<QueuedBatch> {
    let mut next = [1; 2];
    let one = |&(instance, count, length): &(usize, u16, usize)| {
        let first = next[instance];
        next[instance] += u64::from(count);
        batch(instance, first, count, length)
    };
    shapes.iter().map(one).collect()
}

/// Returns what the next process reads.
fn reopened(folder: &Path) -> Option<Journal> {
    let directory = Arc::new(Directory::open(folder, LIMIT).unwrap());
    let [run] = &directory.earlier_runs().unwrap()[..] else { panic!("one run") };
    Journal::earlier_run(directory.clone(), run.clone()).unwrap()
}

fn read(journal: &mut Journal) -> Vec<QueuedBatch> {
    std::iter::from_fn(|| journal.read().unwrap()).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let runs = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    runs.flat_map(|run| segments(&run).unwrap()).map(|segment| segment.path).collect()
}

#[test]
fn the_next_process_finds_the_written_batches_and_up_to_where_they_are_safe() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = journal(folder.path());
    let mut written = batches(&[(0, 3, 10), (1, 1, 0), (0, 2, 100_000), (0, 1, 20)]);
    writer.append(&mut written).1.unwrap();
    let released =
        vec![SequencePosition { sequence: 3, ..SequencePosition::default() }, SequencePosition::default()];
    writer.settle(released.clone(), 1).unwrap();
    drop(writer);
    let mut left = reopened(folder.path()).unwrap();
    assert_eq!((&left.head().taken, &left.head().released), (&vec![6, 1], &released));
    assert_eq!(read(&mut left), written);
    left.remove().unwrap();
    assert!(files(folder.path()).is_empty());
}

#[test]
fn written_batches_can_be_read_at_once_from_any_batch_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(folder.path());
    let mut written = batches(&[(0, 1, 40_000); 10]);
    journal.append(&mut written[..6]).1.unwrap();
    journal.read_from(written[3].stored.unwrap());
    assert_eq!(read(&mut journal), written[3..6]);
    assert_eq!(journal.read().unwrap(), None);
    journal.append(&mut written[6..]).1.unwrap();
    assert_eq!(read(&mut journal), written[6..]);
}

#[test]
fn segments_that_are_safe_and_not_needed_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(folder.path());
    let mut written = batches(&[(0, 1, 40_000); 4]);
    journal.append(&mut written).1.unwrap();
    assert_eq!(files(folder.path()).len(), 4);
    let up_to = |sequence| {
        vec![SequencePosition { sequence, ..SequencePosition::default() }, SequencePosition::default()]
    };
    journal.settle(up_to(4), written[2].stored.unwrap().segment).unwrap();
    assert_eq!(files(folder.path()).len(), 2, "the queue needs the third");
    journal.settle(up_to(2), u64::MAX).unwrap();
    assert_eq!(files(folder.path()).len(), 2, "the third is not safe");
    journal.settle(up_to(4), u64::MAX).unwrap();
    assert_eq!(files(folder.path()).len(), 1, "the one that is written to stays");
}

#[test]
fn the_oldest_segments_are_removed_but_their_sequence_numbers_stay() {
    let folder = tempfile::tempdir().unwrap();
    let first = {
        let mut journal = journal(folder.path());
        let mut written = batches(&[(0, 5, 30_000), (1, 7, 30_000)]);
        journal.append(&mut written).1.unwrap();
        files(folder.path())
    };
    let mut journal = journal(folder.path());
    let mut written = batches(&[(0, 1, 60_000); 30]);
    let (removed, outcome) = journal.append(&mut written);
    outcome.unwrap();
    assert!(removed > 0);
    let bytes: u64 = files(folder.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(bytes <= LIMIT, "{bytes}");
    let kept = read(&mut journal);
    assert_eq!(kept, written[30 - kept.len()..]);
    // The first run leaves a head: the samples that it had taken.
    drop(journal);
    let run = first[0].parent().unwrap().to_owned();
    let directory = Arc::new(Directory::open(folder.path(), LIMIT).unwrap());
    let mut left = Journal::earlier_run(directory, run).unwrap().unwrap();
    assert_eq!((left.head().taken.clone(), left.read().unwrap()), (vec![5, 7], None));
}

#[test]
fn a_failed_write_leaves_no_trace_and_the_next_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(folder.path());
    let mut written = batches(&[(0, 1, 10); 3]);
    journal.append(&mut written[..1]).1.unwrap();
    journal.obstruct(true);
    journal.append(&mut written[1..2]).1.unwrap_err();
    assert_eq!(written[1].stored, None);
    journal.append(&mut written[1..2]).1.unwrap_err();
    journal.obstruct(false);
    journal.append(&mut written[2..]).1.unwrap();
    assert_eq!(read(&mut journal), [written[0].clone(), written[2].clone()]);
}

#[test]
fn names_that_no_node_gives_and_what_is_no_file_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = journal(folder.path());
    let mut written = batches(&[(0, 3, 10), (1, 1, 20)]);
    writer.append(&mut written).1.unwrap();
    drop(writer);
    let run = files(folder.path())[0].parent().unwrap().to_owned();
    fs::create_dir(run.join("0000000009.segment")).unwrap();
    fs::copy(run.join("0000000001.segment"), run.join(format!("{}.segment", u64::MAX))).unwrap();
    fs::create_dir(folder.path().join(format!("{}-run", u64::MAX))).unwrap();
    fs::write(folder.path().join("0000000007-file"), b"").unwrap();
    let mut left = reopened(folder.path()).unwrap();
    assert_eq!(read(&mut left), written);
    drop(left);
    // They take no room from new samples either.
    let mut next = journal(folder.path());
    let mut more = batches(&[(0, 1, 60_000); 30]);
    next.append(&mut more).1.unwrap();
}

#[test]
fn two_processes_cannot_have_one_directory() {
    let folder = tempfile::tempdir().unwrap();
    let directory = Directory::open(folder.path(), LIMIT).unwrap();
    let message = Directory::open(folder.path(), LIMIT).unwrap_err().to_string();
    assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
    drop(directory);
    Directory::open(folder.path(), LIMIT).unwrap();
}

/// Location of a record: segment file, first byte, end.
fn extent(files: &[PathBuf], batch: &QueuedBatch) -> (PathBuf, u64, u64) {
    let stored = batch.stored.unwrap();
    let end = stored.offset + super::record::length(batch) as u64;
    (files[stored.segment as usize - 1].clone(), stored.offset, end)
}

fn shapes() -> impl Strategy<Value = Vec<(usize, u16, usize)>> {
    proptest::collection::vec((0..2_usize, 1..40_u16, 0..3_000_usize), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_file_cut_anywhere_loses_only_batches_after_the_cut(shapes in shapes(), cut in 0.0..1.0_f64) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = journal(folder.path());
        let mut written = batches(&shapes);
        writer.append(&mut written).1.unwrap();
        drop(writer);
        let files = files(folder.path());
        let last = files.last().unwrap();
        let length = (fs::metadata(last).unwrap().len() as f64 * cut) as u64;
        fs::OpenOptions::new().write(true).open(last).unwrap().set_len(length).unwrap();
        let whole = |batch: &&QueuedBatch| {
            let (file, _, end) = extent(&files, batch);
            file != *last || end <= length
        };
        let expected: Vec<QueuedBatch> = written.iter().filter(whole).cloned().collect();
        match reopened(folder.path()) {
            Some(mut left) => prop_assert_eq!(read(&mut left), expected),
            // Without a head: only if the only segment was cut within it.
            None => prop_assert!(files.len() == 1 && length < written[0].stored.unwrap().offset),
        }
    }

    #[test]
    fn a_byte_changed_anywhere_costs_one_batch(shapes in shapes(), place in 0.0..1.0_f64, change in 1..=255_u8) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = journal(folder.path());
        let mut written = batches(&shapes);
        writer.append(&mut written).1.unwrap();
        drop(writer);
        let files = files(folder.path());
        let file = &files[(files.len() as f64 * place) as usize];
        let mut bytes = fs::read(file).unwrap();
        let at = (bytes.len() as f64 * place) as usize;
        bytes[at] ^= change;
        fs::write(file, bytes).unwrap();
        let untouched = |batch: &&QueuedBatch| {
            let (of, from, to) = extent(&files, batch);
            of != *file || !(from..to).contains(&(at as u64))
        };
        let expected: Vec<QueuedBatch> = written.iter().filter(untouched).cloned().collect();
        match reopened(folder.path()) {
            Some(mut left) => {
                let found = read(&mut left);
                prop_assert!(written.len() - found.len() <= 1);
                prop_assert_eq!(found, expected);
            }
            None => prop_assert!(files.len() == 1 && (at as u64) < written[0].stored.unwrap().offset),
        }
    }

    #[test]
    fn noise_in_place_of_a_segment_costs_that_segment(shapes in shapes(), noise in proptest::collection::vec(any::<u8>(), 0..5_000)) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = journal(folder.path());
        let mut written = batches(&shapes);
        writer.append(&mut written).1.unwrap();
        drop(writer);
        let files = files(folder.path());
        fs::write(&files[0], noise).unwrap();
        let expected: Vec<QueuedBatch> = written.iter().filter(|batch| extent(&files, batch).0 != files[0]).cloned().collect();
        match reopened(folder.path()) {
            Some(mut left) => prop_assert_eq!(read(&mut left), expected),
            None => prop_assert_eq!(files.len(), 1),
        }
    }
}
