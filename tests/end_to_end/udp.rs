//! Samples as datagrams, over a network that loses, delays, repeats and forges them: losses are known exactly.

use crate::harness::{Native, Oasis, assert_explained, causes, eventually, get, ledger, oasis};
use oasis_wire::batch::Header;
use serde_json::{Value, json};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// Bytes before a datagram's batch.
const DATAGRAM_HEADER_BYTES: usize = 20;

/// Decides the fate of the datagram with this number.
type Fate = fn(usize) -> What;

#[derive(Clone, Copy, PartialEq)]
enum What {
    Arrives,
    IsLost,
    /// Arrives after the next one.
    IsOvertaken,
    ComesTwice,
}

/// A relay between a node and its DAC: forwards TCP, and replaces the port in `welcome` by its own.
struct Relay {
    channel: String,
    /// Samples that were lost on purpose, first and last number of each datagram.
    lost: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Relay {
    fn start(dac: &str, fate: Fate) -> Self {
        let dac: SocketAddr = dac.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (channel, port) = (listener.local_addr().unwrap(), datagrams.local_addr().unwrap().port());
        let lost = Arc::new(Mutex::new(Vec::new()));
        let counted = lost.clone();
        datagrams.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        // They end with the test process; nothing joins them.
        thread::spawn(move || relay_datagrams(&datagrams, dac, fate, &counted));
        thread::spawn(move || {
            for stream in listener.incoming() {
                relay_stream(stream.unwrap(), TcpStream::connect(dac).unwrap(), port);
            }
        });
        Self { channel: channel.to_string(), lost }
    }
}

fn relay_stream(node: TcpStream, dac: TcpStream, port: u16) {
    let mut up = (node.try_clone().unwrap(), dac.try_clone().unwrap());
    thread::spawn(move || {
        let _ = io::copy(&mut up.0, &mut up.1);
        let _ = up.1.shutdown(std::net::Shutdown::Both);
    });
    let (mut node, mut dac) = (node, dac);
    thread::spawn(move || {
        let mut length = [0; 4];
        dac.read_exact(&mut length).unwrap();
        let mut frame = vec![0; u32::from_le_bytes(length) as usize];
        dac.read_exact(&mut frame).unwrap();
        let mut welcome: Value = serde_json::from_slice(&frame[1..]).unwrap();
        welcome["datagrams"]["port"] = port.into();
        let body = welcome.to_string();
        node.write_all(&(body.len() as u32 + 1).to_le_bytes()).unwrap();
        node.write_all(&[frame[0]]).unwrap();
        node.write_all(body.as_bytes()).unwrap();
        let _ = io::copy(&mut dac, &mut node);
        let _ = node.shutdown(std::net::Shutdown::Both);
    });
}

fn relay_datagrams(socket: &UdpSocket, dac: SocketAddr, fate: Fate, lost: &Mutex<Vec<(u64, u64)>>) {
    let mut buffer = vec![0; 65_536];
    let mut overtaken: Option<Vec<u8>> = None;
    let mut number = 0;
    loop {
        let Ok((length, _)) = socket.recv_from(&mut buffer) else {
            // No datagram follows that could overtake it.
            if let Some(late) = overtaken.take() {
                socket.send_to(&late, dac).unwrap();
            }
            continue;
        };
        let datagram = &buffer[..length];
        assert!(length <= 1_400, "{length}");
        let what = fate(number);
        number += 1;
        match what {
            What::IsLost => {
                let header = Header::parse(&datagram[DATAGRAM_HEADER_BYTES..]).unwrap();
                let last = header.first_sequence + u64::from(header.count) - 1;
                lost.lock().unwrap().push((header.first_sequence, last));
            }
            What::IsOvertaken => overtaken = Some(datagram.to_vec()),
            What::Arrives | What::ComesTwice => {
                socket.send_to(datagram, dac).unwrap();
                if what == What::ComesTwice {
                    socket.send_to(datagram, dac).unwrap();
                }
                if let Some(late) = overtaken.take() {
                    socket.send_to(&late, dac).unwrap();
                }
            }
        }
    }
}

const ARGUMENTS: &[&str] = &["--channel", "udp", "--probe", "processor@1000"];

#[test]
fn network_losses_are_in_the_ledger_to_the_sample() {
    let dac = Oasis::dac(&["--udp"]);
    let relay = Relay::start(dac.channel(), |number| match number % 10 {
        3 | 4 => What::IsLost,
        6 => What::IsOvertaken,
        8 => What::ComesTwice,
        _ => What::Arrives,
    });
    let node = Oasis::node(&relay.channel, ARGUMENTS);
    ledger(&dac, "plant", "processor", "500 samples", |ledger| ledger["received"].as_u64() > Some(500));
    // Commands arrive over TCP.
    let done =
        oasis().args(["command", "--url", &dac.url(), "plant/processor", "hertz", "500"]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(node.stop().success());
    let last = ledger(&dac, "plant", "processor", "the node's last word", |ledger| {
        ledger["node"]["taken"] == ledger["last_sequence"]
    });
    assert_explained(&last);
    assert_eq!(causes(&last).iter().find(|cause| **cause != "network"), None, "{last:#}");
    let lost = relay.lost.lock().unwrap();
    assert!(lost.len() > 4, "{lost:?}");
    // Two datagrams in a row make one gap.
    let mut expected: Vec<(u64, u64)> = Vec::new();
    for &(first, last) in &*lost {
        match expected.last_mut() {
            Some(before) if before.1 + 1 == first => before.1 = last,
            _ => expected.push((first, last)),
        }
    }
    let number = |gap: &Value, key: &str| gap[key].as_u64().unwrap();
    let gaps = last["gaps"].as_array().unwrap().iter();
    let gaps: Vec<_> = gaps.map(|gap| (number(gap, "from_sequence"), number(gap, "to_sequence"))).collect();
    assert_eq!(gaps, expected);
    let received = last["received"].as_u64().unwrap();
    assert_eq!(received + last["missing"].as_u64().unwrap(), last["node"]["taken"].as_u64().unwrap());

    // Readers get what arrived, in order.
    let mut reader = Native::connect(&dac.url());
    reader.subscribe("processor", json!({"from": "earliest"}));
    let (samples, _) = reader.samples(received as usize);
    let is_lost = |sequence: u64| expected.iter().any(|&(first, last)| (first..=last).contains(&sequence));
    let whole = (1..=last["last_sequence"].as_u64().unwrap()).filter(|&sequence| !is_lost(sequence));
    assert!(samples.iter().map(|sample| sample.sequence).eq(whole));
}

#[test]
fn a_network_that_loses_nothing_costs_nothing() {
    let dac = Oasis::dac(&["--udp"]);
    let node = Oasis::node(dac.channel(), ARGUMENTS);
    ledger(&dac, "plant", "processor", "300 samples", |ledger| ledger["received"].as_u64() > Some(300));
    assert!(node.stop().success());
    let last = ledger(&dac, "plant", "processor", "the node's last word", |ledger| {
        ledger["node"]["taken"] == ledger["received"]
    });
    assert_eq!((&last["missing"], &last["duplicates"]), (&json!(0), &json!(0)), "{last:#}");
}

#[test]
fn unknown_datagrams_are_counted_and_never_answered() {
    let dac = Oasis::dac(&["--udp"]);
    let node = Oasis::node(dac.channel(), ARGUMENTS);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let foreign = [&b"OSD1"[..], &[7; 16], &[1; 100]].concat();
    let cases = [
        ("datagram_foreign", &foreign[..], 10),
        ("datagram_invalid", &foreign[..19], 10),
        ("datagram_invalid", b"", 20),
        ("datagram_invalid", b"OSD3 and so on and so on", 30),
        ("datagram_too_long", &[0; 20_000], 5),
    ];
    let mut sent = 0;
    for (code, datagram, count) in cases {
        // One after the other: they must not push each other, or samples, out of the socket.
        while sent < count {
            socket.send_to(datagram, dac.channel()).unwrap();
            sent += 1;
            eventually("it is counted", || {
                (get(&dac, "/api/v1/ledger")["channel"]["refused"][code] == sent).then_some(())
            });
        }
        sent = if code == "datagram_invalid" { count } else { 0 };
    }
    socket.set_nonblocking(true).unwrap();
    let answer = socket.recv_from(&mut [0; 100]);
    assert!(answer.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock));
    assert!(node.stop().success());
    let last = ledger(&dac, "plant", "processor", "the ledger", |_| true);
    assert_eq!(last["missing"], 0, "{last:#}");
}

#[test]
fn a_node_reports_that_its_dac_accepts_no_datagrams() {
    let dac = Oasis::dac(&[]);
    let mut node = oasis()
        .args(["node", "--name", "plant", "--dac", dac.channel(), "--channel", "udp"])
        .env("OASIS_LOG", "warn")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    io::BufRead::read_line(&mut io::BufReader::new(node.stderr.take().unwrap()), &mut said).unwrap();
    node.kill().unwrap();
    node.wait().unwrap();
    assert!(said.contains("--udp"), "{said}");
}
