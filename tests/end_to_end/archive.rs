//! Samples that the archive reported as stored survive failures of the process and the disk (`docs/reference/archive.md`).

use crate::harness::{
    FailingSyncs, Oasis, SmallDisk, eventually, eventually_shown, get, kills, ledger, oasis, post, request,
    small_log, wait_for_eviction,
};
use oasis_store::{ArchiveConfig, History, PastItem};
use oasis_wire::quantity::{Epoch, Offset, Position};
use rustix::process::{Resource, Rlimit};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io::{BufRead, BufReader, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use ureq::BodyReader;

const LOAD: &[&str] = &["--probe", "processor@1000", "--probe", "heartbeat@1000", "--probe", "memory@200"];
/// `OASIS_TEST_KILLS=50` takes a few minutes.
const KILLS: u32 = 5;

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

pub fn at(folder: &Path) -> [&str; 2] {
    ["--archive", folder.to_str().unwrap()]
}

pub fn history(folder: &Path) -> History {
    let directory = folder.to_str().unwrap().to_owned();
    let opened = oasis_store::open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap();
    opened.history()
}

/// Samples reported as stored: by epoch and instance, the offset before which all are stored.
#[derive(Debug, Default)]
pub struct Promises(BTreeMap<(String, String), u64>);

impl Promises {
    pub fn note(&mut self, book: &Value) {
        for entry in book["instances"].as_array().expect("instances") {
            if let Some(stored) = entry["ledger"]["archive"]["stored_offset"].as_u64() {
                let epoch = book["epoch"].as_str().expect("an epoch").to_owned();
                self.0.insert((epoch, entry["instance"].as_str().expect("a name").to_owned()), stored);
            }
        }
    }

    /// Checks each promise: every offset from 0 on is stored.
    pub fn check(&self, history: &History) {
        assert!(!self.0.is_empty());
        for ((epoch, instance), stored) in &self.0 {
            let epoch: Epoch = epoch.parse().unwrap();
            let at = Position { epoch, offset: Offset(0) };
            let past = history.past_at("plant", instance, at, None).unwrap();
            let mut past =
                past.unwrap_or_else(|| panic!("nothing of {instance} in {epoch}, {stored} promised"));
            let mut next = 0;
            'epoch: loop {
                let pieces = past.read(1 << 20).unwrap();
                if pieces.is_empty() {
                    break;
                }
                for piece in pieces {
                    match piece {
                        PastItem::Epoch(_) => break 'epoch,
                        PastItem::Gap { offsets, cause, .. } => {
                            panic!("{instance} in {epoch}: {offsets:?} {cause}")
                        }
                        PastItem::Samples { wanted, .. } => {
                            assert_eq!(wanted.start.0, next, "{instance} in {epoch}");
                            next = wanted.end.0;
                        }
                    }
                }
            }
            assert!(next >= *stored, "{instance} in {epoch}: {next} are there, {stored} were promised");
        }
    }
}

/// All stored sequence numbers of an instance, in order.
pub fn sequences(history: &History, instance: &str) -> Vec<(u64, u64)> {
    let mut past = history.past_from("plant", instance, 0, None).unwrap().expect("something is stored");
    let mut ranges = Vec::new();
    loop {
        let pieces = past.read(1 << 20).unwrap();
        if pieces.is_empty() {
            return ranges;
        }
        for piece in pieces {
            if let PastItem::Samples { batch, .. } = piece {
                let header = oasis_wire::batch::Header::parse(&batch).unwrap();
                ranges.push((header.first_sequence, header.first_sequence + u64::from(header.count)));
            }
        }
    }
}

fn nothing_is_twice(history: &History) {
    for instance in ["processor", "heartbeat", "memory"] {
        let sequences = sequences(history, instance);
        assert!(sequences.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{instance} has duplicates");
    }
}

#[test]
fn the_archive_is_stopped_and_started_while_the_dac_runs() {
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::up(&[&at(folder.path())[..], &["--name", "plant", "--probe", "heartbeat@200"]].concat());
    let stored = || get(&dac, "/api/v1/archive")["stored"].as_u64().unwrap();
    let condition = || get(&dac, "/api/v1/archive")["condition"].clone();
    let handlers = |arguments: &[&str]| {
        let output = oasis().arg("handlers").args(arguments).args(["--url", dac.http()]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    eventually("stored samples", || (stored() > 0).then_some(()));
    assert_eq!(handlers(&["stop", "archive"]), "archive             stopped\n");
    assert_eq!(condition(), "stopped");
    let (before, reach) = (stored(), get(&dac, "/api/v1/archive/instances")["instances"][0].clone());
    let (status, problem) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!((status, &problem["type"]), (507, &json!("/problems/archive_stopped")));
    assert!(problem["detail"].as_str().unwrap().contains("oasis handlers start archive"), "{problem}");
    // Stored samples are read, and new ones wait in the topic log.
    assert!(reach["newest_time"].as_u64() > Some(0), "{reach}");
    assert_eq!(stored(), before);
    assert_eq!(handlers(&["start", "archive"]), "archive             running\n");
    eventually("more stored samples", || (stored() > before).then_some(()));
    assert_eq!(condition(), "storing");
    ledger(&dac, "plant", "heartbeat", "everything stored", |ledger| {
        let account = &ledger["archive"];
        account["stored"] == account["stored_offset"] && account["missing"] == 0
    });
}

#[test]
fn stored_samples_survive_kill_9_at_any_time() {
    let kills = kills(KILLS);
    let folder = tempfile::tempdir().unwrap();
    let mut dac = Oasis::dac(&at(folder.path()));
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let _node = Oasis::node(&channel, LOAD);
    let mut promises = Promises::default();
    let mut slowest = Duration::ZERO;
    for _ in 0..kills {
        // Each process stores some samples, and is killed at any time after that.
        eventually("something is stored", || {
            let book = get(&dac, "/api/v1/ledger");
            promises.note(&book);
            let stored = |entry: &Value| entry["ledger"]["archive"]["stored"].as_u64();
            book["instances"].as_array()?.iter().find_map(stored).filter(|&stored| stored > 0)
        });
        let end = Instant::now() + Duration::from_millis(random(400));
        while Instant::now() < end {
            promises.note(&get(&dac, "/api/v1/ledger"));
        }
        dac.kill();
        let began = Instant::now();
        dac = Oasis::dac_at(&listen, &channel, &at(folder.path()));
        slowest = slowest.max(began.elapsed());
    }
    // Numbers that were received and not stored are explained by the next process.
    let account =
        ledger(&dac, "plant", "processor", "samples", |ledger| ledger["received"].as_u64() > Some(100));
    assert_eq!(account["unexplained"], 0, "{account:#}");
    let count = |name: &str| account[name].as_u64().expect(name);
    assert!(count("stored_before") > 0, "{account:#}");
    assert_eq!(count("received") + count("missing") + count("stored_before"), count("last_sequence"));
    let (status, flushed) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!(status, 200, "{flushed}");
    promises.note(&get(&dac, "/api/v1/ledger"));
    dac.kill();
    let history = history(folder.path());
    promises.check(&history);
    nothing_is_twice(&history);
    let (is_done, out, said) = crate::recordings::run("export", folder.path(), &["--format", "jsonl"]);
    assert!(is_done && !out.is_empty() && !said.contains("unexplained"), "every hole has a cause: {said}");
    println!("{} promises held over {kills} kills; slowest start {slowest:?}", promises.0.len());
}

fn segment_file(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|end| end == "oseg")).expect("a segment file")
}

/// Waits until the archive reports this condition.
fn condition(dac: &Oasis, wanted: &str) -> Value {
    eventually_shown(wanted, || {
        let archive = get(dac, "/api/v1/archive");
        if archive["condition"] == wanted { Ok(archive) } else { Err(archive) }
    })
}

#[test]
fn on_a_full_disk_live_data_goes_on_and_the_archive_takes_up_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    // The log is full too.
    let log = tempfile::tempfile().unwrap();
    log.set_len(1 << 20).unwrap();
    (&log).seek(SeekFrom::End(0)).unwrap();
    let dac = Oasis::dac_logging_to(log, &at(folder.path()));
    let _node = Oasis::node(dac.channel(), LOAD);
    let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64().unwrap_or_default();
    ledger(&dac, "plant", "processor", "samples stored", |ledger| stored(ledger) > 100);
    // A limit of the file size looks like a full disk to the process.
    let limit = |current| dac.set_limit(Resource::Fsize, Rlimit { current, maximum: None });
    limit(Some(fs::metadata(segment_file(folder.path())).unwrap().len()));
    let full = condition(&dac, "disk_full");
    assert!(full["detail"].is_string(), "{full}");
    let (status, problem) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!((status, &problem["type"]), (507, &json!("/problems/disk_full")), "{problem}");
    let then = ledger(&dac, "plant", "processor", "a ledger", |_| true);
    let more = then["received"].as_u64().unwrap() + 200;
    let now =
        ledger(&dac, "plant", "processor", "live data", |ledger| ledger["received"].as_u64() > Some(more));
    assert_eq!(stored(&now), stored(&then), "nothing can have been stored");

    limit(None);
    condition(&dac, "storing");
    let (status, flushed) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!(status, 200, "{flushed}");
    let mut promises = Promises::default();
    promises.note(&get(&dac, "/api/v1/ledger"));
    let after = ledger(&dac, "plant", "processor", "a ledger", |_| true);
    assert!(stored(&after) > stored(&now));
    assert_eq!(after["archive"]["missing"], 0, "the topic log had all of it: {after:#}");
    assert!(dac.stop().success());
    promises.check(&history(folder.path()));
}

/// The configuration of an archive on a small disk, without free space for others.
fn small_archive(disk: &SmallDisk, folder: &Path) -> String {
    let config = folder.join("small.toml");
    let directory = disk.path().join("archive");
    let text = format!("[archive]\ndirectory = {directory:?}\nmin_free_bytes = 0\nsegment_bytes = 100000\n");
    fs::write(&config, text).unwrap();
    config.to_str().unwrap().to_owned()
}

#[test]
fn a_dac_whose_disk_is_full_ends_starts_and_stores_again_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::of(4) else { return };
    let config = small_archive(&disk, folder.path());
    let mut dac = Oasis::dac(&["--config", &config]);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let _node = Oasis::node(&channel, LOAD);
    let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64().unwrap_or_default();
    let mut promises = Promises::default();
    for ends_by_itself in [false, true] {
        ledger(&dac, "plant", "processor", "samples stored", |ledger| stored(ledger) > 100);
        // The archive makes its reserve after a second: the file exists before it has its room.
        let has_room = || fs::metadata(disk.path().join("archive/reserve")).is_ok_and(|kept| kept.len() > 0);
        eventually("a reserve", || has_room().then_some(()));
        disk.fill_but(0);
        let full = condition(&dac, "disk_full");
        assert!(full["detail"].as_str().is_some_and(|detail| detail.contains("os error 28")), "{full}");
        let then = ledger(&dac, "plant", "processor", "a ledger", |_| true);
        let more = then["received"].as_u64().unwrap() + 200;
        let has_more = |ledger: &Value| ledger["received"].as_u64() > Some(more);
        let now = ledger(&dac, "plant", "processor", "live data", has_more);
        assert_eq!(stored(&now), stored(&then), "nothing can have been stored");
        promises.note(&get(&dac, "/api/v1/ledger"));
        if ends_by_itself {
            // The last samples did not fit, and are reported.
            assert!(!dac.stop().success());
        } else {
            dac.kill();
        }
        // Only the reserve is free, and other programs take it at once.
        dac = Oasis::dac_at(&listen, &channel, &["--config", &config]);
        disk.fill_but(0);
        let has_more = |ledger: &Value| ledger["received"].as_u64() > Some(100);
        ledger(&dac, "plant", "processor", "live data", has_more);
        disk.make_room();
        condition(&dac, "storing");
    }
    ledger(&dac, "plant", "processor", "samples stored", |ledger| stored(ledger) > 100);
    promises.note(&get(&dac, "/api/v1/ledger"));
    assert!(dac.stop().success());
    let history = history(&disk.path().join("archive"));
    promises.check(&history);
    nothing_is_twice(&history);
}

#[test]
fn an_archive_is_read_on_read_only_media() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::of(8) else { return };
    let config = small_archive(&disk, folder.path());
    let dac = Oasis::dac(&["--config", &config]);
    let node = Oasis::node(dac.channel(), LOAD);
    let is_stored = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(100);
    ledger(&dac, "plant", "processor", "samples stored", is_stored);
    assert!(node.stop().success() && dac.stop().success());
    let archive = disk.path().join("archive");
    let read = || {
        let ask = |verb: &str, what: &str| {
            oasis().args([verb, "--archive"]).arg(&archive).arg(what).output().unwrap()
        };
        [
            ask("sql", "SELECT count(*) AS samples FROM oasis_system_linux_processor_probe"),
            ask("export", "plant/processor"),
        ]
        .map(|output| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            String::from_utf8(output.stdout).unwrap()
        })
    };
    let [counted, exported] = read();
    assert!(exported.lines().count() > 100);
    disk.fill_but(0);
    assert_eq!(read(), [counted.clone(), exported.clone()], "on a full disk");
    disk.forbid_writing();
    assert_eq!(read(), [counted, exported], "where nobody may write");
}

#[test]
fn samples_that_could_not_be_synced_are_never_reported_as_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut dac = Oasis::dac(&at(folder.path()));
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let _node = Oasis::node(&channel, LOAD);
    let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64().unwrap_or_default();
    let mut promises = Promises::default();
    for ends_meanwhile in [true, false] {
        ledger(&dac, "plant", "processor", "samples stored", |ledger| stored(ledger) > 100);
        let Some(failing) = FailingSyncs::of(&dac) else { return };
        let failed = condition(&dac, "disk_error");
        assert!(failed["detail"].as_str().is_some_and(|detail| detail.contains("os error 5")), "{failed}");
        let then = ledger(&dac, "plant", "processor", "a ledger", |_| true);
        let (status, problem) = post(&dac, "/api/v1/archive/flush", &json!({}));
        assert_eq!((status, &problem["type"]), (507, &json!("/problems/disk_error")), "{problem}");
        let more = then["received"].as_u64().unwrap() + 200;
        let has_more = |ledger: &Value| ledger["received"].as_u64() > Some(more);
        let now = ledger(&dac, "plant", "processor", "live data", has_more);
        assert_eq!(stored(&now), stored(&then), "nothing can have been stored");
        promises.note(&get(&dac, "/api/v1/ledger"));
        if ends_meanwhile {
            dac.kill();
            drop(failing);
            dac = Oasis::dac_at(&listen, &channel, &at(folder.path()));
            continue;
        }
        drop(failing);
        condition(&dac, "storing");
        let (status, flushed) = post(&dac, "/api/v1/archive/flush", &json!({}));
        assert_eq!(status, 200, "{flushed}");
        promises.note(&get(&dac, "/api/v1/ledger"));
        let after = ledger(&dac, "plant", "processor", "a ledger", |_| true);
        assert!(stored(&after) > stored(&now));
        assert_eq!(after["archive"]["missing"], 0, "the topic log had all of it: {after:#}");
    }
    dac.kill();
    let history = history(folder.path());
    promises.check(&history);
    nothing_is_twice(&history);
}

/// The health of the DAC, once this holds for its reasons.
fn health(dac: &Oasis, expected: &str, is_so: impl Fn(&str) -> bool) -> Value {
    eventually_shown(expected, || {
        let health = get(dac, "/api/v1/health");
        let reasons = health["reasons"].to_string();
        if is_so(&reasons) { Ok(health) } else { Err(health) }
    })
}

#[test]
fn nobody_waits_for_a_disk_that_hangs() {
    let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64().unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&at(folder.path()));
    let _node = Oasis::node(dac.channel(), LOAD);
    ledger(&dac, "plant", "processor", "samples stored", |ledger| stored(ledger) > 100);
    assert_eq!(get(&dac, "/readyz")["status"], "ok");
    let Some(hanging) = FailingSyncs::hanging(&dac) else { return };

    let found = health(&dac, "a hanging archive", |reasons| reasons.contains("thread archive hangs"));
    assert_eq!(found["status"], "degraded", "{found}");
    assert_eq!(request(&dac, "GET", "/healthz", None).0, 200, "a restart would not help");
    assert_eq!(request(&dac, "GET", "/readyz", None).0, 503);
    let (status, problem) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!((status, &problem["type"]), (507, &json!("/problems/archive_hangs")), "{problem}");
    let then = ledger(&dac, "plant", "processor", "a ledger", |_| true);
    let more = then["received"].as_u64().unwrap() + 200;
    let now =
        ledger(&dac, "plant", "processor", "live data", |ledger| ledger["received"].as_u64() > Some(more));
    assert_eq!(stored(&now), stored(&then), "nothing can have been stored");

    drop(hanging);
    health(&dac, "a working archive", |reasons| reasons == "[]");
    let (status, flushed) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!(status, 200, "{flushed}");
    let after = ledger(&dac, "plant", "processor", "a ledger", |_| true);
    assert_eq!(after["archive"]["missing"], 0, "the topic log had all of it: {after:#}");

    let Some(hanging) = FailingSyncs::hanging(&dac) else { return };
    health(&dac, "a hanging archive", |reasons| reasons.contains("thread archive hangs"));
    dac.ask_to_stop();
    eventually("the end of the DAC", || dac.has_ended().then_some(()));
    drop(hanging);
    assert!(!dac.stop().success(), "it reports that samples are not stored");
}

#[test]
fn two_dacs_cannot_share_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let _dac = Oasis::dac(&at(folder.path()));
    let mut second = oasis();
    second
        .args(["dac", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"])
        .args(at(folder.path()));
    let refused = second.output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("archive.directory"), "{said}");
}

#[test]
fn without_an_archive_its_api_explains_how_to_configure_one() {
    let dac = Oasis::dac(&[]);
    let (status, problem) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!((status, &problem["type"]), (404, &json!("/problems/no_archive")));
    assert!(problem["detail"].as_str().unwrap().contains("--archive"), "{problem}");
}

/// A stream of lines from the past into the present, checked as it comes.
struct Story {
    lines: BufReader<BodyReader<'static>>,
    epochs: usize,
    /// Next after the last sequence number and the last offset seen.
    sequence: u64,
    offset: u64,
    samples: u64,
    /// Samples between two sequence numbers that are not there.
    missing: u64,
}

impl Story {
    fn open(dac: &Oasis, query: &str) -> Self {
        let url = format!("{}/api/v1/samples/stream?node=plant&instance=processor&{query}", dac.http());
        let answer = ureq::get(url).call().expect("an answer");
        let lines = BufReader::new(answer.into_body().into_reader());
        Self { lines, epochs: 0, sequence: 1, offset: 0, samples: 0, missing: 0 }
    }

    /// Returns the next message; whatever is out of place fails. None after the last one.
    fn message(&mut self) -> Option<Value> {
        let mut line = String::new();
        while line.trim().is_empty() {
            line.clear();
            if self.lines.read_line(&mut line).expect("the stream goes on") == 0 {
                return None;
            }
        }
        let message: Value = serde_json::from_str(&line).expect("JSON");
        match message["event"].as_str().expect("an event") {
            "epoch" => (self.epochs, self.offset) = (self.epochs + 1, 0),
            "samples" => self.samples(&message),
            "end" => {}
            other => panic!("{other}: {message}"),
        }
        Some(message)
    }

    fn samples(&mut self, message: &Value) {
        for sample in message["samples"].as_array().expect("samples") {
            let number = |name: &str| sample[name].as_u64().expect("a number");
            assert_eq!(number("offset"), self.offset, "{message}");
            assert!(number("sequence") >= self.sequence, "twice: {message}");
            self.missing += number("sequence") - self.sequence;
            self.sequence = number("sequence") + 1;
            self.offset += 1;
            self.samples += 1;
        }
    }
}

#[test]
fn a_stream_from_the_past_becomes_live_without_a_seam() {
    let folder = tempfile::tempdir().unwrap();
    let more = small_log(folder.path());
    let more: Vec<_> = more.iter().map(String::as_str).collect();
    let mut dac = Oasis::dac(&more);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let _node = Oasis::node(&channel, &["--probe", "processor@1000"]);
    wait_for_eviction(&dac, "plant", "processor");

    let mut story = Story::open(&dac, "from=0");
    let live = ledger(&dac, "plant", "processor", "a ledger", |_| true)["received"].as_u64().unwrap() + 300;
    while story.offset < live {
        story.message().expect("it goes on");
    }
    assert_eq!((story.epochs, story.missing), (0, 0));

    // After a clean shutdown, the DAC has stored all received samples.
    assert!(dac.stop().success());
    dac = Oasis::dac_at(&listen, &channel, &more);
    wait_for_eviction(&dac, "plant", "processor");
    let mut story = Story::open(&dac, "from=0");
    while story.epochs == 0 || story.offset < 1_000 {
        story.message().expect("it goes on");
    }
    assert_eq!((story.epochs, story.missing), (1, 0), "nothing is missing between the two lives");

    // Samples up to now only.
    let mut until_now = Story::open(&dac, "from=-1h&to=-0s");
    let mut last = Value::Null;
    while let Some(message) = until_now.message() {
        last = message;
    }
    assert_eq!((&last["event"], &last["cause"]), (&json!("end"), &json!("to")));
    assert_eq!((until_now.epochs, until_now.missing), (1, 0));
    assert!(until_now.samples >= story.samples);

    // A reader with a position of the earlier epoch continues from there.
    let before = last["next"].as_str().expect("a position").to_owned();
    drop(dac);
    let dac = Oasis::dac_at(&listen, &channel, &more);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let mut rest = Story::open(&dac, &format!("resume={before}"));
    rest.offset = before.split_once(':').unwrap().1.parse().unwrap();
    while rest.epochs == 0 || rest.offset < 100 {
        rest.message().expect("it goes on");
    }
    assert_eq!(rest.epochs, 1);
}

#[test]
fn an_export_has_every_sample_once_while_the_dac_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&at(folder.path()));
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@200", "--probe", "heartbeat@50"]);
    let has_more = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(100);
    let account = ledger(&dac, "plant", "processor", "samples stored", has_more);
    let stored = account["archive"]["stored"].as_u64().unwrap();
    let export = |arguments: &[&str]| {
        let done = oasis().arg("export").args(at(folder.path())).args(arguments).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        (done.status.success(), String::from_utf8(done.stdout).unwrap(), said)
    };

    let (is_done, lines, said) = export(&["plant/processor", "--format", "jsonl"]);
    assert!(is_done && said.contains("samples of 1 instance\n"), "{said}");
    let sequences =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["sequence"].as_u64());
    let sequences: Vec<_> = sequences.map(Option::unwrap).collect();
    assert!(sequences.len() as u64 >= stored);
    assert_eq!(sequences, (1..=sequences.len() as u64).collect::<Vec<_>>());

    let table = folder.path().join("processor.csv");
    let (is_done, nothing, said) =
        export(&["plant/processor", "--from", "-1h", "--output", table.to_str().unwrap()]);
    assert!(is_done && nothing.is_empty(), "{said}");
    let table = fs::read_to_string(table).unwrap();
    let mut rows = table.lines();
    let columns: Vec<_> = rows.next().unwrap().split(',').collect();
    assert_eq!(columns[..7], ["node", "instance", "run", "time", "time_ns", "sequence", "state"]);
    assert!(columns.contains(&"idle_time"));
    assert!(rows.clone().count() as u64 >= stored);
    assert!(rows.all(|row| row.starts_with("plant,processor,") && row.split(',').count() == columns.len()));

    // All instances fit into one file of JSON lines, but not into one table.
    let (is_done, lines, _) = export(&["--format", "jsonl"]);
    assert!(is_done && lines.contains("\"heartbeat\"") && lines.contains("\"processor\""));
    let table = folder.path().join("all.csv");
    let (is_done, _, said) = export(&["--output", table.to_str().unwrap()]);
    assert!(!is_done && said.contains("--format jsonl"), "{said}");
    assert!(!table.exists() && !folder.path().join("all.csv.part").exists(), "nothing is left of it");
    let (is_done, _, said) = export(&["--from", "then"]);
    assert!(!is_done && said.contains("--from") && said.contains("-15m"), "{said}");
    let (is_done, _, said) = export(&["--from", "2026-05-05", "--to", "2026-05-04"]);
    assert!(
        !is_done && said.contains("--from (2026-05-05T00:00:00Z)") && said.contains("--to (2026-05-04"),
        "{said}"
    );
    let (is_done, _, said) = export(&["--to", "1763683200"]);
    assert!(!is_done && said.contains("looks like seconds"), "{said}");
}
