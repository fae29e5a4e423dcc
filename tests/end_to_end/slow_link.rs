//! A node with a byte budget and a backlog: its newest samples come first, and everything is stored once.

use crate::harness::{
    Incoming, Native, Oasis, assert_explained, eventually, get, instance, ledger, oasis, post,
};
use oasis_dac::NO_OFFSET;
use oasis_wire::{
    batch::{Batch, Header, Sample},
    schema::ProbeType,
};
use serde_json::json;
use std::{
    fs,
    path::Path,
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};
use tempfile::TempDir;

/// Bytes a second that the node may send.
const BUDGET: u64 = 3_000;
/// Bytes of the backlog: some 20 s of the budget.
const BACKLOG: u64 = 60_000;
/// Samples of the backlog that are still to come when a newer one is shown.
const LONG_BEFORE: u64 = 500;

/// A node that samples without a DAC until it has a backlog, and a DAC with an archive after that.
struct Site {
    folder: TempDir,
    dac: Oasis,
    node: Oasis,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (listen, channel) = {
            let absent = Oasis::dac(&[]);
            (absent.listen().to_owned(), absent.channel().to_owned())
        };
        let (config, spool) = (folder.path().join("node.toml"), folder.path().join("spool"));
        let bounds = format!("max_bytes_per_second = {BUDGET}\nlinger_ms = 2\nspool_directory = {spool:?}\n");
        fs::write(&config, format!("[node]\n{bounds}")).unwrap();
        let node = ["--config", config.to_str().unwrap(), "--probe", "heartbeat@1000"];
        let node = Oasis::node(&channel, &node);
        eventually("a backlog", || (bytes_below(&spool) >= BACKLOG).then_some(()));
        let archive = folder.path().join("archive");
        let dac = Oasis::dac_at(&listen, &channel, &["--archive", archive.to_str().unwrap()]);
        eventually("the instance", || instance(&dac, "plant", "heartbeat"));
        let slower = json!({"node": "plant", "instance": "heartbeat", "command": "hertz", "hertz": 5});
        eventually("a slower rate", || (post(&dac, "/api/v1/commands", &slower).0 == 200).then_some(()));
        Self { folder, dac, node }
    }

    fn spool(&self) -> u64 {
        bytes_below(&self.folder.path().join("spool"))
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // A file may be removed meanwhile.
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) if entry.path().extension().is_some_and(|extension| extension == "segment") => {
            metadata.len()
        }
        _ => 0,
    });
    bytes.sum()
}

fn age_ms(sample: &Sample) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    u64::try_from(now).unwrap().saturating_sub(sample.time) / 1_000_000
}

/// The next batch: whether it is ahead of its turn, and its samples.
fn next(watcher: &mut Native, schema: &ProbeType) -> (bool, Vec<Sample>) {
    loop {
        match watcher.next() {
            Incoming::Batch(bytes) => {
                let is_ahead = Header::parse(&bytes).unwrap().offset == NO_OFFSET;
                return (is_ahead, Batch::parse(&bytes, schema).unwrap().samples().collect());
            }
            Incoming::Control(message) => assert_ne!(message["op"], "gap", "{message}"),
            Incoming::Closed(code, reason) => panic!("closed: {code} {reason}"),
        }
    }
}

#[test]
fn live_samples_come_long_before_the_backlog_ends_and_everything_is_stored_once() {
    let site = Site::new();
    let mut watcher = Native::connect(&site.dac.url());
    let subscribed = watcher.subscribe("heartbeat", json!({"from": "earliest", "ahead": true}));
    let schema: ProbeType = serde_json::from_value(subscribed["instance"]["schema"].clone()).unwrap();
    let (mut in_order, mut ahead): (u64, Vec<u64>) = (0, Vec::new());
    let mut first_shown = None;
    // Until the turn of the first one has come.
    while first_shown.is_none_or(|(number, _)| in_order < number) {
        let (is_ahead, samples) = next(&mut watcher, &schema);
        for sample in samples {
            if is_ahead {
                assert!(sample.sequence > in_order, "its turn has come");
                first_shown.get_or_insert((sample.sequence, in_order));
                ahead.push(sample.sequence);
                println!("#{} is shown after {} ms, before #{in_order}", sample.sequence, age_ms(&sample));
            } else {
                assert_eq!(sample.sequence, in_order + 1, "each once, in order");
                in_order = sample.sequence;
            }
        }
    }
    let (number, before) = first_shown.unwrap();
    assert!(before + LONG_BEFORE < number, "#{number} is shown before #{before}");
    assert!(ahead.is_sorted_by(|one, other| one < other), "each once: {ahead:?}");
    let Site { node, dac, folder } = site;
    let all = ledger(&dac, "plant", "heartbeat", "the end of the backlog", |ledger| {
        ledger["last_sequence"].as_u64() > ahead.last().copied()
    });
    assert_explained(&all);
    assert!(node.stop().success());
    let last = ledger(&dac, "plant", "heartbeat", "the node's last word", |ledger| {
        ledger["node"]["taken"] == ledger["last_sequence"]
    });
    assert_eq!((&last["received"], &last["duplicates"]), (&last["last_sequence"], &json!(0)), "{last:#}");
    assert_eq!(bytes_below(&folder.path().join("spool")), 0, "everything is safe");
    assert_eq!(get(&dac, "/api/v1/ledger")["channel"]["refused"], json!({}));
    let archived = archived(&folder.path().join("archive"), dac);
    assert_eq!(json!(archived), json!([last["received"], last["received"]]), "stored once");
}

/// Number of samples in an archive, and of different sequence numbers among them.
fn archived(archive: &Path, dac: Oasis) -> [u64; 2] {
    assert!(dac.stop().success());
    let question = "SELECT count(*) AS all_of_them, count(DISTINCT sequence) AS numbers FROM oasis_system_heartbeat_probe";
    let mut command: Command = oasis();
    command.args(["sql", "--archive", archive.to_str().unwrap(), question, "--format", "jsonl"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    [&row["all_of_them"], &row["numbers"]].map(|count| count.as_u64().unwrap())
}

#[test]
fn tail_prints_a_sample_ahead_of_its_turn_once() {
    let site = Site::new();
    let mut command = oasis();
    command.args(["tail", "--url", &site.dac.url(), "plant/heartbeat", "--ahead", "--from-earliest"]);
    command.args(["--format", "json", "--count", "1000"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut numbers: Vec<u64> = lines.iter().map(|line| line["sequence"].as_u64().unwrap()).collect();
    assert!(lines.iter().any(|line| line["ahead"] == true), "{lines:?}");
    assert!(lines.iter().any(|line| line["ahead"].is_null()), "{lines:?}");
    numbers.sort_unstable();
    assert!(numbers.is_sorted_by(|one, other| one < other), "each once: {numbers:?}");
    assert!(site.spool() > 0, "the backlog has not ended");
}
