//! Missing samples in a recording have their cause wherever the recording goes.

use super::{
    export,
    plant::{self, Plant, plant},
    run,
};
use mcap::MessageStream;
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Returns the standard error of an export to this format.
fn said(archive: &Path, instance: &str, format: &str) -> Vec<String> {
    let (is_done, _, said) = run("export", archive, &[instance, "--format", format]);
    assert!(is_done, "{said}");
    said.lines().filter(|line| line.contains("missing")).map(str::to_owned).collect()
}

/// Returns the messages of an export of the plant about its tank.
fn of_tank(prefix: &str) -> Vec<String> {
    // In the order in which a sample meets the causes.
    let causes = ["1 sample is missing, ring_full", "7 samples are missing, node_restart"];
    let causes =
        [&causes[..], &["2 samples are missing, before_epoch", "1 sample is missing, unexplained"]].concat();
    causes.into_iter().map(|cause| format!("{prefix}plant/tank: {cause}")).collect()
}

#[test]
fn every_format_has_the_number_of_missing_samples_and_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    let formats = ["csv", "jsonl", "mcap"];
    let tables = if cfg!(feature = "arrow") { &["arrow", "parquet"][..] } else { &[] };
    for format in formats.iter().chain(tables) {
        assert_eq!(said(&archive, "plant/tank", format), of_tank(""), "{format}");
    }
    let path = folder.path().join("all.mcap");
    export(&archive, "mcap", &path);
    let bytes = fs::read(&path).unwrap();
    let messages = MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    let missing = messages.filter(|message| message.channel.topic == "/oasis/missing");
    let told: Vec<Value> = missing.map(|message| serde_json::from_slice(&message.data).unwrap()).collect();
    let of = |samples: u64, cause: &str, from: u64| {
        json!({
            "topic": "plant/tank", "node": "plant", "instance": "tank", "run": "00000000-0000-0000-0000-000000000001",
            "samples": samples, "cause": cause, "from_sequence": from, "to_sequence": from + samples - 1,
        })
    };
    let expected = [
        of(2, "before_epoch", 11),
        of(1, "ring_full", 13),
        of(1, "unexplained", 15),
        of(7, "node_restart", 21),
    ];
    assert_eq!(told, expected);
}

#[test]
fn losses_before_the_first_sample_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    let archive = plant::late(folder.path());
    assert_eq!(said(&archive, "plant/flag", "csv"), ["plant/flag: 8 samples are missing, before_epoch"]);
    let path = folder.path().join("late.mcap");
    export(&archive, "mcap", &path);
    let bytes = fs::read(&path).unwrap();
    let first = MessageStream::new(&bytes).unwrap().next().unwrap().unwrap();
    assert_eq!((first.channel.topic.as_str(), first.log_time), ("/oasis/missing", 11_000_000_000 / 7));
    let told: Value = serde_json::from_slice(&first.data).unwrap();
    assert_eq!((&told["from_sequence"], &told["to_sequence"]), (&json!(3), &json!(10)));
    // At the beginning of a later part nothing is missing.
    let (is_done, _, said) = run("export", &archive, &["plant/flag", "--from", "1714285714ns"]);
    assert!(is_done && !said.contains("missing"), "{said}");
}

/// Returns the gaps in SQL.
fn gaps(archive: &Path) -> String {
    let query = "SELECT node, instance, run, from_sequence, to_sequence, count, cause FROM gaps ORDER BY from_sequence";
    let (is_done, out, said) = run("sql", archive, &["--format", "csv", query]);
    assert!(is_done, "{said}");
    String::from_utf8(out).unwrap()
}

#[test]
fn imports_include_causes() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    let file = folder.path().join("all.mcap");
    export(&archive, "mcap", &file);
    let expected = gaps(&archive).replace("plant,", "bench:plant,");
    assert_eq!(expected.lines().count(), 4, "{expected}");
    for source in [&archive, &file] {
        let other = tempfile::tempdir().unwrap();
        let import = |again: bool| {
            let (is_done, _, said) =
                run("import", other.path(), &["--name", "bench", source.to_str().unwrap()]);
            assert!(is_done && said.contains("3 gaps have a cause") != again, "{said}");
        };
        import(false);
        assert_eq!(gaps(other.path()), expected);
        assert_eq!(said(other.path(), "bench:plant/tank", "csv"), of_tank("bench:"));
        import(true);
        assert_eq!(gaps(other.path()), expected);
    }
}
