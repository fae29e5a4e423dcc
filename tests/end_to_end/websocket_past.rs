//! The past on native WebSockets: from the archive into the live stream, each sample once (`docs/reference/websocket.md`).

use crate::harness::{
    Incoming, Native, Oasis, eventually_shown, get, instance, ledger, post, request, small_log,
    wait_for_eviction,
};
use oasis_probe::{Node, NodeBuilder, NodeConfig, PushedKind, RowProbe, TcpConnector, now_ns};
use oasis_wire::{
    batch::{Batch, Header},
    schema::ProbeType,
};
use rustix::process::{Resource, Rlimit};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A subscription that is read from the past into the present and checked as it comes.
struct Story {
    client: Native,
    topic: u32,
    schema: ProbeType,
    /// The next sample, as far as is known.
    epoch: String,
    offset: u64,
    /// Next after the last sequence number seen.
    sequence: u64,
    samples: u64,
    /// Numbers between the last sample and the one before it that are not there.
    skipped: u64,
    /// Samples in gaps that were told, and whether one was since the last sample.
    missing: u64,
    is_told: bool,
}

impl Story {
    fn begin(url: &str, instance: &str, more: Value) -> Self {
        let mut client = Native::connect(url);
        let subscribed = client.subscribe(instance, more);
        Self {
            client,
            topic: subscribed["topic"].as_u64().unwrap() as u32,
            schema: serde_json::from_value(subscribed["instance"]["schema"].clone()).unwrap(),
            epoch: subscribed["epoch"].as_str().unwrap().to_owned(),
            offset: subscribed["offset"].as_u64().unwrap(),
            sequence: 0,
            samples: 0,
            skipped: 0,
            missing: 0,
            is_told: false,
        }
    }

    fn position(&self) -> String {
        format!("{}:{}", self.epoch, self.offset)
    }

    /// Takes what comes next: none for samples, or else the message. Whatever is out of place fails.
    fn step(&mut self) -> Option<Value> {
        match self.client.next() {
            Incoming::Batch(bytes) => {
                self.batch(&bytes);
                None
            }
            Incoming::Control(message) => {
                assert!(message["topic"] == self.topic, "{message}");
                match message["op"].as_str().unwrap() {
                    "epoch" => {
                        self.epoch = message["epoch"].as_str().unwrap().to_owned();
                        self.offset = message["offset"].as_u64().unwrap();
                    }
                    "gap" if message["cause"] != "epoch_changed" => {
                        assert_eq!(message["from"], self.offset, "{message}");
                        self.offset = message["to"].as_u64().unwrap();
                        self.missing += message["count"].as_u64().unwrap();
                        self.is_told = true;
                    }
                    _ => {}
                }
                Some(message)
            }
            Incoming::Closed(code, reason) => panic!("closed: {code} {reason}"),
        }
    }

    fn batch(&mut self, bytes: &[u8]) {
        let header = Header::parse(bytes).unwrap();
        assert_eq!(header.topic, self.topic, "the past comes under the number of the subscription");
        for sample in Batch::parse(bytes, &self.schema).unwrap().samples() {
            assert_eq!(sample.offset, self.offset, "of {}", self.epoch);
            assert!(sample.sequence > self.sequence, "{} came twice", sample.sequence);
            self.skipped = sample.sequence - self.sequence - 1;
            assert!(self.skipped == 0 || self.is_told || self.samples == 0 || sample.offset == 0);
            (self.sequence, self.is_told) = (sample.sequence, false);
            self.offset += 1;
            self.samples += 1;
        }
    }

    /// The next message of this kind; samples and others before it are taken.
    fn message(&mut self, op: &str) -> Value {
        loop {
            match self.step() {
                Some(message) if message["op"] == op => return message,
                _ => {}
            }
        }
    }

    /// Reads until the epoch's samples before this offset are there.
    fn read_to(&mut self, epoch: &str, offset: u64) {
        while self.epoch != epoch || self.offset < offset {
            self.step();
        }
    }
}

/// A DAC whose log soon evicts samples, and its node; ends with these values.
fn plant(folder: &Path) -> (Oasis, Oasis) {
    let dac = Oasis::dac(&small_log(folder).each_ref().map(String::as_str));
    let node = Oasis::node(dac.channel(), &["--probe", "processor@1000"]);
    (dac, node)
}

fn received(dac: &Oasis) -> u64 {
    ledger(dac, "plant", "processor", "a ledger", |_| true)["received"].as_u64().unwrap()
}

#[test]
fn the_past_becomes_live_without_a_seam_over_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let (mut dac, _node) = plant(folder.path());
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    wait_for_eviction(&dac, "plant", "processor");

    let mut story = Story::begin(&dac.url(), "processor", json!({"from": 0}));
    assert_eq!(story.offset, 0, "the log has let go of it, the archive has it");
    let (first, live) = (story.epoch.clone(), received(&dac) + 300);
    story.read_to(&first, live);
    assert_eq!(story.samples, story.offset);

    // Stored samples survive, and come before those that the next life of the DAC receives.
    dac.kill();
    dac = Oasis::dac_at(&listen, &channel, &small_log(folder.path()).each_ref().map(String::as_str));
    wait_for_eviction(&dac, "plant", "processor");
    let mut story = Story::begin(&dac.url(), "processor", json!({"from": "-1h"}));
    assert_eq!((&story.epoch, story.offset), (&first, 0));
    let epoch = story.message("epoch");
    assert_eq!((&epoch["epoch"], &epoch["offset"]), (&story.client.welcome["epoch"], &json!(0)));
    let (stored, second) = (story.samples, story.epoch.clone());
    let live = received(&dac) + 300;
    story.read_to(&second, live);
    assert_eq!(story.samples, stored + story.offset);

    // A reader with a position in the life before resumes there, in the middle of a batch or not.
    for place in [stored / 2, stored / 3 + 1, stored - 1] {
        let resume = format!("{first}:{place}");
        let mut rest = Story::begin(&dac.url(), "processor", json!({"resume": resume}));
        assert_eq!(rest.position(), resume);
        rest.read_to(&second, 100);
        assert_eq!(rest.samples, stored - place + rest.offset);
    }

    // A reader that lags so far that the log evicts its samples reads on in the archive.
    let mut late = Story::begin(&dac.url(), "processor", json!({"resume": format!("{second}:1")}));
    late.read_to(&second, 500);
    assert_eq!(late.samples, late.offset - 1);
}

#[test]
fn a_stretch_of_time_ends_as_it_was_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let (dac, _node) = plant(folder.path());
    wait_for_eviction(&dac, "plant", "processor");
    let mut all = Story::begin(&dac.url(), "processor", json!({"from": "earliest"}));
    let mut times = Vec::new();
    while times.len() < 300 {
        let (samples, controls) = all.client.samples(1);
        assert!(controls.is_empty(), "{controls:?}");
        times.extend(samples.iter().map(|sample| (sample.time, sample.offset)));
    }
    // One stretch that the archive has alone, one of the log; both begin and end anywhere in a batch.
    let newest = times[times.len() - 1];
    let oldest = times[0].0 - 1_000_000_000;
    for (from, to) in [(0, oldest), (times[41].0, times[187].0), (times[0].0, newest.0)] {
        let mut story = Story::begin(&dac.url(), "processor", json!({"from": from, "to": to.to_string()}));
        let before = story.offset;
        let end = story.message("unsubscribed");
        assert_eq!((&end["cause"], &end["id"]), (&json!("to"), &Value::Null), "{end}");
        let wanted = times.iter().filter(|(time, _)| (from..to).contains(time));
        if from > 0 {
            assert_eq!(story.samples, wanted.count() as u64);
            assert_eq!(Some(before), times.iter().find(|(time, _)| *time >= from).map(|(_, offset)| *offset));
        } else {
            assert!(before == 0 && story.offset <= times[0].1, "{} of {}", story.offset, times[0].1);
        }
        // The connection continues.
        story.client.subscribe("processor", json!({}));
    }

    // Counted from its end, it begins where it has to: in the log, and where the archive alone has it.
    for (to, last, begin) in [(times[187].0, 5, Some(times[182].1)), (oldest, 3, None)] {
        let times = json!({"to": to.to_string(), "last": last});
        let mut story = Story::begin(&dac.url(), "processor", times);
        assert!(begin.is_none_or(|begin| begin == story.offset));
        story.message("unsubscribed");
        assert!(story.samples == last || to == oldest && story.samples < last);
    }
    let mut story = Story::begin(&dac.url(), "processor", json!({"last": 500}));
    story.read_to(&story.epoch.clone(), times[299].1 + 500);

    // A time that is to come ends a live stream then.
    let soon = now_ns() + 300_000_000;
    let mut story = Story::begin(&dac.url(), "processor", json!({"to": soon}));
    let end = story.message("unsubscribed");
    assert_eq!(end["cause"], "to");
    assert!(story.samples > 0);
}

#[test]
fn points_of_the_past_are_followed_by_every_sample() {
    let folder = tempfile::tempdir().unwrap();
    let (dac, _node) = plant(folder.path());
    wait_for_eviction(&dac, "plant", "processor");
    let mut story = Story::begin(&dac.url(), "processor", json!({"from": "-1h", "points": 60}));
    let points = story.message("points");
    let names: Vec<_> = points.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = ["op", "topic", "level", "from", "to", "step", "times", "samples", "metrics", "gaps"];
    assert_eq!(names, wanted);
    let counts = points["samples"].as_array().unwrap();
    assert!(counts.len() <= 60 && points["metrics"]["idle_time"]["max"].is_array(), "{points}");
    let counted: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counted, story.offset, "what follows begins behind them");
    let epoch = story.epoch.clone();
    story.read_to(&epoch, counted + 200);
    assert_eq!(story.samples, story.offset - counted);

    let mut past = Story::begin(&dac.url(), "processor", json!({"from": 0, "to": "-1s", "points": 10}));
    past.message("points");
    assert_eq!(past.step().unwrap()["cause"], "to");
}

#[test]
fn samples_in_neither_log_nor_archive_are_a_gap_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let (dac, _node) = plant(folder.path());
    let is_stored = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(100);
    ledger(&dac, "plant", "processor", "samples stored", is_stored);
    // As far as a process can tell, files that may grow no more are a full disk.
    let mut files = fs::read_dir(folder.path().join("archive")).unwrap().map(|entry| entry.unwrap().path());
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|end| end == "oseg");
    let length = fs::metadata(files.find(is_segment).expect("a segment file")).unwrap().len();
    let limit = |current| dac.set_limit(Resource::Fsize, Rlimit { current, maximum: None });
    limit(Some(length));
    let has_lost = |ledger: &Value| {
        ledger["log"]["first_offset"].as_u64()
            > ledger["archive"]["stored_offset"].as_u64().map(|end| end + 50)
    };
    ledger(&dac, "plant", "processor", "a log that let go of what is not stored", has_lost);
    limit(None);
    eventually_shown("storing", || {
        let archive = get(&dac, "/api/v1/archive");
        if archive["condition"] == "storing" { Ok(()) } else { Err(archive) }
    });
    let (status, flushed) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!(status, 200, "{flushed}");

    let mut story = Story::begin(&dac.url(), "processor", json!({"from": 0}));
    let gap = story.message("gap");
    assert_eq!(gap["cause"], "disk_full", "{gap}");
    let (epoch, live) = (story.epoch.clone(), received(&dac) + 100);
    story.read_to(&epoch, live);
    assert_eq!(story.samples + story.missing, story.offset);
}

#[test]
fn without_an_archive_the_past_is_that_of_the_log() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@200"]);
    ledger(&up, "plant", "processor", "samples", |ledger| ledger["received"].as_u64() > Some(50));
    let mut client = Native::connect(&up.url());
    client.subscribe("processor", json!({"from": "earliest"}));
    let (samples, _) = client.samples(30);
    for wanted in [&samples[0], &samples[17]] {
        let mut story = Story::begin(&up.url(), "processor", json!({"from": wanted.time.to_string()}));
        let epoch = story.epoch.clone();
        assert_eq!(story.offset, wanted.offset);
        story.read_to(&epoch, 60);
        assert_eq!(story.samples, story.offset - wanted.offset);
    }
    let mut lost = Story::begin(&up.url(), "processor", json!({"resume": "00000000000000ab:7"}));
    let gap = lost.message("gap");
    assert_eq!((&gap["cause"], &gap["count"]), (&json!("epoch_changed"), &Value::Null));
    assert_eq!((json!(lost.epoch), lost.offset), (lost.client.welcome["epoch"].clone(), 0));
}

#[test]
fn an_invalid_request_is_refused_with_valid_values() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@50"]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let mut client = Native::connect(&up.url());
    for (more, words) in [
        (json!({"from": "then"}), ["from is \"then\"", "earliest, or a time"]),
        (json!({"from": [1]}), ["from is \"[1]\"", "a string or a number"]),
        (json!({"to": "tomorrow"}), ["to is \"tomorrow\"", "-15m"]),
        (json!({"from": "-1h", "points": 10_001}), ["points is \"10001\"", "from 1 to 10000"]),
        (json!({"points": 600}), ["points is \"600\"", "from=-1h"]),
        (json!({"from": "-1h", "delivery": "max_hz=1"}), ["delivery is \"max_hz=1\"", "only every"]),
        (json!({"to": "-1h", "delivery": "latest"}), ["delivery is \"latest\"", "only every"]),
    ] {
        let mut request = json!({"op": "subscribe", "node": "plant", "instance": "processor"});
        more.as_object().unwrap().iter().for_each(|(name, value)| request[name] = value.clone());
        let refused = client.request(request);
        assert_eq!(refused["code"], "bad_request", "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    client.subscribe("processor", json!({"from": "-1h"}));
    client.samples(10);
}

#[test]
fn a_subscription_can_be_ended_before_its_past_begins() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@50"]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let topic = instance(&up, "plant", "processor").unwrap()["id"].clone();
    let mut client = Native::connect(&up.url());
    // Both are there before anything can have been read.
    client.send_together(&[
        json!({"op": "subscribe", "id": 1, "node": "plant", "instance": "processor", "from": 0}),
        json!({"op": "unsubscribe", "id": 2, "topic": topic}),
    ]);
    let (refused, ended) = (client.control("error"), client.control("unsubscribed"));
    assert_eq!((&refused["id"], &refused["code"]), (&json!(1), &json!("unsubscribed")), "{refused}");
    assert_eq!((&ended["id"], &ended["cause"]), (&json!(2), &Value::Null), "{ended}");
    client.subscribe("processor", json!({"from": 0}));
    assert_eq!(client.samples(10).0[0].offset, 0);
}

/// Bytes of one sample's text: as little of it as possible can be packed.
const TEXT: usize = 4_096;
const TEXTS: u64 = 3_000;

/// A node `plant` in this process whose samples are large: text that cannot be packed.
fn texts(channel: &str) -> (Node, RowProbe, RowProbe) {
    let of = |name: &str, metrics: Value| -> ProbeType {
        let uuid = if name == "Text" {
            "6f2c7d0a-2b1e-4c55-9a1e-5f0c3b7d9e31"
        } else {
            "6f2c7d0a-2b1e-4c55-9a1e-5f0c3b7d9e32"
        };
        serde_json::from_value(json!({"name": name, "uuid": uuid, "version": "1.0", "metrics": metrics}))
            .unwrap()
    };
    let mut builder = NodeBuilder::new("plant", NodeConfig::default());
    let text = of("Text", json!([{"name": "text", "type": "string"}]));
    let count = of("Count", json!([{"name": "count", "type": "uint64"}]));
    let text = builder.pushed_rows("text", text, PushedKind::Pushed, 1 << 24).unwrap();
    let count = builder.pushed_rows("count", count, PushedKind::Pushed, 1 << 16).unwrap();
    (builder.start(TcpConnector::new(channel)).unwrap(), text, count)
}

#[test]
fn a_time_that_has_passed_ends_where_no_sample_of_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let archive = ["--archive", folder.path().to_str().unwrap()];
    for flags in [&[][..], &archive] {
        let dac = Oasis::dac(flags);
        let (_node, _text, mut count) = texts(dac.channel());
        let long_ago = now_ns() - 2 * 3_600_000_000_000;
        for number in 0..5 {
            assert!(count.flush_at(long_ago + number, |row| row.u64(number)));
        }
        ledger(&dac, "plant", "count", "its samples", |ledger| ledger["received"] == 5);
        for (name, samples) in [("count", 5), ("text", 0)] {
            let mut story = Story::begin(&dac.url(), name, json!({"from": "-3h", "to": "-1h"}));
            assert_eq!(story.message("unsubscribed")["cause"], "to");
            assert_eq!(story.samples, samples);
            let query = format!("node=plant&instance={name}&from=-3h&to=-1h");
            let answer = get(&dac, &format!("/api/v1/samples?{query}"));
            let last = answer["messages"].as_array().unwrap().last().unwrap();
            assert_eq!((last, &answer["more"]), (&json!({"event": "end", "cause": "to"}), &json!(false)));
        }
    }
}

/// A DAC that finds texts of its node in its archive and one more in its log, and needs a client that takes them. One thread writes to all WebSockets.
fn stored_texts(folder: &Path) -> (Oasis, Node, RowProbe) {
    let archive = folder.join("archive");
    let config = folder.join("oasis.toml");
    fs::write(&config, "[log]\ntopic_bytes = 67108864\n\n[doors]\nshards = 1\nsend_buffer_bytes = 16384\n")
        .unwrap();
    let more = ["--config", config.to_str().unwrap(), "--archive", archive.to_str().unwrap()];
    let dac = Oasis::dac(&more);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let (node, mut text, count) = texts(&channel);
    let noise: String = (0..TEXT).map(|place| char::from(b'!' + (place * place % 89) as u8)).collect();
    for _ in 0..TEXTS {
        assert!(text.flush_at(now_ns(), |row| row.string(&noise)), "the ring has room for all of it");
    }
    ledger(&dac, "plant", "text", "all of it stored", |ledger| ledger["archive"]["stored"] == TEXTS);
    assert!(dac.stop().success());
    let dac = Oasis::dac_at(&listen, &channel, &more);
    assert!(text.flush_at(now_ns(), |row| row.string(&noise)));
    ledger(&dac, "plant", "text", "a sample", |ledger| ledger["received"] != 0);
    (dac, node, count)
}

#[test]
fn a_slow_reader_of_the_past_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (dac, _node, mut count) = stored_texts(folder.path());

    // Takes nothing for now. More than sockets hold waits for it, in the archive.
    let mut slow = Story::begin(&dac.url(), "text", json!({"from": 0}));
    let mut quick = Story::begin(&dac.url(), "count", json!({}));
    let epoch = quick.epoch.clone();
    for number in 0..100 {
        assert!(count.flush_at(now_ns(), |row| row.u64(number)));
        quick.read_to(&epoch, number + 1);
    }
    // One subscription of a connection keeps the other waiting no longer than a piece takes.
    let subscribed = slow.client.request(json!({"op": "subscribe", "node": "plant", "instance": "count"}));
    assert_eq!(subscribed["op"], "subscribed", "{subscribed}");
    let ended = slow.client.request(json!({"op": "unsubscribe", "topic": slow.topic}));
    assert_eq!(ended["op"], "unsubscribed", "{ended}");

    // And again from the beginning, now as fast as it can.
    let mut whole = Story::begin(&dac.url(), "text", json!({"from": 0}));
    whole.read_to(&epoch, 1);
    assert_eq!((whole.samples, whole.skipped), (TEXTS + 1, 0));
}

#[test]
fn readers_of_the_past_go_on_at_another_shard() {
    let folder = tempfile::tempdir().unwrap();
    let (dac, _node, _count) = stored_texts(folder.path());
    let choose = |shards: u64| {
        let (status, answer) = request(&dac, "PUT", "/api/v1/shards", Some(&json!({"shards": shards})));
        assert_eq!((status, &answer["shards"]), (200, &json!(shards)), "{answer:#}");
    };
    choose(4);
    let mut stories: Vec<_> = (0..4).map(|_| Story::begin(&dac.url(), "text", json!({"from": 0}))).collect();
    let present = stories[0].client.welcome["epoch"].as_str().unwrap().to_owned();
    for shards in [1, 3, 1] {
        for story in &mut stories {
            let enough = story.samples + TEXTS / 8;
            while story.samples < enough {
                story.step();
            }
        }
        choose(shards);
    }
    for story in &mut stories {
        story.read_to(&present, 1);
        assert_eq!((story.samples, story.skipped), (TEXTS + 1, 0));
    }
    // All of them are where one shard is left.
    eventually_shown("one shard", || {
        let shards = get(&dac, "/api/v1/shards");
        let threads = shards["threads"].as_array().unwrap();
        if threads.len() == 1 && threads[0]["connections"] == 4 { Ok(()) } else { Err(shards) }
    });
}
