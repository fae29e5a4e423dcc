//! Readers that are slow, and HTTP clients that attack.

use super::Scenario;
use crate::faults::{
    judge::watch::Watch,
    system::peer::{Peer, numbers},
    waiting::until,
    world::World,
};
use anyhow::Context;
use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "stopped-readers",
        about: "100 WebSockets and 100 streams subscribe and read nothing for 60 s",
        is_quick: true,
        run: stopped_readers,
    },
    Scenario {
        name: "many-instances",
        about: "a node with 5,000 instances reconnects for 60 s; three pages that read must stay connected",
        is_quick: false,
        run: many_instances,
    },
    Scenario {
        name: "slow-reader",
        about: "a WebSocket and a stream are read at 10 KiB/s for 60 s",
        is_quick: true,
        run: slow_reader,
    },
    Scenario {
        name: "pongs",
        about: "a WebSocket sends pongs without pause for 60 s; another one must be served",
        is_quick: false,
        run: pongs,
    },
    Scenario {
        name: "empty-fragments",
        about: "a WebSocket sends a message of 300,000 empty fragments: the DAC must close it",
        is_quick: true,
        run: empty_fragments,
    },
    Scenario {
        name: "foreign-host",
        about: "requests with the Host of another site must be answered 421",
        is_quick: true,
        run: foreign_host,
    },
    Scenario {
        name: "unfinished-posts",
        about: "1,100 unfinished POST bodies for 60 s, with 1,024 open files",
        is_quick: false,
        run: unfinished_posts,
    },
    Scenario {
        name: "unfinished-heads",
        about: "500 unfinished heads of requests for 60 s",
        is_quick: true,
        run: unfinished_heads,
    },
    Scenario {
        name: "few-open-files",
        about: "64 open files and 300 connections for 60 s; the archive begins files meanwhile",
        is_quick: false,
        run: few_open_files,
    },
];

const DEADLINE: Duration = Duration::from_secs(5);
/// The DAC gives heads and bodies of requests 10 s.
const DEADLINES: Duration = Duration::from_secs(20);
const STREAM: &[u8] =
    b"GET /api/v1/samples/stream?node=plant&instance=counter HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

fn connect(address: &str) -> anyhow::Result<TcpStream> {
    let place: SocketAddr = address.parse()?;
    let stream = TcpStream::connect_timeout(&place, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.set_write_timeout(Some(DEADLINE))?;
    Ok(stream)
}

/// A request, sent and not read.
pub fn open(address: &str, request: &[u8]) -> anyhow::Result<TcpStream> {
    let mut stream = connect(address)?;
    stream.write_all(request)?;
    Ok(stream)
}

/// A WebSocket that has subscribed to the node's instance.
pub fn subscribed(address: &str) -> anyhow::Result<TcpStream> {
    websocket(address, br#"{"op":"subscribe","id":1,"node":"plant","instance":"counter"}"#)
}

/// A WebSocket that has sent a request of at most 125 bytes.
pub fn websocket(address: &str, request: &[u8]) -> anyhow::Result<TcpStream> {
    // The example key of RFC 6455.
    let handshake = format!(
        "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: oasis.v1\r\n\r\n"
    );
    let mut stream = open(address, handshake.as_bytes())?;
    // RFC 6455 5.2: text, masked with zeros.
    let mut frame = vec![0x81, 0x80 | u8::try_from(request.len())?, 0, 0, 0, 0];
    frame.extend_from_slice(request);
    stream.write_all(&frame)?;
    Ok(stream)
}

fn stopped_readers(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let address = world.dac()?.http().to_owned();
    let watch = Watch::start(&address);
    let mut stopped = Vec::new();
    for _ in 0..100 {
        stopped.push(subscribed(&address)?);
        stopped.push(open(&address, STREAM)?);
    }
    thread::sleep(world.scaled(60.0));
    drop(stopped);
    world.add_watch(watch);
    world.recover()
}

fn many_instances(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let (address, channel) = (world.dac()?.http().to_owned(), world.settings.channel.clone());
    let watch = Watch::start(&address);
    let length = world.scaled(60.0).max(Duration::from_secs(5));
    let pages = (0..3).map(|_| websocket(&address, br#"{"op":"watch","id":1}"#));
    let pages = pages.collect::<anyhow::Result<Vec<_>>>()?;
    let reading = pages.into_iter().map(|mut page| thread::spawn(move || bytes_in(&mut page, length)));
    let reading: Vec<_> = reading.collect();
    let probe_type = numbers(&["value".to_owned()])?;
    let names: Vec<_> = (0..5_000).map(|number| format!("instance-{number}")).collect();
    let until = Instant::now() + length;
    let mut connections = 0;
    while Instant::now() < until {
        let mut fleet = Peer::named(&channel, "fleet")?;
        fleet.register(&probe_type, &names)?;
        connections += 1;
        thread::sleep(world.random.millis(20..500));
    }
    world.outcome.notes.insert("connections", connections);
    for page in reading {
        match page.join().unwrap_or_else(|_| anyhow::bail!("a reader panicked")) {
            Ok(bytes) => drop(world.outcome.notes.insert("bytes_of_a_page", bytes)),
            Err(error) => world.outcome.failures.push(format!("{error:#}")),
        }
    }
    world.add_watch(watch);
    world.recover()
}

fn slow_reader(world: &mut World) -> anyhow::Result<()> {
    const PERIOD: Duration = Duration::from_millis(100);
    world.start_pair()?;
    let address = world.dac()?.http().to_owned();
    let watch = Watch::start(&address);
    let mut slow = [subscribed(&address)?, open(&address, STREAM)?];
    let until = Instant::now() + world.scaled(60.0);
    while Instant::now() < until {
        for stream in &mut slow {
            let _ = stream.read(&mut [0; 1024]);
        }
        thread::sleep(PERIOD);
    }
    world.add_watch(watch);
    world.recover()
}

fn pongs(world: &mut World) -> anyhow::Result<()> {
    world.settings.more = "[doors]\nshards = 1\n".into();
    world.start_pair()?;
    let address = world.dac()?.http().to_owned();
    let watch = Watch::start(&address);
    let mut other = subscribed(&address)?;
    let undisturbed = bytes_in(&mut other, Duration::from_secs(2))?;
    let mut attacker = subscribed(&address)?;
    attacker.set_write_timeout(Some(Duration::from_millis(100)))?;
    // RFC 6455 5.5.3: an unsolicited pong, masked with zeros, many times.
    let pongs = [0x8a, 0x80, 0, 0, 0, 0].repeat(10_000);
    let length = world.scaled(60.0).max(Duration::from_secs(2));
    let attack = thread::spawn(move || {
        let until = Instant::now() + length;
        // A DAC that closes it has won.
        while Instant::now() < until {
            match attacker.write(&pongs) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return,
                _ => {}
            }
            let _ = attacker.set_nonblocking(true);
            while matches!(attacker.read(&mut [0; 64 * 1024]), Ok(1..)) {}
            let _ = attacker.set_nonblocking(false);
        }
    });
    let disturbed = bytes_in(&mut other, length)?;
    let _ = attack.join();
    world.add_watch(watch);
    let expected = undisturbed * length.as_millis() as u64 / 2_000;
    world.outcome.notes.insert("bytes_expected", expected);
    world.outcome.notes.insert("bytes_read", disturbed);
    // Half of them: both cores are busy.
    if disturbed < expected / 2 {
        let failure = format!("another reader got {disturbed} of about {expected} bytes");
        world.outcome.failures.push(failure);
    }
    world.recover()
}

fn empty_fragments(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let address = world.dac()?.http().to_owned();
    let watch = Watch::start(&address);
    let mut attacker = websocket(&address, br#"{"op":"watch","id":1}"#)?;
    // RFC 6455 5.4: the first fragment of a text, then continuations; none is the last.
    let mut fragments = vec![0x01, 0x80, 0, 0, 0, 0];
    fragments.extend([0x00, 0x80, 0, 0, 0, 0].repeat(300_000));
    let is_written = attacker.write_all(&fragments).is_ok();
    if is_written && bytes_in(&mut attacker, Duration::from_secs(2)).is_ok() {
        world.outcome.failures.push("300,000 empty fragments were accepted".into());
    }
    world.add_watch(watch);
    world.recover()
}

fn foreign_host(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let address = world.dac()?.http().to_owned();
    for path in
        ["/", "/healthz", "/api/v1/instances", "/api/v1/samples?node=plant&instance=counter", "/metrics"]
    {
        let head = format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        let mut stream = open(&address, head.as_bytes())?;
        let mut status = [0; 12];
        stream.read_exact(&mut status).with_context(|| format!("GET {path}"))?;
        let status = String::from_utf8_lossy(&status).into_owned();
        if !status.ends_with("421") {
            world.outcome.failures.push(format!("GET {path} with a foreign Host: {status}"));
        }
    }
    world.recover()
}

/// Bytes that arrive within a time.
fn bytes_in(stream: &mut TcpStream, length: Duration) -> anyhow::Result<u64> {
    let (until, mut all) = (Instant::now() + length, 0);
    let mut buffer = [0; 64 * 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(all);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer) {
            Ok(0) => anyhow::bail!("the DAC closed a reader that did nothing wrong"),
            Ok(count) => all += count as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error).context("a reader that did nothing wrong"),
        }
    }
}

fn unfinished_posts(world: &mut World) -> anyhow::Result<()> {
    world.settings.open_files = Some(1_024);
    world.start_pair()?;
    let request = b"POST /api/v1/commands HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    crowd(world, 1_100, request)
}

fn unfinished_heads(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    crowd(world, 500, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
}

fn few_open_files(world: &mut World) -> anyhow::Result<()> {
    world.settings.open_files = Some(64);
    world.settings.more = "segment_bytes = 65536\n".into();
    world.start_pair()?;
    crowd(world, 300, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
}

/// Connections that say no more. The DAC may need its deadlines for them; then it must answer others, and store samples.
fn crowd(world: &mut World, count: usize, request: &[u8]) -> anyhow::Result<()> {
    let address = world.dac()?.http().to_owned();
    let crowd: Vec<_> = (0..count).map_while(|_| open(&address, request).ok()).collect();
    world.outcome.notes.insert("connections", crowd.len() as u64);
    let began = Instant::now();
    until("/healthz is answered beside others that say no more", DEADLINES, || {
        match world.dac().and_then(|dac| dac.request("GET", "/healthz", DEADLINE)) {
            Ok(answer) if answer.status == 200 => Ok(()),
            Ok(answer) => Err(answer.body),
            Err(error) => Err(format!("{error:#}")),
        }
    })?;
    world.outcome.notes.insert("unanswered_ms", began.elapsed().as_millis() as u64);
    let watch = Watch::start(&address);
    thread::sleep(world.scaled(60.0));
    world.add_watch(watch);
    drop(crowd);
    world.recover()
}
