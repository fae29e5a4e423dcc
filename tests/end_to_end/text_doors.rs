//! Samples as text over plain HTTP (`docs/reference/text-doors.md`): poll, long poll, lines, server-sent events.

use crate::harness::{Native, Oasis, TEST_TIMEOUT, eventually, get, ledger};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    sync::LazyLock,
};
use ureq::{Agent, BodyReader};

const TOPIC: &str = "node=plant&instance=processor";

static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    // Each answer on a connection of its own, as from another client.
    Agent::config_builder()
        .http_status_as_error(false)
        .max_idle_connections(0)
        .timeout_recv_response(Some(TEST_TIMEOUT))
        .build()
        .into()
});

fn up(arguments: &[&str]) -> Oasis {
    let up = Oasis::up(
        &[&["--name", "plant", "--probe", "processor@100", "--probe", "memory@100"], arguments].concat(),
    );
    for name in ["processor", "memory"] {
        ledger(&up, "plant", name, "a sample", |ledger| ledger["received"] != 0);
    }
    up
}

/// A configuration file and the folder that it lies in.
fn config(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oasis.toml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// Status and document.
fn get_json(dac: &Oasis, path: &str) -> (u16, Value) {
    let mut answer = AGENT.get(format!("{}{path}", dac.http())).call().expect("an answer");
    (answer.status().as_u16(), answer.body_mut().read_json().expect("JSON"))
}

/// An answer that is read line by line.
struct Lines(BufReader<BodyReader<'static>>);

impl Lines {
    fn open(dac: &Oasis, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut request = AGENT.get(format!("{}{path}", dac.http()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.call().expect("an answer");
        assert_eq!(answer.status(), 200, "GET {path}");
        // No more than a line ahead: what a test has not read, the door must not have written.
        Self(BufReader::with_capacity(1024, answer.into_body().into_reader()))
    }

    /// Returns the next line with content, without its end; none after the last one.
    fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("the stream goes on") == 0 {
                return None;
            }
            let line = line.trim_end();
            if !line.is_empty() && !line.starts_with(':') {
                return Some(line.to_owned());
            }
        }
    }

    /// The next message of a stream of lines.
    fn message(&mut self) -> Value {
        serde_json::from_str(&self.line().expect("a message")).expect("JSON")
    }

    /// The next server-sent event: name, id, data.
    fn event(&mut self) -> (String, String, Value) {
        let mut field = |name: &str| loop {
            let line = self.line().expect("an event");
            if let Some(value) = line.strip_prefix(name) {
                return value.to_owned();
            }
            assert!(line.starts_with("retry: "), "{line}");
        };
        let (name, id) = (field("event: "), field("id: "));
        (name, id, serde_json::from_str(&field("data: ")).expect("JSON"))
    }
}

/// A reader's account: the next offset of each instance. Whatever is neither there, nor thinned away, nor told as a gap fails.
#[derive(Default)]
struct Account {
    next: BTreeMap<String, u64>,
    samples: u64,
    thinned: u64,
    gaps: Vec<Value>,
}

impl Account {
    fn from(offset: u64) -> Self {
        Self { next: [("processor".to_owned(), offset)].into(), ..Self::default() }
    }

    fn take(&mut self, message: &Value) {
        let name = message["instance"].as_str().expect("an instance").to_owned();
        match message["event"].as_str().expect("an event") {
            "samples" => {
                let samples = message["samples"].as_array().expect("samples");
                let first = samples[0]["offset"].as_u64().expect("an offset");
                let thinned = message["thinned"].as_u64().expect("a count");
                let next = self.next.entry(name).or_insert(first - thinned);
                assert_eq!(*next + thinned, first, "{message}");
                assert!(
                    samples.iter().zip(first..).all(|(sample, offset)| sample["offset"] == offset),
                    "{message}"
                );
                *next = first + samples.len() as u64;
                self.samples += samples.len() as u64;
                self.thinned += thinned;
            }
            "gap" => {
                if let Some(to) = message["to"].as_u64() {
                    let from = message["from"].as_u64().expect("both");
                    assert_eq!(message["count"], to - from, "{message}");
                    let next = self.next.entry(name).or_insert(from);
                    assert_eq!(*next, from, "{message}");
                    *next = to;
                }
                self.gaps.push(message.clone());
            }
            other => panic!("{other}: {message}"),
        }
    }

    fn causes(&self) -> Vec<&str> {
        self.gaps.iter().filter_map(|gap| gap["cause"].as_str()).collect()
    }
}

fn offset_of(next: &str) -> u64 {
    next.split_once(':').expect("a position").1.parse().expect("one offset")
}

#[test]
fn a_poll_answers_at_once_and_the_next_goes_on_where_it_ended() {
    let up = up(&[]);
    let mut account = Account::from(0);
    let mut path = format!("/api/v1/samples?{TOPIC}&from=earliest");
    while account.samples < 50 {
        let (status, answer) = get_json(&up, &path);
        assert_eq!(status, 200, "{answer}");
        answer["messages"].as_array().unwrap().iter().for_each(|message| account.take(message));
        let next = answer["next"].as_str().unwrap();
        assert_eq!(offset_of(next), account.next["processor"], "{next}");
        path = format!("/api/v1/samples?{TOPIC}&resume={next}");
    }
    assert!(account.gaps.is_empty(), "{:?}", account.gaps);
}

/// Samples of a message `points`, all together.
#[test]
fn a_poll_from_a_time_to_come_continues_after_the_newest_sample() {
    let archive = tempfile::tempdir().unwrap();
    for arguments in [&[][..], &["--archive", archive.path().to_str().unwrap()]] {
        let up = up(arguments);
        let received = ledger(&up, "plant", "processor", "a ledger", |_| true)["received"].as_u64().unwrap();
        let (status, answer) = get_json(&up, &format!("/api/v1/samples?{TOPIC}&from=2100-01-01"));
        assert_eq!(status, 200, "{answer}");
        // Samples that arrive meanwhile are live, whatever their clock says.
        for sample in answer["messages"].as_array().unwrap().iter().flat_map(samples_of) {
            assert!(sample["offset"].as_u64().unwrap() >= received, "{answer}");
        }
        assert!(offset_of(answer["next"].as_str().unwrap()) >= received, "{answer}");
    }
}

fn samples_of(message: &Value) -> &[Value] {
    message["samples"].as_array().map_or(&[], Vec::as_slice)
}

fn samples_in(points: &Value) -> u64 {
    assert_eq!(points["event"], "points", "{points}");
    points["samples"].as_array().expect("counts").iter().filter_map(Value::as_u64).sum()
}

#[test]
fn the_past_comes_in_as_many_points_at_every_door_and_live_samples_follow() {
    let folder = tempfile::tempdir().unwrap();
    let up = up(&["--archive", folder.path().to_str().unwrap()]);
    let query = format!("{TOPIC}&from=-1h&points=30");
    // All samples there are went into the points, and the position is after them.
    for door in ["", "/wait"] {
        let (status, answer) = get_json(&up, &format!("/api/v1/samples{door}?{query}"));
        assert_eq!(status, 200, "{answer}");
        let points = &answer["messages"][0];
        let mut account = Account::from(samples_in(points));
        answer["messages"].as_array().unwrap()[1..].iter().for_each(|message| account.take(message));
        assert_eq!(offset_of(answer["next"].as_str().unwrap()), account.next["processor"], "{answer}");
        assert!(points["times"].as_array().unwrap().len() <= 30 && points["gaps"] == json!([]), "{points}");
        let minutes = points["step"].as_u64().unwrap() / 60_000_000_000;
        assert!(points["level"] == "1m" && (2..=3).contains(&minutes), "{points}");
        let idle = &points["metrics"]["idle_time"];
        let last = |name: &str| idle[name].as_array().unwrap().last().unwrap().as_f64().unwrap();
        assert!(
            last("min") <= last("mean") && last("mean") <= last("max") && last("last") <= last("max"),
            "{idle}"
        );
    }
    let mut lines = Lines::open(&up, &format!("/api/v1/samples/stream?{query}"), &[]);
    let mut account = Account::from(samples_in(&lines.message()));
    while account.samples < 50 {
        account.take(&lines.message());
    }
    assert!(account.gaps.is_empty(), "{:?}", account.gaps);
    let mut events = Lines::open(&up, &format!("/api/v1/samples/events?{query}"), &[]);
    let (name, id, points) = events.event();
    assert_eq!((name.as_str(), offset_of(&id)), ("points", samples_in(&points)));
    // A time that is over ends there.
    let (_, answer) = get_json(&up, &format!("/api/v1/samples?{query}&to=-1s"));
    assert_eq!(answer["messages"][1], json!({"event": "end", "cause": "to"}), "{answer}");
}

#[test]
fn a_sample_looks_like_that_of_the_api() {
    let up = up(&[]);
    let (_, answer) = get_json(&up, &format!("/api/v1/samples?{TOPIC}&from=earliest"));
    let message = &answer["messages"][0];
    assert_eq!((&message["event"], &message["node"]), (&json!("samples"), &json!("plant")), "{message}");
    let sample = &message["samples"][0];
    assert_eq!((&sample["sequence"], &sample["offset"], &sample["state"]), (&json!(1), &json!(0), &json!(0)));
    assert!(sample["metrics"]["idle_time"].is_u64() && sample["time"].is_u64(), "{sample}");
    let (_, answer) = get_json(&up, &format!("/api/v1/samples?{TOPIC}&from=earliest&integers=string"));
    let exact = &answer["messages"][0]["samples"][0];
    assert_eq!(exact["time"], sample["time"].to_string());
    assert_eq!(exact["metrics"]["idle_time"], sample["metrics"]["idle_time"].to_string());
}

#[test]
fn a_poll_has_a_most_and_says_that_there_is_more() {
    let (_folder, path) = config("[doors]\nmax_answer_bytes = 1000\n");
    let up = up(&["--config", path.to_str().unwrap()]);
    ledger(&up, "plant", "processor", "more than an answer holds", |ledger| {
        ledger["received"].as_u64() > Some(50)
    });
    let (_, answer) = get_json(&up, &format!("/api/v1/samples?{TOPIC}&from=earliest"));
    assert_eq!(answer["more"], true);
    assert!(answer["messages"].as_array().unwrap().len() < 20, "{answer}");
}

#[test]
fn a_long_poll_waits_for_data_until_its_timeout() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@0.01"]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] == 1);
    let (_, first) = get_json(&up, &format!("/api/v1/samples/wait?{TOPIC}"));
    let next = first["next"].as_str().unwrap().to_owned();
    assert_eq!(first["messages"][0]["samples"][0]["sequence"], 1);
    let (_, empty) = get_json(&up, &format!("/api/v1/samples/wait?{TOPIC}&resume={next}&timeout=0"));
    assert_eq!((&empty["messages"], empty["next"].as_str()), (&json!([]), Some(next.as_str())));
    std::thread::scope(|scope| {
        let held =
            scope.spawn(|| get_json(&up, &format!("/api/v1/samples/wait?{TOPIC}&resume={next}&timeout=20")));
        eventually("a long poll is held", || {
            (get(&up, "/api/v1/ledger")["readers"]["long_poll"] == 1).then_some(())
        });
        let command = json!({"node": "plant", "instance": "processor", "command": "sample-now"});
        assert_eq!(crate::harness::post(&up, "/api/v1/commands", &command).0, 200);
        let (_, answer) = held.join().unwrap();
        assert_eq!(answer["messages"][0]["samples"][0]["sequence"], 2, "{answer}");
    });
}

#[test]
fn a_stream_of_lines_carries_several_topics_and_pads_if_asked() {
    let up = up(&[]);
    let path = format!("/api/v1/samples/stream?{TOPIC}&instance=memory&from=earliest&padding=256");
    let mut stream = Lines::open(&up, &path, &[]);
    let mut first = String::new();
    stream.0.read_line(&mut first).unwrap();
    assert_eq!((first.len(), first.trim()), (256, ""));
    let (mut account, mut next) = (Account::default(), String::new());
    while account.samples < 60 {
        let message = stream.message();
        account.take(&message);
        next = message["next"].as_str().unwrap().to_owned();
    }
    assert_eq!(account.next.len(), 2);
    let offsets: Vec<u64> =
        next.split_once(':').unwrap().1.split(',').map(|text| text.parse().unwrap()).collect();
    assert_eq!(offsets, [account.next["processor"], account.next["memory"]]);
}

#[test]
fn server_sent_events_resume_by_the_last_event_id_and_learn_of_a_new_epoch() {
    let dac = Oasis::dac(&[]);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let _node = Oasis::node(&channel, &["--probe", "processor@100"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let path = format!("/api/v1/stream.sse?{TOPIC}&from=earliest");
    let (mut account, mut last) = (Account::from(0), String::new());
    for _ in 0..2 {
        let mut events = Lines::open(&dac, &path, &[("Last-Event-ID", &last)]);
        let enough = account.samples + 20;
        while account.samples < enough {
            let (name, id, data) = events.event();
            assert_eq!(name, "samples");
            account.take(&data);
            last = id;
        }
    }
    assert!(account.gaps.is_empty());
    dac.kill();

    let dac = Oasis::dac_again(&listen, &channel);
    // At once, whether the node is back already or not.
    let mut events = Lines::open(&dac, &path, &[("Last-Event-ID", &last)]);
    let (name, _, gap) = events.event();
    assert_eq!((name.as_str(), &gap["cause"]), ("gap", &json!("epoch_changed")));
    let mut account = Account::from(0);
    while account.samples < 10 {
        account.take(&events.event().2);
    }
}

#[test]
fn a_slow_reader_receives_exact_gaps() {
    let (_folder, path) = config("[log]\ntopic_bytes = 16384\n[doors]\nsend_buffer_bytes = 4096\n");
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@1000", "--config", path.to_str().unwrap()]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let mut stream = Lines::open(&up, &format!("/api/v1/samples/stream?{TOPIC}"), &[]);
    let first = stream.message();
    let begin = first["samples"][0]["offset"].as_u64().unwrap();
    ledger(&up, "plant", "processor", "more than the sockets hold", |ledger| {
        ledger["log"]["evicted"].as_u64() > Some(begin + 6_000)
    });
    let mut account = Account::from(begin);
    account.take(&first);
    while account.gaps.is_empty() || account.samples < 100 {
        account.take(&stream.message());
    }
    assert_eq!(account.causes()[0], "log_retention");
    assert!(account.gaps[0]["count"].as_u64() > Some(100), "{:?}", account.gaps);
}

#[test]
fn overflow_close_ends_the_subscription_and_latest_jumps() {
    let (_folder, path) = config("[log]\ntopic_bytes = 16384\n");
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@1000", "--config", path.to_str().unwrap()]);
    ledger(&up, "plant", "processor", "evicted samples", |ledger| ledger["log"]["evicted"] != 0);
    let epoch = get(&up, "/api/v1/ledger")["epoch"].as_str().unwrap().to_owned();
    let path = |policy| format!("/api/v1/samples/stream?{TOPIC}&resume={epoch}:0&overflow={policy}");
    let mut stream = Lines::open(&up, &path("close"), &[]);
    assert_eq!(stream.message()["cause"], "log_retention");
    let end = stream.message();
    assert_eq!((&end["event"], &end["cause"]), (&json!("end"), &json!("overflow")));
    assert_eq!(stream.line(), None);
    let mut stream = Lines::open(&up, &path("latest"), &[]);
    let gap = stream.message();
    assert_eq!((&gap["cause"], &gap["from"]), (&json!("log_retention"), &json!(0)));
    let newest = stream.message();
    assert_eq!(newest["samples"].as_array().unwrap().len(), 1);
    assert_eq!(newest["samples"][0]["offset"], gap["to"]);
}

#[test]
fn latest_gives_one_sample_and_the_skipped_range() {
    let up = up(&[]);
    let epoch = get(&up, "/api/v1/ledger")["epoch"].as_str().unwrap().to_owned();
    ledger(&up, "plant", "processor", "20 samples", |ledger| ledger["received"].as_u64() >= Some(20));
    let (_, answer) = get_json(&up, &format!("/api/v1/samples?{TOPIC}&resume={epoch}:3&delivery=latest"));
    // Samples that come while the answer is made follow.
    let [gap, samples, ..] = answer["messages"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!((&gap["cause"], &gap["from"]), (&json!("latest"), &json!(3)));
    assert!(gap["to"].as_u64() >= Some(19), "{gap}");
    assert_eq!(samples["samples"].as_array().unwrap().len(), 1);
    assert_eq!(samples["samples"][0]["offset"], gap["to"]);
}

#[test]
fn thinned_streams_are_made_once_for_all_and_account_for_everything() {
    let up = up(&[]);
    for delivery in ["max_hz=10", "envelope=10"] {
        let path = format!("/api/v1/samples/stream?{TOPIC}&from=earliest&delivery={delivery}");
        let mut readers = [Lines::open(&up, &path, &[]), Lines::open(&up, &path, &[])];
        let seen = readers.each_mut().map(|stream| {
            let mut account = Account::from(0);
            let mut texts = Vec::new();
            while texts.len() < 8 {
                let message = stream.message();
                assert_eq!(message["delivery"], delivery);
                account.take(&message);
                let metrics = &message["samples"][0]["metrics"];
                let [least, last] = [&metrics["idle_time.min"], &metrics["idle_time"]].map(Value::as_u64);
                assert!(delivery == "max_hz=10" || least.unwrap() <= last.unwrap(), "{message}");
                texts.push(message);
            }
            assert!(account.thinned > account.samples, "{} {}", account.thinned, account.samples);
            assert!(account.gaps.is_empty());
            texts
        });
        assert_eq!(seen[0], seen[1]);
        let derived = get(&up, "/api/v1/ledger")["derived"].clone();
        let same = derived.as_array().unwrap().iter().filter(|stream| stream["delivery"] == delivery);
        assert_eq!(same.count(), 1, "{derived}");
    }
}

#[test]
fn a_thinned_stream_goes_after_its_last_reader() {
    let (_folder, path) = config("[log]\nderived_linger_ms = 0\n");
    let up = up(&["--config", path.to_str().unwrap()]);
    let (_, first) = get_json(&up, &format!("/api/v1/samples/wait?{TOPIC}&delivery=max_hz=5"));
    let next = first["next"].as_str().unwrap();
    eventually("no derived stream", || (get(&up, "/api/v1/ledger")["derived"] == json!([])).then_some(()));
    // And its positions are good for the one that takes its place.
    let mut account = Account::from(offset_of(next));
    let path = format!("/api/v1/samples/stream?{TOPIC}&delivery=max_hz=5&resume={next}");
    let mut stream = Lines::open(&up, &path, &[]);
    (0..3).for_each(|_| account.take(&stream.message()));
    assert!(account.gaps.is_empty());
}

/// Reads what was compressed, as it comes.
fn unzipped<R: Read + 'static>(coding: &str, bytes: R) -> Box<dyn BufRead> {
    match coding {
        "gzip" => Box::new(BufReader::new(flate2::read::GzDecoder::new(bytes))),
        _ => Box::new(BufReader::new(zstd::stream::read::Decoder::new(bytes).unwrap())),
    }
}

#[test]
fn compressed_answers_read_back_to_the_same_text() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@0.01"]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] == 1);
    let url = format!("{}/api/v1/samples?{TOPIC}&from=earliest", up.http());
    let plain = AGENT.get(&url).call().unwrap().body_mut().read_to_string().unwrap();
    for coding in ["gzip", "zstd"] {
        let answer = AGENT.get(&url).header("Accept-Encoding", coding).call().unwrap();
        assert_eq!(answer.headers()["content-encoding"], coding);
        let mut text = String::new();
        unzipped(coding, answer.into_body().into_reader()).read_to_string(&mut text).unwrap();
        assert_eq!(text, plain, "{coding}");
    }
}

#[test]
fn a_compressed_stream_shows_each_message_as_it_comes() {
    let up = up(&[]);
    let url = format!("{}/api/v1/samples/events?{TOPIC}", up.http());
    for coding in ["gzip", "zstd"] {
        let answer = AGENT.get(&url).header("Accept-Encoding", coding).call().unwrap();
        assert_eq!(answer.headers()["content-encoding"], coding);
        let mut text = unzipped(coding, answer.into_body().into_reader());
        let mut events = 0;
        while events < 20 {
            let mut line = String::new();
            assert_ne!(text.read_line(&mut line).unwrap(), 0);
            events += usize::from(line == "event: samples\n");
        }
    }
}

#[test]
fn a_refused_request_names_its_parameter() {
    let up = up(&[]);
    for (query, status, words) in [
        ("node=plant", 400, ["instance", "node=NODE"]),
        ("node=plant&instance=engine", 404, ["engine", "plant"]),
        ("node=plant&instance=processor&delivery=max_hz=9999", 400, ["delivery", "1,000"]),
        ("node=plant&instance=processor&points=600", 400, ["points", "from=-1h"]),
        ("node=plant&instance=processor&last=10001", 400, ["last", "10000"]),
        ("node=plant&instance=processor&from=-1h&points=10001", 400, ["points", "10000"]),
        ("node=plant&instance=processor&resume=here", 400, ["resume", "EPOCH:OFFSET"]),
    ] {
        for path in ["", "/wait", "/stream", "/events"] {
            let (got, problem) = get_json(&up, &format!("/api/v1/samples{path}?{query}"));
            let detail = problem["detail"].as_str().unwrap();
            assert_eq!(got, status, "{problem}");
            assert!(words.iter().all(|word| detail.contains(word)), "{detail}");
        }
    }
}

#[test]
fn places_are_limited_and_free_again_when_a_reader_goes() {
    let (_folder, path) = config("[doors]\nmax_sse = 1\nmax_per_address = 2\n[log]\nderived_streams = 0\n");
    let up = up(&["--config", path.to_str().unwrap()]);
    let events = format!("/api/v1/samples/events?{TOPIC}");
    let mut first = Lines::open(&up, &events, &[]);
    first.event();
    let (status, problem) = get_json(&up, &events);
    assert_eq!(status, 503, "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("doors.max_sse"), "{problem}");
    let second = Lines::open(&up, &format!("/api/v1/samples/stream?{TOPIC}"), &[]);
    let (status, problem) = get_json(&up, &format!("/api/v1/samples?{TOPIC}"));
    assert_eq!((status, &problem["type"]), (429, &json!("/problems/too_many_from_address")));
    drop(second);
    eventually("a place is free", || (get(&up, "/api/v1/ledger")["readers"]["stream"] == 0).then_some(()));
    // WebSockets count as well.
    let socket = Native::connect(&up.url());
    assert_eq!(get_json(&up, &format!("/api/v1/samples?{TOPIC}")).0, 429);
    drop((first, socket));
    eventually("the places are free", || {
        let readers = &get(&up, "/api/v1/ledger")["readers"];
        (readers["sse"] == 0 && readers["stream"] == 0).then_some(())
    });
    let (status, problem) = get_json(&up, &format!("/api/v1/samples?{TOPIC}&delivery=envelope=1"));
    assert_eq!((status, &problem["type"]), (503, &json!("/problems/too_many_derived")));
    assert_eq!(get_json(&up, &format!("/api/v1/samples?{TOPIC}")).0, 200);
}

#[test]
fn half_a_request_is_not_waited_for() {
    let (_folder, path) = config("[doors]\nhead_timeout_ms = 50\n");
    let dac = Oasis::dac(&["--config", path.to_str().unwrap()]);
    for half in ["", "G", "GET / HTTP/1.1\r\nHos"] {
        let mut stream = TcpStream::connect(dac.listen()).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        stream.write_all(half.as_bytes()).unwrap();
        // An answer, or none: in any case an end.
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
}

#[test]
fn a_dac_that_stops_ends_its_streams_and_polls() {
    let dac = Oasis::dac(&[]);
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@0.01"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] == 1);
    let mut stream = Lines::open(&dac, &format!("/api/v1/samples/stream?{TOPIC}"), &[]);
    assert_eq!(stream.message()["event"], "samples");
    let next = stream.0.buffer().len();
    assert_eq!(next, 0);
    assert!(dac.stop().success());
    let end = stream.message();
    assert_eq!((&end["event"], &end["cause"]), (&json!("end"), &json!("shutting_down")));
    assert_eq!(stream.line(), None);
}
