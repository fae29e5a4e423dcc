//! Text messages of a client of `oasis.v1`, one a line, against a shard of a real DAC over loopback.

use super::data_channel;
use oasis_dac::{Config, Dac};
use oasis_doors::{Doors, DoorsConfig, ShardChoice, serve};
use std::{
    future::pending,
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use tokio::{net::TcpListener, runtime::Runtime};

/// Timeout of an answer: a DAC that does not answer by then has stopped working.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
const HANDSHAKE: &str = "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: oasis.v1\r\n\r\n";

/// Name of the DAC's threads that are not named `oasis-...`.
const THREAD_NAME: &str = "fuzzed-dac";

/// Whether a thread of the DAC has panicked.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

static DAC: LazyLock<(Runtime, SocketAddr)> = LazyLock::new(|| {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).thread_name(THREAD_NAME).enable_all().build().expect("a runtime");
    let address = runtime.block_on(async {
        let dac = Dac::new(Config::default());
        data_channel::plant(&dac);
        let doors =
            Doors::new(dac, DoorsConfig { shards: ShardChoice::Fixed(1), ..DoorsConfig::default() }, None)
                .expect("threads");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { serve(&doors, doors.router(), listener, pending()).await });
        address
    });
    // A shard catches its panics and starts again; here they are findings.
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        let thread = thread::current();
        let name = thread.name().unwrap_or_default();
        if name.starts_with("oasis-") || name == THREAD_NAME {
            HAS_PANICKED.store(true, Ordering::SeqCst);
        }
    }));
    (runtime, address)
});

pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    converse(text);
    assert!(!HAS_PANICKED.load(Ordering::SeqCst), "a thread of the DAC has panicked");
}

/// Sends a text and reads until the DAC closes the connection.
fn converse(text: &str) {
    let mut stream = TcpStream::connect(DAC.1).expect("the DAC listens");
    stream.set_read_timeout(Some(ANSWER_TIMEOUT)).expect("a timeout");
    let mut bytes = HANDSHAKE.as_bytes().to_vec();
    text.lines().take(50).for_each(|line| put(0x81, line.as_bytes(), &mut bytes));
    // RFC 6455 5.5.1: the server answers a close after everything before it.
    put(0x88, &1000_u16.to_be_bytes(), &mut bytes);
    // A client that was closed earlier cannot write.
    let _ = stream.write_all(&bytes);
    let mut chunk = [0; 16 * 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                let is_late = [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind());
                assert!(!is_late, "the DAC does not close the connection");
                return;
            }
        }
    }
}

/// Appends a frame, masked with zeros.
fn put(first: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(first);
    match u16::try_from(payload.len()) {
        Ok(length) if length < 126 => out.push(0x80 | length as u8),
        Ok(length) => {
            out.push(0x80 | 126);
            out.extend_from_slice(&length.to_be_bytes());
        }
        Err(_) => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
}
