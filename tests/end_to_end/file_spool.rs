//! The file spool: long outages of the DAC, killed nodes, damaged files.

use crate::harness::{Native, Oasis, assert_explained, causes, eventually, instance, ledger, oasis};
use oasis_wire::batch::Sample;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Memory for a fraction of a second, and a folder for the files.
struct Small {
    folder: TempDir,
    config: PathBuf,
}

impl Small {
    /// Half of it is for samples that wait for the file: half a second, so that a busy machine drops none.
    fn new() -> Self {
        Self::with_memory(32_768)
    }

    fn with_memory(spool_bytes: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("small.toml");
        let directory = folder.path().join("spool");
        let spool = format!("spool_directory = {directory:?}\nspool_directory_bytes = 4194304");
        fs::write(&config, format!("[node]\nspool_bytes = {spool_bytes}\nlinger_ms = 5\n{spool}\n")).unwrap();
        Self { folder, config }
    }

    fn node(&self, channel: &str) -> Oasis {
        let probe = ["--probe", "processor@1000"];
        Oasis::node(channel, &[&["--config", self.config.to_str().unwrap()], &probe[..]].concat())
    }

    /// The segments of all runs, in order.
    fn segments(&self) -> Vec<PathBuf> {
        let list = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().path()).collect()
        };
        let runs = list(&self.folder.path().join("spool"));
        let mut segments: Vec<_> = runs.iter().flat_map(|run| list(run)).collect();
        segments.retain(|path| path.extension().is_some_and(|extension| extension == "segment"));
        segments.sort();
        segments
    }

    /// The run that the first segment belongs to.
    fn run(&self) -> String {
        let segments = self.segments();
        let run = segments[0].parent().unwrap().file_name().unwrap().to_str().unwrap();
        run.split_once('-').unwrap().1.to_owned()
    }

    fn bytes(&self) -> u64 {
        // A segment may be removed meanwhile.
        self.segments().iter().filter_map(|path| fs::metadata(path).ok()).map(|metadata| metadata.len()).sum()
    }

    fn holds(&self, bytes: u64) {
        eventually("enough in the file spool", || (self.bytes() >= bytes).then_some(()));
    }
}

/// Addresses of page and channel of a DAC that does not run.
fn absent_dac() -> (String, String) {
    let dac = Oasis::dac(&[]);
    (dac.listen().to_owned(), dac.channel().to_owned())
}

/// All samples of `processor` in the DAC, up to a count of the second run.
fn first_run(dac: &Oasis, behind: usize) -> Vec<Sample> {
    let mut reader = Native::connect(&dac.url());
    reader.subscribe("processor", json!({"from": "earliest"}));
    let mut samples = reader.samples(1).0;
    loop {
        samples.extend(reader.samples(1).0);
        let second = samples.windows(2).position(|pair| pair[1].sequence <= pair[0].sequence);
        if let Some(last) = second.filter(|last| samples.len() > last + behind) {
            samples.truncate(last + 1);
            return samples;
        }
    }
}

/// The ledger once the node sends samples of its own run.
fn second_run(dac: &Oasis, first: &str) -> Value {
    let ledger = eventually("samples of the second run", || {
        let shown = instance(dac, "plant", "processor")?;
        let is_second = shown["run"] != first && shown["ledger"]["last_sequence"].as_u64() > Some(10);
        is_second.then(|| shown["ledger"].clone())
    });
    assert_explained(&ledger);
    ledger
}

#[test]
fn a_dac_receives_everything_after_an_outage_longer_than_memory_lasts() {
    let small = Small::new();
    let dac = Oasis::dac(&[]);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let began = Instant::now();
    let node = small.node(&channel);
    ledger(&dac, "plant", "processor", "50 samples", |ledger| ledger["received"].as_u64() > Some(50));
    dac.kill();
    // Without an archive samples are safe after 10 s: the next DAC does not receive them.
    let may_miss: &[&str] = if began.elapsed() < Duration::from_secs(10) { &[] } else { &["before_epoch"] };
    let before = small.bytes();
    small.holds(before + 60_000);
    let dac = Oasis::dac_again(&listen, &channel);
    // After a clean stop of the node, all samples have arrived.
    ledger(&dac, "plant", "processor", "the first samples", |ledger| {
        ledger["received"].as_u64() > Some(1_000)
    });
    assert!(node.stop().success());
    let last = ledger(&dac, "plant", "processor", "the node's last word", |ledger| {
        ledger["node"]["taken"] == ledger["last_sequence"]
    });
    assert_explained(&last);
    assert_eq!(causes(&last), may_miss, "{last:#}");
    assert_eq!(last["node"]["spool_full"], 0);
    assert_eq!(small.segments(), [] as [PathBuf; 0]);
}

/// `make bench-spool`: a DAC that is killed for half a minute, with the file spool and without.
#[test]
#[ignore = "takes a minute: make bench-spool"]
fn half_a_minute_without_a_dac() {
    let away = |small: &Small, arguments: &[&str]| {
        let dac = Oasis::dac(&[]);
        let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
        let node = Oasis::node(&channel, &[arguments, &["--probe", "processor@1000"]].concat());
        ledger(&dac, "plant", "processor", "50 samples", |ledger| ledger["received"].as_u64() > Some(50));
        dac.kill();
        std::thread::sleep(std::time::Duration::from_secs(30));
        let in_files = small.bytes();
        let dac = Oasis::dac_again(&listen, &channel);
        ledger(&dac, "plant", "processor", "samples", |ledger| ledger["received"].as_u64() > Some(50));
        assert!(node.stop().success());
        let last = ledger(&dac, "plant", "processor", "the node's last word", |ledger| {
            ledger["node"]["taken"] == ledger["last_sequence"]
        });
        assert_explained(&last);
        let gaps = last["gaps"].as_array().unwrap().iter();
        let dropped =
            gaps.filter(|gap| gap["cause"] == "spool_full").map(|gap| gap["count"].as_u64().unwrap());
        let dropped: u64 = dropped.sum();
        println!(
            "taken {}, received by the second DAC {}, declared as dropped by the node {}, missing for that cause {dropped}, {in_files} bytes in files",
            last["node"]["taken"], last["received"], last["node"]["spool_full"]
        );
        assert_eq!(last["node"]["spool_full"], dropped, "{last:#}");
        dropped
    };
    // A few seconds of samples.
    let small = Small::with_memory(131_072);
    assert_eq!(away(&small, &["--config", small.config.to_str().unwrap()]), 0);
    let without = small.folder.path().join("without.toml");
    fs::write(&without, "[node]\nspool_bytes = 131072\n").unwrap();
    assert!(away(&small, &["--config", without.to_str().unwrap()]) > 0);
}

#[test]
fn files_of_a_killed_node_are_sent_by_the_next_one() {
    let small = Small::new();
    let (listen, channel) = absent_dac();
    let node = small.node(&channel);
    small.holds(40_000);
    let first = small.run();
    node.kill();
    let node = small.node(&channel);
    let dac = Oasis::dac_again(&listen, &channel);
    let after = second_run(&dac, &first);
    assert_eq!((&after["missing"], &after["duplicates"]), (&json!(0), &json!(0)), "{after:#}");
    let samples = first_run(&dac, 10);
    assert!(samples.len() > 500, "{}", samples.len());
    assert!(samples.iter().zip(1..).all(|(sample, expected)| sample.sequence == expected));
    eventually("what is delivered is gone", || (small.bytes() < 40_000).then_some(()));
    assert!(node.stop().success());
    assert_eq!(small.segments(), [] as [PathBuf; 0]);
}

#[test]
fn a_node_killed_with_its_dac_loses_only_unwritten_samples_and_sends_none_twice() {
    let small = Small::new();
    let dac = Oasis::dac(&[]);
    for _ in 0..3 {
        let node = small.node(dac.channel());
        let before = ledger(&dac, "plant", "processor", "the ledger", |_| true)["received"].as_u64();
        let enough = before.unwrap_or(0) + 200;
        ledger(&dac, "plant", "processor", "more samples", |ledger| {
            ledger["received"].as_u64() > Some(enough)
        });
        node.kill();
    }
    let node = small.node(dac.channel());
    assert!(node.stop().success());
    let last = ledger(&dac, "plant", "processor", "the ledger", |_| true);
    assert_explained(&last);
    assert!(causes(&last).iter().all(|cause| *cause == "node_restart"), "{last:#}");
    let mut reader = Native::connect(&dac.url());
    reader.subscribe("processor", json!({"from": "earliest"}));
    let (samples, controls) = reader.samples(last["received"].as_u64().unwrap() as usize);
    assert!(controls.is_empty(), "{controls:?}");
    assert!(samples.windows(2).all(|pair| pair[1].sequence == pair[0].sequence + 1 || pair[1].sequence == 1));
}

#[test]
fn damage_to_the_files_loses_only_its_own_batches_and_is_counted() {
    let small = Small::new();
    let (listen, channel) = absent_dac();
    let node = small.node(&channel);
    small.holds(40_000);
    let first = small.run();
    node.kill();
    let [segment] = &small.segments()[..] else { panic!("one segment: {:?}", small.segments()) };
    let mut bytes = fs::read(segment).unwrap();
    // One bit in the middle, and the last record torn.
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    bytes.truncate(bytes.len() - 3);
    fs::write(segment, bytes).unwrap();

    let _node = small.node(&channel);
    let dac = Oasis::dac_again(&listen, &channel);
    let after = second_run(&dac, &first);
    assert_eq!(causes(&after), ["spool_full", "node_restart"], "{after:#}");
    let (middle, tail) = (&after["gaps"][0], &after["gaps"][1]);
    let samples = first_run(&dac, 10);
    let missing = |gap: &Value| gap["from_sequence"].as_u64().unwrap()..=gap["to_sequence"].as_u64().unwrap();
    let last = *missing(tail).end();
    let expected =
        (1..=last).filter(|number| !missing(middle).contains(number) && !missing(tail).contains(number));
    assert!(samples.iter().map(|sample| sample.sequence).eq(expected), "{after:#}");
    // One batch each, a few samples at this rate.
    assert!(after["missing"].as_u64() < Some(200), "{after:#}");
}

#[test]
fn two_nodes_do_not_share_a_directory() {
    let small = Small::new();
    let (_, channel) = absent_dac();
    let _node = small.node(&channel);
    let second = ["node", "--name", "second", "--dac", &channel, "--config", small.config.to_str().unwrap()];
    let output = oasis().args(second).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(message.contains("in use by process") && message.contains("spool_directory"), "{message}");
}
