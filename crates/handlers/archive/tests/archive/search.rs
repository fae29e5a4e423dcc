//! A search finds every record once: over files, lives of the DAC and what is not stored yet, page by page.

use crate::{
    plant::{Node, Plant, STEP, config},
    rollups::eventually,
};
use oasis_handler::InstanceLog;
use oasis_query::search::{FoundRecords, MOST_BYTES, Order, SearchQuery, Searched, search};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

const ROOM: usize = 8 * 1024 * 1024;

fn counter(plant: &Plant) -> Searched {
    let instance = plant.dac.registry.find("plant", "counter").unwrap();
    Searched { node: "plant".into(), instance: "counter".into(), log: Some(Arc::new(InstanceLog(instance))) }
}

fn page(plant: &Plant, wanted: &SearchQuery, most_bytes: u64) -> FoundRecords {
    let archive = plant.archive.history();
    search(Some(&archive), &[counter(plant)], wanted, most_bytes, &AtomicBool::new(false)).unwrap()
}

/// The numbers of all records, page by page, and the number of pages.
fn numbers(plant: &Plant, wanted: &SearchQuery, order: Order, most_bytes: u64) -> (Vec<u64>, usize) {
    let (mut numbers, mut pages, mut next) = (Vec::new(), 0, None);
    loop {
        let found = page(plant, &wanted.clone().in_order(order, next.as_ref()), most_bytes);
        pages += 1;
        numbers.extend(found.records.iter().map(|record| record.sample.sequence - 1));
        let Some(cursor) = found.next else { return (numbers, pages) };
        assert_ne!(Some(&cursor), next.as_ref(), "it gets further");
        next = Some(cursor.to_string().parse().unwrap());
    }
}

/// Texts of the counter are as many x as the number modulo 20.
fn with(word: &str, range: Range<u64>) -> Vec<u64> {
    range.filter(|number| number % 20 >= word.len() as u64).collect()
}

fn wanted(text: &str, times: Range<u64>, most: usize) -> SearchQuery {
    SearchQuery::of(times, most).with_words(text).unwrap()
}

#[test]
fn each_record_is_found_once_over_files_lives_and_the_topic_log_in_both_orders() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    plant.stop();
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 3);
    // Not stored yet.
    node.take(25);
    plant.send(&mut node, true);
    for word in ["x", "XXXXX", "xxxxxxxxxxxxxxxxxxx"] {
        let oldest_first = with(word, 0..2_145);
        let newest_first: Vec<_> = oldest_first.iter().rev().copied().collect();
        for (most, bytes) in [(1_000, MOST_BYTES), (7, MOST_BYTES), (1_000, 1), (50, 3_000)] {
            let wanted = wanted(word, 0..u64::MAX, most);
            assert_eq!(
                numbers(&plant, &wanted, Order::Oldest, bytes).0,
                oldest_first,
                "{word} {most} {bytes}"
            );
            assert_eq!(
                numbers(&plant, &wanted, Order::Newest, bytes).0,
                newest_first,
                "{word} {most} {bytes}"
            );
        }
    }
}

#[test]
fn a_page_of_frequent_records_reads_little_and_one_of_rare_ones_says_how_far_it_came() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    let frequent = page(&plant, &wanted("x", 0..u64::MAX, 10), MOST_BYTES);
    assert_eq!(frequent.records.len(), 10);
    assert!(frequent.searched <= 80, "two batches: {}", frequent.searched);
    let rare = page(&plant, &wanted("absent", 0..u64::MAX, 10), 1_000);
    assert!(rare.records.is_empty() && rare.next.is_some());
    assert!(rare.reached.is_some_and(|reached| (1_000 * STEP..2_000 * STEP).contains(&reached)), "{rare:?}");
    let all = page(&plant, &wanted("absent", 0..u64::MAX, 10), MOST_BYTES);
    assert_eq!((all.searched, all.next, all.reached), (2_000, None, None));
}

#[test]
fn only_the_wanted_time_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    let times = 500 * STEP..800 * STEP;
    let (found, _) = numbers(&plant, &wanted("xx", times, 9), Order::Oldest, MOST_BYTES);
    assert_eq!(found, with("xx", 500..800));
    let nothing = wanted("x", 2_000 * STEP..u64::MAX, 9);
    assert_eq!(numbers(&plant, &nothing, Order::Newest, MOST_BYTES), (vec![], 1));
}

#[test]
fn fields_are_metrics_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 2);
    let of = |field: &str| SearchQuery::of(0..u64::MAX, 9).with_field(field).unwrap();
    for (field, expected) in
        [("count=17", vec![17]), ("pad=xxx", vec![63, 43, 23, 3]), ("count=x", vec![]), ("x=1", vec![])]
    {
        assert_eq!(numbers(&plant, &of(field), Order::Newest, MOST_BYTES).0, expected, "{field}");
    }
}

#[test]
fn a_damaged_batch_is_counted_and_the_others_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    plant.stop();
    let file = crate::segment_files(folder.path()).remove(0);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    std::fs::write(&file, bytes).unwrap();
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    let found = page(&plant, &wanted("xxxxxxxxxxxxxxxxxxx", 0..u64::MAX, 1_000), MOST_BYTES);
    assert_eq!((found.records.len(), found.unreadable), (98, 1), "a batch of 40 has two of them");
}

/// The word indexes of an archive.
fn word_indexes(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "owords")).collect()
}

#[test]
fn a_word_index_finds_the_same_and_reads_nothing_for_an_absent_word() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    plant.stop();
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    let files = crate::segment_files(folder.path()).len();
    eventually("a file has no word index", || word_indexes(folder.path()).len() == files);
    for word in ["x", "XXXXX", "xxxxxxxxxxxxxxxxxxx"] {
        let newest_first: Vec<_> = with(word, 0..2_000).into_iter().rev().collect();
        let wanted = wanted(word, 0..u64::MAX, 7);
        assert_eq!(numbers(&plant, &wanted, Order::Newest, MOST_BYTES).0, newest_first, "{word}");
    }
    let reads = || plant.archive.history().file_reads();
    let before = reads();
    let absent = page(&plant, &wanted("absent", 0..u64::MAX, 10), MOST_BYTES);
    assert_eq!((absent.records.len(), absent.searched, absent.next), (0, 2_000, None));
    assert_eq!(reads(), before, "it reads no batch");
    // Without four characters in a row, it has to.
    page(&plant, &wanted("abs", 0..u64::MAX, 10), MOST_BYTES);
    assert!(reads() > before);
}

#[test]
fn what_a_scan_of_a_file_with_a_damaged_index_leaves_out_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    plant.fill(&mut node, 50);
    plant.stop();
    Plant::start(config(folder.path()), &node, ROOM).stop();
    let file = crate::segment_files(folder.path()).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    // A batch, and the index before the trailer.
    let (batch, index) = (bytes.len() / 2, bytes.len() - 24);
    bytes[batch] ^= 0xff;
    bytes[index] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    word_indexes(folder.path()).iter().for_each(|index| fs::remove_file(index).unwrap());
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    let found = page(&plant, &wanted("xxxxxxxxxxxxxxxxxxx", 0..u64::MAX, 1_000), MOST_BYTES);
    assert_eq!((found.records.len(), found.unreadable), (98, 1), "a batch of 40 has two of them");
}
