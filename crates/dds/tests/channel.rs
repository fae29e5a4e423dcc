//! The data channel over two participants of one domain, on the loopback interface.
#![cfg(feature = "participant")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says what it expects by unwrapping")]

use oasis_channel::{Connector, DacMessage, NodeMessage, carried::Accept, frame};
use oasis_dds::{
    DdsConfig,
    channel::{DdsConnector, serve},
};
use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
};

/// Longest wait for something that must happen.
const TEST_TIMEOUT: Duration = Duration::from_secs(90);

/// A domain of this test. Those above 100 have ports that the system gives to others.
fn config() -> DdsConfig {
    static DOMAINS: AtomicU16 = AtomicU16::new(0);
    let first = std::process::id() as u16 % 100;
    let mut domains = std::iter::repeat_with(|| (first + DOMAINS.fetch_add(1, Ordering::Relaxed)) % 100 + 1);
    // The port of the first participant (DDSI-RTPS 2.5, 9.6.2.3).
    let is_free = |domain: &u16| UdpSocket::bind(("127.0.0.1", 7_410 + 250 * domain)).is_ok();
    let domain = domains.by_ref().take(100).find(is_free).expect("a domain that nobody uses");
    DdsConfig { domain, channel: true, ..DdsConfig::default() }
}

/// Returns each stream of bytes that ends, and answers a pong at its beginning.
struct Sink {
    runtime: tokio::runtime::Handle,
    streams: Mutex<mpsc::Sender<Vec<u8>>>,
    has_room: bool,
}

impl Accept for Sink {
    fn take(&self, mut stream: TcpStream) -> Result<(), String> {
        if !self.has_room {
            return Err("this DAC is full".into());
        }
        let streams = self.streams.lock().unwrap().clone();
        self.runtime.spawn(async move {
            let mut pong = Vec::new();
            frame::write_control(&DacMessage::Pong { node_time: 1, dac_time: 2 }, &mut pong);
            stream.write_all(&pong).await.unwrap();
            let mut received = Vec::new();
            stream.read_to_end(&mut received).await.unwrap();
            streams.send(received).unwrap();
        });
        Ok(())
    }
}

/// A DAC of this name, and what nodes have sent to it.
fn dac(config: &DdsConfig, name: &str, has_room: bool) -> (Runtime, mpsc::Receiver<Vec<u8>>) {
    let runtime = Runtime::new().unwrap();
    let (streams, received) = mpsc::channel();
    let sink = Sink { runtime: runtime.handle().clone(), streams: Mutex::new(streams), has_room };
    runtime.spawn(serve(config.clone(), name.to_owned(), Arc::new(sink)));
    (runtime, received)
}

/// Connects as a node does: again until it works.
fn connect(
    connector: &mut DdsConnector,
) -> (Box<dyn oasis_channel::Sender>, Box<dyn oasis_channel::Receiver>) {
    let deadline = Instant::now() + TEST_TIMEOUT;
    loop {
        match connector.connect() {
            Ok(ends) => return ends,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
    }
}

fn is_pong(message: &DacMessage) -> bool {
    matches!(message, DacMessage::Pong { node_time: 1, .. })
}

#[test]
fn a_batch_of_a_megabyte_arrives_whole_and_in_its_place() {
    let config = config();
    let (_dac, received) = dac(&config, "hall-1", true);
    let mut connector = DdsConnector::new(config, Some("hall-1".into()));
    let (mut sender, mut receiver) = connect(&mut connector);
    assert!(is_pong(&receiver.receive().unwrap()));
    let batch: Vec<u8> = (0..1 << 20).map(|index: u32| (index % 251) as u8).collect();
    let goodbye = NodeMessage::Goodbye { reason: "shutdown".into() };
    let mut expected = Vec::new();
    frame::write_control(&goodbye, &mut expected);
    for batch in [&batch[..], &batch[..70_000], &[]] {
        expected.extend(frame::batch_header(batch.len()));
        expected.extend(batch);
    }
    sender.send(&[goodbye], &[&batch[..], &batch[..70_000], &[]]).unwrap();
    sender.close();
    assert!(received.recv_timeout(TEST_TIMEOUT).unwrap() == expected, "the same bytes");
}

#[test]
fn a_backlog_is_sent_at_a_pace_that_breaks_nothing() {
    let config = config();
    let (_dac, received) = dac(&config, "hall-1", true);
    let mut connector = DdsConnector::new(config, None);
    let (mut sender, mut receiver) = connect(&mut connector);
    assert!(is_pong(&receiver.receive().unwrap()));
    // More than the writer may keep.
    let (batch, count) = (vec![7; 1 << 20], 40);
    for _ in 0..count {
        sender.send(&[], &[&batch]).unwrap();
    }
    sender.close();
    let length = received.recv_timeout(TEST_TIMEOUT).unwrap().len();
    assert_eq!(length, count * (frame::batch_header(batch.len()).len() + batch.len()));
}

#[test]
fn a_node_finds_a_dac_by_its_name_or_any_and_hears_why_it_is_refused() {
    let config = config();
    let (_first, of_first) = dac(&config, "hall-1", true);
    let (_second, of_second) = dac(&config, "hall-2", true);
    for (name, received) in [("hall-2", &of_second), ("hall-1", &of_first)] {
        let mut connector = DdsConnector::new(config.clone(), Some(name.into()));
        let (mut sender, mut receiver) = connect(&mut connector);
        assert!(is_pong(&receiver.receive().unwrap()));
        sender.send(&[], &[name.as_bytes()]).unwrap();
        sender.close();
        assert!(received.recv_timeout(TEST_TIMEOUT).unwrap().ends_with(name.as_bytes()));
    }
    let (_sender, mut receiver) = connect(&mut DdsConnector::new(config.clone(), None));
    assert!(is_pong(&receiver.receive().unwrap()));
    let error = DdsConnector::new(config.clone(), Some("hall-3".into())).connect().err().unwrap();
    assert!(error.to_string().contains("hall-3 does not answer in DDS domain"), "{error}");
    let (_full, _) = dac(&config, "full", false);
    let mut connector = DdsConnector::new(config, Some("full".into()));
    let deadline = Instant::now() + TEST_TIMEOUT;
    loop {
        let error = connector.connect().err().unwrap();
        if error.to_string() == "this DAC is full" {
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
            break;
        }
        assert!(Instant::now() < deadline, "{error}");
    }
}
