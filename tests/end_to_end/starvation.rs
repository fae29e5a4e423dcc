//! One client cannot starve the others: of turns, of descriptors, of places.

use crate::harness::request as ask;
use crate::harness::{Native, Oasis, Program, TEST_TIMEOUT, eventually, get, ledger, oasis, open, program};
use rustix::process::{Resource, Rlimit, getrlimit};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

fn config(folder: &Path, text: &str) -> [String; 2] {
    let path = folder.join("oasis.toml");
    fs::write(&path, text).unwrap();
    ["--config".into(), path.to_str().unwrap().to_owned()]
}

/// A DAC with this configuration.
fn dac(text: &str) -> (Oasis, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let [flag, path] = config(folder.path(), text);
    (Oasis::dac(&[&flag, &path]), folder)
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    stream
}

/// Whatever the peer sends until it closes.
fn rest(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

/// Returns how often the DAC has refused clients of this entrance for this reason.
fn refused(dac: &Oasis, entrance: &str, code: &str) -> u64 {
    get(dac, "/api/v1/ledger")[entrance]["refused"][code].as_u64().unwrap_or(0)
}

/// A client that sends the same bytes without pause.
struct Flood {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    fn start(dac: &Oasis, bytes: &[u8]) -> Self {
        let mut socket = open(&dac.url(), Some("oasis.v1"));
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (bytes, is_over, count) = (bytes.repeat(10_000), stop.clone(), sent.clone());
        let thread = thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) && socket.get_mut().write_all(&bytes).is_ok() {
                count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
        });
        Self { stop, sent, thread: Some(thread) }
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn a_client_that_sends_pongs_without_pause_delays_no_other_reader_of_its_shard() {
    let (dac, _folder) = dac("[doors]\nshards = 1\n");
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let mut reader = Native::connect(&dac.url());
    reader.subscribe("processor", json!({}));
    let flood = Flood::start(&dac, &[0x8a, 0x80, 1, 2, 3, 4]);
    eventually("a flood", || (flood.sent() > 1_000_000).then_some(()));
    let (start, before) = (Instant::now(), flood.sent());
    for messages in 0..600 {
        reader.next();
        assert!(start.elapsed() < TEST_TIMEOUT, "only {messages} messages");
    }
    // At a bounded rate: its system waits until a part of what was sent is read.
    eventually("the flood is served, too", || (flood.sent() > before).then_some(()));
}

/// A POST whose body never arrives.
const UNFINISHED: &str = "POST /api/v1/commands HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{";
/// A whole request, after which the connection stays open.
const COMPLETE_REQUEST: &str = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// Connects and sends this.
fn request(dac: &Oasis, text: &str) -> TcpStream {
    let mut stream = connect(dac.listen());
    let _ = stream.write_all(text.as_bytes());
    stream
}

/// The answer to a request on a connection of its own.
fn get_status(dac: &Oasis, path: &str) -> String {
    rest(request(dac, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")))
}

/// Whether a new connection gets the health of the DAC.
fn is_served(dac: &Oasis) -> bool {
    get_status(dac, "/healthz").starts_with("HTTP/1.1 200 ")
}

#[test]
fn a_request_that_stops_is_answered_408_and_an_idle_connection_is_closed() {
    let (dac, _folder) = dac("[doors]\nhead_timeout_ms = 300\nbody_timeout_ms = 300\n");
    let answer = |request: &str| {
        let mut stream = connect(dac.listen());
        stream.write_all(request.as_bytes()).unwrap();
        rest(stream)
    };
    for (request, setting) in
        [(UNFINISHED, "doors.body_timeout_ms"), ("GET / HTTP/1.1\r\nHost:", "doors.head_timeout_ms")]
    {
        let answer = answer(request);
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("/problems/request_timeout") && answer.contains(setting), "{answer}");
    }
    assert_eq!(answer(""), "");
    let answer = answer(COMPLETE_REQUEST);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.matches("HTTP/1.1").count() == 1, "{answer}");
    assert_eq!(refused(&dac, "doors", "request_timeout"), 2);
}

#[test]
fn one_address_has_a_limited_number_of_connections_and_websockets_are_some_of_them() {
    let (dac, _folder) = dac("[doors]\nmax_connections_per_address = 3\nhead_timeout_ms = 120000\n");
    let websocket = open(&dac.url(), Some("oasis.v1"));
    let _idle = (connect(dac.listen()), connect(dac.listen()));
    let answer = rest(connect(dac.listen()));
    assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
    assert!(answer.contains("/problems/too_many_from_address"), "{answer}");
    assert!(answer.contains("doors.max_connections_per_address"), "{answer}");
    drop(websocket);
    eventually("a free place", || is_served(&dac).then_some(()));
    // The connection of each question takes the place until it has ended.
    eventually("the count of refusals", || {
        let (status, ledger) = ask(&dac, "GET", "/api/v1/ledger", None);
        let is_counted = ledger["doors"]["refused"]["too_many_from_address"].as_u64() >= Some(1);
        (status == 200 && is_counted).then_some(())
    });
}

#[test]
fn all_addresses_together_have_a_limited_number_of_connections() {
    let (dac, _folder) = dac("[doors]\nmax_connections = 1\nhead_timeout_ms = 120000\n");
    let _idle = connect(dac.listen());
    let answer = rest(connect(dac.listen()));
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("doors.max_connections)"), "{answer}");
}

/// A frame of the data channel with a message of a node.
fn control(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    [&(body.len() as u32 + 1).to_le_bytes()[..], &[2], body.as_bytes()].concat()
}

fn hello(name: &str) -> Vec<u8> {
    let uuid = "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01";
    let node = json!({"name": name, "uuid": uuid, "run": uuid, "host": "h", "software": "test", "pid": 1});
    control(&json!({"op": "hello", "protocol": 1, "node": node}))
}

/// A connection of the data channel that the DAC has welcomed, or what it has answered.
fn welcomed(dac: &Oasis, name: &str) -> Result<TcpStream, String> {
    let mut stream = connect(dac.channel());
    let _ = stream.write_all(&hello(name));
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut body = vec![0; u32::from_le_bytes(head) as usize];
    stream.read_exact(&mut body).unwrap();
    let message = String::from_utf8_lossy(&body[1..]).into_owned();
    if message.contains("\"welcome\"") { Ok(stream) } else { Err(message) }
}

#[test]
fn a_node_learns_which_limit_refuses_it() {
    let (dac, folder) = dac("[channel]\nmax_connections = 1\n");
    let _node = Oasis::node(dac.channel(), &[]);
    eventually("the first node", || (get(&dac, "/api/v1/ledger")["channel"]["open"] == 1).then_some(()));
    let answer = welcomed(&dac, "second").unwrap_err();
    assert!(
        answer.contains("too_many_connections") && answer.contains("channel.max_connections"),
        "{answer}"
    );
    let log = folder.path().join("node.log");
    let mut command = oasis();
    command.args(["node", "--name", "third", "--dac", dac.channel()]);
    command.env("OASIS_LOG", "warn").stderr(fs::File::create(&log).unwrap());
    let _third = Program(command.spawn().unwrap());
    eventually("the reason in the log of the node", || {
        fs::read_to_string(&log).unwrap().contains("channel.max_connections").then_some(())
    });
    assert!(refused(&dac, "channel", "too_many_connections") >= 2);
}

#[test]
fn one_address_has_a_limited_number_of_nodes() {
    let (dac, _folder) = dac("[channel]\nmax_connections_per_address = 1\n");
    let first = welcomed(&dac, "first").unwrap();
    let answer = welcomed(&dac, "second").unwrap_err();
    assert!(answer.contains("too_many_from_address"), "{answer}");
    drop(first);
    eventually("a free place", || welcomed(&dac, "second").ok());
    assert!(refused(&dac, "channel", "too_many_from_address") >= 1);
}

#[test]
fn hellos_of_nodes_that_never_send_a_sample_keep_no_other_node_away() {
    let (dac, _folder) = dac("[channel]\nmax_nodes = 20\n");
    let hellos = |round: u32| {
        for number in 0..50 {
            drop(welcomed(&dac, &format!("liar {round} {number}")).unwrap());
            // Nodes that are connected are not evicted.
            eventually("its end", || {
                (get(&dac, "/api/v1/ledger")["channel"]["open"].as_u64() <= Some(1)).then_some(())
            });
        }
    };
    hellos(1);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    assert!(node.stop().success());
    hellos(2);
    let kept = ledger(&dac, "plant", "processor", "its ledger", |_| true);
    assert_ne!(kept["received"], 0);
    assert_eq!(get(&dac, "/api/v1/nodes")["nodes"].as_array().unwrap().len(), 20);
    // 101 nodes were there.
    let evicted = &get(&dac, "/api/v1/ledger")["evicted"];
    assert_eq!(evicted, &json!({"nodes": 81, "instances": 0, "unread_samples": 0}));
}

#[test]
fn nobody_takes_the_name_of_a_node_of_the_dac() {
    let up = Oasis::up(&["--own-node", "dac", "--name", "plant"]);
    for name in ["dac", "rules", "plant"] {
        let answer = welcomed(&up, name).unwrap_err();
        assert!(answer.contains("name_reserved") && answer.contains(name), "{answer}");
    }
    ledger(&up, "dac", "shards", "a sample of the DAC's own node", |ledger| ledger["received"] != 0);
    let health = get(&up, "/api/v1/health").to_string();
    assert!(health.contains("name_reserved"), "{health}");
}

#[test]
fn peers_that_are_refused_again_and_again_do_not_fill_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut command = oasis();
    command.env("OASIS_LOG", "warn");
    let dac = Oasis::dac_started_by(command, fs::File::create(&path).unwrap(), &[]);
    let began = Instant::now();
    for _ in 0..400 {
        // No frame begins like this.
        let mut peer = TcpStream::connect(dac.channel()).unwrap();
        peer.write_all(&[0xff; 64]).unwrap();
        let _ = peer.read_to_end(&mut Vec::new());
    }
    let refused = || get(&dac, "/api/v1/ledger")["channel"]["refused"].clone();
    eventually("all of them counted", || {
        (refused().as_object()?.values().filter_map(Value::as_u64).sum::<u64>() >= 400).then_some(())
    });
    let log = fs::read_to_string(&path).unwrap();
    let lines = log.lines().filter(|line| line.contains("node refused")).count() as u64;
    let periods = 1 + began.elapsed().as_secs() / 10;
    assert!(lines > 0 && lines <= 100 * periods, "{lines} lines in {periods} periods of 10 s: {}", refused());
}

/// The limit of open files of a process, soft and hard.
fn open_files(process: u32) -> (String, String) {
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let mut words = line.split_whitespace().skip(3).map(str::to_owned);
    (words.next().unwrap(), words.next().unwrap())
}

#[test]
fn the_limit_of_open_files_is_raised_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = program(Path::new("/bin/sh"));
    shell.args(["-c", "ulimit -S -n 256 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_oasis")]);
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let dac = Oasis::dac_started_by(shell, log, &[]);
    let (soft, hard) = open_files(dac.id());
    assert_eq!(soft, hard);
    assert_ne!(soft, "256");
}

#[test]
fn connections_leave_descriptors_for_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let [flag, path] = config(folder.path(), "[doors]\nhead_timeout_ms = 120000\n");
    let archive = folder.path().join("archive");
    let dac = Oasis::dac(&[&flag, &path, "--archive", archive.to_str().unwrap()]);
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let mut early = connect(dac.listen());
    early.write_all(COMPLETE_REQUEST.as_bytes()).unwrap();
    early.read_exact(&mut [0; 12]).unwrap();
    dac.set_limit(
        Resource::Nofile,
        Rlimit { current: Some(300), maximum: getrlimit(Resource::Nofile).maximum },
    );
    let idle: Vec<_> = (0..300).map(|_| connect(dac.listen())).collect();
    let answer = rest(connect(dac.listen()));
    assert!(
        answer.starts_with("HTTP/1.1 503 ") && answer.contains("/problems/out_of_descriptors"),
        "{answer}"
    );
    // Files that the DAC closes meanwhile make room for a few more.
    let mut others = Vec::new();
    let answer = eventually("a refused node", || match welcomed(&dac, &format!("late {}", others.len())) {
        Ok(stream) => {
            others.push(stream);
            None
        }
        Err(answer) => Some(answer),
    });
    assert!(answer.contains("out_of_descriptors"), "{answer}");
    eventually("a monitor that sees the DAC", || is_served(&dac).then_some(()));
    assert!(
        rest(request(&dac, "GET /api/v1/nodes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
            .starts_with("HTTP/1.1 503 ")
    );
    early
        .write_all(b"POST /api/v1/archive/flush HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        .unwrap();
    let answers = rest(early);
    assert!(answers.contains("{\"status\":\"stored\"}"), "{answers}");
    drop((idle, others));
    eventually("free descriptors", || {
        get_status(&dac, "/api/v1/nodes").starts_with("HTTP/1.1 200 ").then_some(())
    });
    assert!(refused(&dac, "doors", "out_of_descriptors") >= 1);
}

/// Descriptors that a process has in use.
fn open_descriptors(process: u32) -> u64 {
    fs::read_dir(format!("/proc/{process}/fd")).unwrap().count() as u64
}

#[test]
fn after_a_flood_a_dac_with_few_descriptors_answers_soon() {
    let dac = Oasis::dac(&[]);
    assert!(is_served(&dac));
    let few = open_descriptors(dac.id()) + 20;
    dac.set_limit(
        Resource::Nofile,
        Rlimit { current: Some(few), maximum: getrlimit(Resource::Nofile).maximum },
    );
    let address = dac.listen().parse().unwrap();
    let flood = Instant::now();
    // Closed at once: they fill the queue of the listener, and each has to be accepted.
    while flood.elapsed() < Duration::from_secs(3) {
        let _ = TcpStream::connect_timeout(&address, Duration::from_millis(50));
    }
    let ended = Instant::now();
    eventually("an answer of the API", || {
        get_status(&dac, "/api/v1/nodes").starts_with("HTTP/1.1 200 ").then_some(())
    });
    // Far above the second that it takes, and below the quarter of a minute that it took with pauses of 50 ms.
    assert!(ended.elapsed() < Duration::from_secs(10), "{:?}", ended.elapsed());
}

#[test]
fn without_descriptors_a_listener_waits_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = oasis();
    command.env("OASIS_LOG", "warn");
    let dac = Oasis::dac_started_by(command, fs::File::create(&log).unwrap(), &[]);
    let limit = |current| {
        let maximum = getrlimit(Resource::Nofile).maximum;
        dac.set_limit(Resource::Nofile, Rlimit { current, maximum });
        maximum
    };
    // Both listeners are served from now on.
    get(&dac, "/healthz");
    drop(welcomed(&dac, "first").unwrap());
    let before = limit(Some(3));
    let mut waiting = connect(dac.listen());
    waiting.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").unwrap();
    eventually("a warning", || {
        fs::read_to_string(&log).unwrap().contains("cannot accept connections").then_some(())
    });
    limit(before);
    let answer = rest(waiting);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}
