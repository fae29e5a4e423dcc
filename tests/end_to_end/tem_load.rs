//! Cost of a TEM: `make bench-tem`.

use crate::harness::{Oasis, eventually, get, oasis, request};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use tungstenite::{Message, WebSocket, client::IntoClientRequest, http::HeaderValue};

const DACS: usize = 1_000;
const NODES: usize = 10;
/// Many register at the same time: the audit log syncs each that comes, and all that wait at once.
const THREADS: usize = 50;
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);
/// Length of a measurement. `/proc/PID/stat` counts hundredths of a second.
const MEASUREMENT_TIME: Duration = Duration::from_secs(10);
const WINDOWS: usize = 5;
/// A hundredth of a second.
const TICKS: f64 = 100.0;

/// Path of a DAC's heartbeats.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Stream,
    Requests,
}

/// A DAC that sends heartbeats as a real one does, with another load each time.
struct Dac {
    name: String,
    beat: u64,
    sink: Sink,
}

enum Sink {
    Stream(Box<WebSocket<TcpStream>>),
    Requests(TcpStream),
}

/// As long as a real one; a TEM that gets the heartbeat from the DAC itself does not check it.
fn signature() -> String {
    "A".repeat(86)
}

fn heartbeat(number: usize, beat: u64, has_names: bool) -> Value {
    let nodes: Vec<String> = (0..NODES).map(|node| format!("dac-{number}-node-{node}")).collect();
    let mut heartbeat = json!({"epoch": format!("{number:016x}"), "beat": beat, "doors": format!("http://127.0.0.1:{}", 1_000 + number),
        "channel": format!("127.0.0.1:{}", 10_000 + number), "software": "oasis 0.1.0", "health": "ok", "load": load(beat),
        "names_revision": 1, "seal": {"key": "A".repeat(43), "signature": signature()}});
    if has_names {
        heartbeat["names"] = json!({"online": nodes});
    }
    heartbeat
}

fn load(beat: u64) -> Value {
    json!({"nodes": NODES, "instances": 140, "readers": 3, "samples_per_second": 180 + beat % 7})
}

impl Dac {
    fn register(tem: &Oasis, number: usize, way: Way) -> Self {
        let name = format!("dac-{number}");
        let (status, answer) =
            request(tem, "PUT", &format!("/api/v1/tem/dacs/{name}"), Some(&heartbeat(number, 1, true)));
        assert_eq!(status, 200, "{answer}");
        let tcp = TcpStream::connect(tem.listen()).unwrap();
        tcp.set_nodelay(true).unwrap();
        let mut dac = match way {
            Way::Requests => Self { name, beat: 1, sink: Sink::Requests(tcp) },
            Way::Stream => {
                let url = format!("ws://{}/api/v1/tem/dacs/{name}/beats", tem.listen());
                let mut request = url.into_client_request().unwrap();
                let protocol = HeaderValue::from_static("oasis.beats.v1");
                request.headers_mut().insert("Sec-WebSocket-Protocol", protocol);
                let (socket, _) = tungstenite::client(request, tcp).unwrap();
                Self { name, beat: 1, sink: Sink::Stream(Box::new(socket)) }
            }
        };
        dac.send_whole(number);
        if let Sink::Stream(socket) = &mut dac.sink {
            socket.get_mut().set_nonblocking(true).unwrap();
        }
        dac
    }

    fn send_whole(&mut self, number: usize) {
        self.beat += 1;
        let whole = heartbeat(number, self.beat, false);
        match &mut self.sink {
            Sink::Stream(socket) => {
                socket.send(Message::text(json!({"heartbeat": whole}).to_string())).unwrap();
            }
            Sink::Requests(tcp) => put(tcp, &self.name, &whole),
        }
    }

    fn send(&mut self, number: usize) {
        let Sink::Stream(socket) = &mut self.sink else { return self.send_whole(number) };
        self.beat += 1;
        let beat = json!({"beat": {"beat": self.beat, "signature": signature(), "load": load(self.beat)}});
        socket.send(Message::text(beat.to_string())).unwrap();
        // Every fourth is answered.
        while let Ok(answer) = socket.read() {
            assert!(answer.is_text(), "{answer}");
        }
    }
}

fn put(tcp: &mut TcpStream, name: &str, body: &Value) {
    let body = body.to_string();
    let head = format!(
        "PUT /api/v1/tem/dacs/{name} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    tcp.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = [0; 4_096];
    let count = tcp.read(&mut answer).unwrap();
    assert!(answer[..count].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..count]));
}

/// Processor time of a process, hundredths of a second.
fn ticks(process: &Oasis) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()
}

/// Sends the heartbeats of a share of the DACs, spread over the half second as those of many hosts are.
fn send_all(tem: &Oasis, way: Way, thread: usize, is_over: &AtomicBool) {
    let numbers: Vec<usize> = (thread..DACS).step_by(THREADS).collect();
    let mut dacs: Vec<Option<Dac>> = numbers.iter().map(|_| None).collect();
    let pause = HEARTBEAT_INTERVAL / u32::try_from(numbers.len()).unwrap();
    let mut due = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        for (number, dac) in numbers.iter().zip(&mut dacs) {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            dac.get_or_insert_with(|| Dac::register(tem, *number, way)).send(*number);
            // Late heartbeats are not made up for: no DAC sends faster than twice a second.
            due = (due + pause).max(Instant::now() - HEARTBEAT_INTERVAL / 10);
        }
    }
}

fn count_live(tem: &Oasis) -> usize {
    let list = get(tem, "/api/v1/tem");
    list["dacs"].as_array().unwrap().iter().filter(|dac| dac["state"] == "live").count()
}

/// Percent of a core in each window.
fn measure(way: Way) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    fs::write(&config, "[doors]\nmax_connections = 5000\n").unwrap();
    let arguments = ["tem", "--listen", "127.0.0.1:0", "--config", config.to_str().unwrap()];
    let tem = Oasis::start_as_written(oasis(), &arguments);
    let is_over = Arc::new(AtomicBool::new(false));
    let tem = Arc::new(tem);
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (tem, is_over) = (tem.clone(), is_over.clone());
            thread::spawn(move || send_all(&tem, way, thread, &is_over))
        })
        .collect();
    // Each look costs the TEM a long answer.
    eventually("all DACs in the list", || {
        thread::sleep(Duration::from_secs(1));
        (count_live(&tem) == DACS).then_some(())
    });
    // The cost of the beginning is over.
    thread::sleep(Duration::from_secs(5));
    let accepted = || get(&tem, "/api/v1/tem")["counters"]["accepted"].as_u64().unwrap();
    let (heartbeats, start) = (accepted(), Instant::now());
    let windows = (0..WINDOWS).map(|_| {
        let (before, began) = (ticks(&tem), Instant::now());
        thread::sleep(MEASUREMENT_TIME);
        (ticks(&tem) - before) / TICKS / began.elapsed().as_secs_f64() * 100.0
    });
    let windows = windows.collect();
    let rate = (accepted() - heartbeats) as f64 / start.elapsed().as_secs_f64();
    let live = count_live(&tem);
    let list = get(&tem, "/api/v1/tem");
    let nodes: usize =
        list["dacs"].as_array().unwrap().iter().map(|dac| dac["nodes"].as_array().unwrap().len()).sum();
    println!("{live} live DACs with {nodes} nodes, {rate:.0} heartbeats a second");
    is_over.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    windows
}

#[test]
#[ignore = "it measures for two minutes: make bench-tem"]
fn a_tem_with_a_thousand_dacs_and_ten_thousand_nodes_costs_little() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    for (what, way) in [("streams", Way::Stream), ("requests", Way::Requests)] {
        let mut windows = measure(way);
        windows.sort_by(f64::total_cmp);
        println!(
            "heartbeats by {what}: {:.2} % of a core (median of {WINDOWS} windows of {} s; {:.2} to {:.2} %)",
            windows[WINDOWS / 2],
            MEASUREMENT_TIME.as_secs(),
            windows[0],
            windows[WINDOWS - 1]
        );
    }
}
