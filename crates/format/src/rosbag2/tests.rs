use super::INPUT;
use crate::input::{InputError, InputFile, InputOptions, Report};
use oasis_wire::batch::{Batch, Sample};
use rusqlite::Connection;
use std::{collections::BTreeMap, fs, io, path::Path};

type Instances = BTreeMap<String, Vec<Sample>>;

fn read(path: &Path, is_partial: bool) -> Result<(Instances, Report), InputError> {
    let mut all = Instances::new();
    let mut file = InputFile { path, content: &mut io::empty() };
    let options = InputOptions { is_partial, ..InputOptions::default() };
    let report = (INPUT.read)(&mut file, &options, &mut |recorded, batch| {
        let samples = all.entry(recorded.instance.to_string()).or_default();
        samples.extend(Batch::parse(batch, &recorded.probe_type)?.samples());
        Ok(())
    })?;
    Ok((all, report))
}

fn bag(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT, offered_qos_profiles TEXT);
             CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);",
        )
        .unwrap();
    connection.execute_batch(sql).unwrap();
}

/// The text `a` in CDR.
const A: &str = "x'00010000020000006100'";

#[test]
fn files_of_a_folder_continue_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let topics = "INSERT INTO topics VALUES(4, '/chatter', 'std_msgs/msg/String', 'cdr', '');";
    for (name, time) in [("bag_10.db3", 30), ("bag_9.db3", 20)] {
        bag(
            &folder.path().join(name),
            &format!("{topics} INSERT INTO messages VALUES(1, 4, {time}, {A}), (2, 4, {time} - 5, {A});"),
        );
    }
    let (all, report) = read(folder.path(), false).unwrap();
    let samples: Vec<_> = all["chatter"].iter().map(|of| (of.sequence, of.time)).collect();
    assert_eq!(samples, [(1, 20), (2, 15), (3, 30), (4, 25)]);
    assert!(report.is_complete());
    fs::write(folder.path().join("metadata.yaml"), "  relative_file_paths:\n    - elsewhere/bag_9.db3\n")
        .unwrap();
    assert_eq!(read(folder.path(), false).unwrap().0["chatter"].len(), 2);
    fs::write(folder.path().join("metadata.yaml"), "  relative_file_paths:\n    - bag_7.db3\n").unwrap();
    let error = read(folder.path(), false).unwrap_err().to_string();
    assert!(error.contains("metadata.yaml names \"bag_7.db3\""), "{error}");
}

#[test]
fn messages_that_the_metadata_count_and_the_files_lack_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let topics = "INSERT INTO topics VALUES(4, '/chatter', 'std_msgs/msg/String', 'cdr', '');";
    let messages = format!("{topics} INSERT INTO messages VALUES(1, 4, 10, {A}), (2, 4, 20, {A});");
    bag(&folder.path().join("bag_0.db3"), &messages);
    let metadata = |count: u64| {
        format!(
            "  relative_file_paths:\n    - bag_0.db3\n  topics_with_message_count:\n    - topic_metadata:\n        name: /chatter\n      message_count: {count}\n"
        )
    };
    fs::write(folder.path().join("metadata.yaml"), metadata(2)).unwrap();
    assert!(read(folder.path(), false).unwrap().1.is_complete());
    fs::write(folder.path().join("metadata.yaml"), metadata(5)).unwrap();
    let (all, report) = read(folder.path(), false).unwrap();
    assert_eq!(all["chatter"].len(), 2);
    let text = "/chatter: 3 messages are missing: metadata.yaml counts 5, and the files have 2";
    assert!(report.findings.iter().any(|of| of.to_string() == text && of.is_loss), "{report:?}");
}

#[test]
fn messages_that_cannot_be_read_are_counted_with_their_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db3");
    bag(
        &path,
        &format!(
            "INSERT INTO topics VALUES(1, '/a', 'std_msgs/msg/String', 'cdr', ''), (2, '/own', 'own/msg/Thing', 'cdr', ''), (3, '/x', 'a/msg/B', 'xml', '');
             INSERT INTO messages VALUES(1, 1, 10, {A}), (2, 2, 10, {A}), (3, 3, 10, {A}), (4, 9, 10, {A}), (5, 1, 11, x'0001');"
        ),
    );
    let (all, report) = read(&path, false).unwrap();
    assert_eq!(all["a"].len(), 1);
    let texts: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    for text in [
        "/own: 1 messages skipped: the file has no definition",
        "/x: 1 messages",
        "lacks their topic",
        "/a: 1 messages",
    ] {
        assert!(texts.iter().any(|found| found.contains(text)), "{texts:?}");
    }
    Connection::open(&path)
        .unwrap()
        .execute_batch(&format!("INSERT INTO messages VALUES(6, 1, -7, {A})"))
        .unwrap();
    let error = read(&path, false).unwrap_err().to_string();
    assert!(error.contains("1 of /a (first: message 6, 1969-12-31T23:59:59.999999993Z)"), "{error}");
    assert_eq!(read(&path, true).unwrap().0["a"].len(), 1);
}

#[test]
fn a_database_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a?b%20.db3");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE t(a); CREATE VIEW messages AS SELECT 1;")
        .unwrap();
    let error = read(&path, false).unwrap_err().to_string();
    assert!(error.contains("without the table `topics` of rosbag2"), "{error}");
    fs::write(&path, [&b"SQLite format 3\0"[..], &[0x5a; 5_000]].concat()).unwrap();
    assert!(read(&path, false).unwrap_err().to_string().contains(".recover"));
}
