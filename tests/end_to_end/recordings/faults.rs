//! Imports of recordings with faults: no value is invented, no recording hides another one, and the exit status says what happened.

use super::{lines, run};
use crate::harness::{oasis, repository};
use mcap::{Writer, records::MessageHeader};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn case(name: &str) -> PathBuf {
    repository().join("tests/end_to_end/recordings/mcap_cases").join(name)
}

/// Exit status, and what it said.
fn import(archive: &Path, arguments: &[&str]) -> (i32, String) {
    let done = oasis().arg("import").arg("--archive").arg(archive).args(arguments).output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

fn import_case(archive: &Path, name: &str) -> (i32, String) {
    import(archive, &[case(name).to_str().unwrap()])
}

fn sql(archive: &Path, query: &str) -> Vec<String> {
    let (is_done, out, said) = run("sql", archive, &["--format", "csv", query]);
    assert!(is_done, "{said}");
    String::from_utf8(out).unwrap().lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn absent_and_null_values_stay_absent_and_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = import_case(folder.path(), "missing_and_null.mcap");
    assert_eq!(status, 0, "{said}");
    for line in [
        "a: n: 2 values absent or null, stored as NaN",
        "a: b: 2 values absent or null, named in oasis.absent",
        "a: s: 2 values absent or null, named in oasis.absent",
        "a: p.k: 3 values absent or null, stored as NaN",
        "a: a: 2 values absent or null, named in oasis.absent",
        "a: a[]: 1 values absent or null, stored as NaN",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let rows = sql(folder.path(), r#"SELECT n, b, s, v, "p.x", "p.k", a FROM a ORDER BY time"#);
    assert_eq!(rows, ["1,1,x,1.5,1,2,[1.0]", ",,,,,,", ",,,,,,", r#"2,1,y,2.5,,,"[""NaN"",3.0]""#]);
    assert_eq!(
        sql(folder.path(), "SELECT count(b), sum(n), count(*) FROM a WHERE b = 0 OR s = '' OR n = 0"),
        ["0,,0"]
    );
    assert_eq!(
        sql(folder.path(), r#"SELECT "oasis.absent" FROM a WHERE b IS NULL LIMIT 1"#),
        [r#""[""b"",""s"",""a""]""#]
    );
    // An export and its import have the same rows.
    let (file, other) = (folder.path().join("again.mcap"), folder.path().join("other"));
    let (is_done, _, said) =
        run("export", folder.path(), &["--format", "mcap", "-o", file.to_str().unwrap()]);
    assert!(is_done, "{said}");
    assert_eq!(import(&other, &[file.to_str().unwrap()]).0, 0);
    assert_eq!(sql(&other, r#"SELECT n, b, s, v, "p.x", "p.k", a FROM a ORDER BY time"#), rows);
}

#[test]
fn fields_of_later_messages_are_columns() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(import_case(folder.path(), "late_field.mcap").0, 0);
    assert_eq!(sql(folder.path(), "SELECT x, y FROM a ORDER BY time"), ["1,", "2,3", "3,4"]);
}

#[test]
fn whole_numbers_are_exact_or_reported() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(import_case(folder.path(), "int_from_double_writer.mcap").0, 0);
    assert_eq!(sql(folder.path(), "SELECT n FROM a ORDER BY time"), ["0", "1", "2"]);

    // Not all of them fit into one type.
    let other = folder.path().join("other");
    let (status, said) = import_case(&other, "schemaless_big_int.mcap");
    assert!(
        status == 3 && said.contains("a: n: 4 whole numbers rounded to 64-bit reals"),
        "{status}: {said}"
    );
    assert!(said.contains("imported without some messages or values"), "{said}");

    let exact = folder.path().join("exact.mcap");
    write(
        &exact,
        &[("a", &[r#"{"n":9007199254740993}"#, r#"{"n":1}"#]), ("b", &[r#"{"n":18446744073709551615}"#])],
    );
    let third = folder.path().join("third");
    let (status, said) = import(&third, &[exact.to_str().unwrap()]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(sql(&third, "SELECT n FROM a ORDER BY time"), ["9007199254740993", "1"]);
    // SQL has no such number.
    let (is_done, out, said) = super::run("export", &third, &["--format", "jsonl", "exact/b"]);
    assert!(is_done && String::from_utf8(out).unwrap().contains("18446744073709551615"), "{said}");
}

#[test]
fn fields_that_are_not_stored_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.mcap");
    let deep = format!("{}1{}", r#"{"d":"#.repeat(9), "}".repeat(9));
    let message = format!(r#"{{"x": 1, "list": [], "deep": {deep}}}"#);
    write(&file, &[("a", &[&message, &message]), ("scalar", &["1.5"])]);
    let (status, said) = import(&folder.path().join("archive"), &[file.to_str().unwrap()]);
    assert_eq!(status, 3, "{said}");
    for line in [
        "a: list: 2 values skipped: lists without values",
        "a: deep.d.d.d.d.d.d.d: 2 values skipped: nested deeper than 8 objects and lists",
        "scalar: 1 messages skipped: a message does not match the schema: the message is 1.5, expected an object",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

/// A file with a JSON channel without a schema for each topic.
fn write(path: &Path, topics: &[(&str, &[&str])]) {
    let mut writer = Writer::new(fs::File::create(path).unwrap()).unwrap();
    for (topic, messages) in topics {
        let channel_id = writer.add_channel(0, topic, "json", &BTreeMap::new()).unwrap();
        for (at, message) in (0..).zip(*messages) {
            let header = MessageHeader { channel_id, sequence: 0, log_time: at, publish_time: at };
            writer.write_to_known_channel(&header, message.as_bytes()).unwrap();
        }
    }
    writer.finish().unwrap();
}

#[test]
fn topics_that_differ_in_a_slash_or_a_control_character_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = import_case(folder.path(), "slash_collision.mcap");
    assert!(status == 0 && said.contains("/imu: imported as the instance /imu"), "{said}");
    let counts = sql(folder.path(), "SELECT instance, samples FROM instances ORDER BY instance");
    assert_eq!(counts, ["/imu,5", "imu,5"]);
    let (is_done, out, said) = run("export", folder.path(), &["slash_collision//imu", "--format", "jsonl"]);
    assert!(is_done && String::from_utf8(out).unwrap().lines().count() == 5, "{said}");

    let (file, other) = (folder.path().join("lines.mcap"), folder.path().join("other"));
    write(&file, &[("a\nb", &[r#"{"x":1}"#])]);
    let (status, said) = import(&other, &[file.to_str().unwrap()]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(sql(&other, "SELECT instance FROM instances"), [r"a\u{a}b"]);
}

#[test]
fn two_channels_of_one_topic_keep_all_messages() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.mcap");
    write(&file, &[("a", &[r#"{"x":1}"#, r#"{"x":2}"#]), ("a", &[r#"{"x":1}"#, r#"{"x":3}"#])]);
    let archive = folder.path().join("archive");
    assert_eq!(import(&archive, &[file.to_str().unwrap()]).0, 0);
    assert_eq!(sql(&archive, "SELECT x FROM a ORDER BY x"), ["1", "1", "2", "3"]);
}

#[test]
fn recordings_of_one_name_are_refused_with_both_names() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, x: u32| {
        let path = folder.path().join(name).join("drive.mcap");
        fs::create_dir(path.parent().unwrap()).unwrap();
        write(&path, &[("/imu", &[&format!(r#"{{"x":{x}}}"#)])]);
        path.to_str().unwrap().to_owned()
    };
    let (first, second) = (of("monday", 1), of("tuesday", 2));
    let archive = folder.path().join("archive");
    let (status, said) = import(&archive, &[&first, &second]);
    assert!(
        status == 1 && said.contains(&first) && said.contains(&second) && said.contains("--name"),
        "{said}"
    );
    assert!(!archive.exists());

    assert_eq!(import(&archive, &[&first, &first]).0, 0, "one file twice");
    let (status, said) = import(&archive, &[&second]);
    assert!(
        status == 1 && said.contains("has another recording of drive/imu") && said.contains(&second),
        "{said}"
    );
    assert_eq!(lines(&archive).len(), 1);
    assert_eq!(import(&archive, &["--name", "tuesday", &second]).0, 0);
    assert_eq!(import(&archive, &["--name", "drive", &second]).0, 0, "if it is meant");
    let counts = sql(&archive, "SELECT node, samples FROM instances ORDER BY node");
    assert_eq!(counts, ["drive,2", "tuesday,1"]);
}

#[test]
fn each_file_is_tried_and_the_damaged_ones_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let cases = ["good_chunk.mcap", "flip_in_zstd_chunk.mcap", "late_field.mcap"].map(case);
    let cases = cases.each_ref().map(|case| case.to_str().unwrap());
    let (status, said) = import(folder.path(), &cases);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("late_field.mcap: 3 samples imported"), "{said}");
    assert!(said.contains("2 of 3 files imported"), "{said}");
    assert!(said.contains(&format!("not imported: {}", cases[1])), "{said}");
    let counts = sql(folder.path(), "SELECT node, samples FROM instances ORDER BY node");
    assert_eq!(counts, ["good_chunk,50", "late_field,3"]);
}

#[test]
fn whole_chunks_of_a_damaged_file_are_imported_and_the_rest_is_declared() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = import_case(folder.path(), "flip_in_zstd_chunk.mcap");
    assert!(status == 1 && said.contains("1 of 1 chunks skipped, 50 messages lost (a 50)"), "{said}");

    let other = folder.path().join("other");
    let (status, said) = import_case(&other, "truncated_many_chunks.mcap");
    assert!(status == 3 && said.contains("the file ends in the record at byte"), "{said}");
    let numbers = sql(&other, "SELECT count(*), min(sequence), max(sequence) FROM a");
    let [count, first, last] = numbers[0].split(',').collect::<Vec<_>>()[..] else { panic!("{numbers:?}") };
    assert!(first == "1" && count == last && count.parse::<u64>().unwrap() > 100, "{numbers:?}");
}

#[test]
fn samples_after_a_damaged_chunk_keep_their_numbers_and_the_gap_has_a_cause() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chunks.mcap");
    let options = mcap::WriteOptions::new().chunk_size(Some(1_000)).compression(None);
    let mut writer = options.create(fs::File::create(&file).unwrap()).unwrap();
    let channel_id = writer.add_channel(0, "a", "json", &BTreeMap::new()).unwrap();
    for at in 0..300_u64 {
        let header = MessageHeader { channel_id, sequence: 0, log_time: at, publish_time: at };
        writer.write_to_known_channel(&header, format!(r#"{{"n":{at}}}"#).as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let whole = folder.path().join("whole");
    assert_eq!(import(&whole, &[file.to_str().unwrap()]).0, 0);

    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(9).position(|window| window == br#"{"n":150}"#).unwrap();
    bytes[at + 6] ^= 1;
    fs::write(&file, bytes).unwrap();
    let archive = folder.path().join("archive");
    let (status, said) = import(&archive, &[file.to_str().unwrap()]);
    assert!(status == 3 && said.contains("chunks skipped") && said.contains("messages lost (a "), "{said}");
    let rows = sql(&archive, "SELECT sequence, n FROM a ORDER BY sequence");
    let expected: Vec<_> = sql(&whole, "SELECT sequence, n FROM a ORDER BY sequence");
    assert!(rows.len() < 300 && rows.len() > 200, "{}", rows.len());
    assert!(rows.iter().all(|row| expected.contains(row)), "numbers and values belong together");
    let gaps = sql(&archive, "SELECT count, cause FROM gaps");
    assert_eq!(gaps, [format!("{},damaged", 300 - rows.len())]);
}

#[test]
fn fields_with_the_name_of_a_built_in_column_are_columns_that_the_schema_shows() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = import_case(folder.path(), "odd_keys.mcap");
    assert_eq!(status, 0, "{said}");
    for line in [r#"a: time: is the column "time_2""#, r#"a: node: is the column "node_2""#] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(sql(folder.path(), "SELECT DISTINCT time_2, node_2, node FROM a"), ["4,5,odd_keys"]);
    let (is_done, out, said) = run("sql", folder.path(), &[".schema a"]);
    let out = String::from_utf8(out).unwrap();
    assert!(is_done && out.contains("time_2") && out.contains("node_2"), "{out}{said}");
}
