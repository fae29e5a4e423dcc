//! Clients that attack a DAC with what one connection, or one machine with many, can do.

use super::inlets::Inlets;
use crate::faults::{Peer, numbers, open, subscribed, websocket};
use anyhow::Context;
use std::{
    io::{ErrorKind, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// One kind of attack.
#[derive(Debug)]
pub struct Attack {
    /// Name by which it is chosen.
    pub name: &'static str,
    /// Description of the attack.
    pub about: &'static str,
    /// Attacks once; called again until the attack is over. An error is a defense.
    pub once: fn(&Target) -> anyhow::Result<()>,
    /// Whether the DAC has the inlets of other protocols.
    pub has_inlets: bool,
}

/// Addresses that are attacked.
#[derive(Debug)]
pub struct Target {
    /// Address of API and doors.
    pub http: String,
    /// Address of the data channel.
    pub channel: String,
    /// Addresses of the inlets, if the DAC has them.
    pub inlets: Option<Inlets>,
    /// Turns true at the end of the attack.
    pub is_over: Arc<AtomicBool>,
}

impl Target {
    /// Whether the attack must end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Attacks on the doors and on the data channel.
pub const ATTACKS: &[Attack] = &[
    attack(
        "busy-processor",
        "no attack, for comparison: a thread computes and sends nothing",
        busy_processor,
    ),
    attack("pongs", "a WebSocket sends pongs without pause", pongs),
    attack("fragments", "a WebSocket sends empty fragments without pause", fragments),
    attack("subscriptions", "a WebSocket subscribes and unsubscribes without pause", subscriptions),
    attack("stopped-readers", "100 WebSockets subscribe and read nothing", stopped_readers),
    attack("unfinished-posts", "500 unfinished bodies of requests", unfinished_posts),
    attack("polls", "a connection asks for the newest samples without pause", polls),
    attack("junk-frames", "connections to the data channel with random bytes, without pause", junk_frames),
    attack("hellos", "nodes with names of their own say hello, without pause", hellos),
    attack("many-instances", "a node with 3,000 instances connects again and again", many_instances),
];

const fn attack(name: &'static str, about: &'static str, once: fn(&Target) -> anyhow::Result<()>) -> Attack {
    Attack { name, about, once, has_inlets: false }
}

/// Pause within an attack whose strength is how much stays open.
pub const HOLD_INTERVAL: Duration = Duration::from_millis(50);
/// Write timeout of a DAC that no longer reads.
pub const WRITE_TIMEOUT: Duration = Duration::from_millis(100);

#[expect(clippy::unnecessary_wraps, reason = "an attack may fail")]
fn busy_processor(target: &Target) -> anyhow::Result<()> {
    while !target.is_over() {
        std::hint::spin_loop();
    }
    Ok(())
}

fn pongs(target: &Target) -> anyhow::Result<()> {
    // RFC 6455 5.5.3: an unsolicited pong, masked with zeros.
    flood(target, &[0x8a, 0x80, 0, 0, 0, 0].repeat(10_000))
}

fn fragments(target: &Target) -> anyhow::Result<()> {
    // RFC 6455 5.4: the first fragment of a text, then continuations; none is the last.
    let mut fragments = vec![0x01, 0x80, 0, 0, 0, 0];
    fragments.extend([0x00, 0x80, 0, 0, 0, 0].repeat(10_000));
    flood(target, &fragments)
}

fn subscriptions(target: &Target) -> anyhow::Result<()> {
    let subscribe = br#"{"op":"subscribe","id":1,"node":"plant","instance":"counter"}"#;
    let unsubscribe = br#"{"op":"unsubscribe","id":2,"subscription":1}"#;
    let mut both = Vec::new();
    for request in [&subscribe[..], unsubscribe] {
        both.extend([0x81, 0x80 | u8::try_from(request.len())?, 0, 0, 0, 0]);
        both.extend(request);
    }
    flood(target, &both.repeat(100))
}

/// Sends the same to a WebSocket, again and again, and reads what it answers.
fn flood(target: &Target, bytes: &[u8]) -> anyhow::Result<()> {
    let mut socket = subscribed(&target.http)?;
    socket.set_write_timeout(Some(WRITE_TIMEOUT))?;
    while !target.is_over() {
        match socket.write(bytes) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
            _ => {}
        }
        socket.set_nonblocking(true)?;
        while matches!(socket.read(&mut [0; 64 * 1024]), Ok(1..)) {}
        socket.set_nonblocking(false)?;
    }
    Ok(())
}

fn stopped_readers(target: &Target) -> anyhow::Result<()> {
    let _stopped = (0..100).map(|_| subscribed(&target.http)).collect::<anyhow::Result<Vec<_>>>()?;
    hold(target)
}

fn unfinished_posts(target: &Target) -> anyhow::Result<()> {
    let request = b"POST /api/v1/commands HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    let _unfinished: Vec<_> = (0..500).map_while(|_| open(&target.http, request).ok()).collect();
    hold(target)
}

/// Keeps what is open until the attack is over.
pub fn hold(target: &Target) -> anyhow::Result<()> {
    hold_for(target, Duration::MAX)
}

/// Keeps what is open for some time, or until the attack is over.
#[expect(clippy::unnecessary_wraps, reason = "an attack may fail")]
pub fn hold_for(target: &Target, longest: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    while !target.is_over() && began.elapsed() < longest {
        thread::sleep(HOLD_INTERVAL);
    }
    Ok(())
}

fn polls(target: &Target) -> anyhow::Result<()> {
    let request =
        b"GET /api/v1/samples?node=plant&instance=counter&from=earliest HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let mut socket = open(&target.http, b"")?;
    while !target.is_over() {
        socket.write_all(request)?;
        // One read an answer is enough.
        let count = socket.read(&mut [0; 64 * 1024])?;
        anyhow::ensure!(count > 0, "closed");
    }
    Ok(())
}

fn junk_frames(target: &Target) -> anyhow::Result<()> {
    let mut peer = Peer::connect(&target.channel)?;
    let junk: Vec<u8> = (0..4_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    peer.bytes(&junk)?;
    peer.wait_for_end();
    Ok(())
}

fn hellos(target: &Target) -> anyhow::Result<()> {
    let name = format!("junk-{}", oasis_probe::now_ns());
    drop(Peer::named(&target.channel, &name)?);
    Ok(())
}

fn many_instances(target: &Target) -> anyhow::Result<()> {
    let names: Vec<_> = (0..3_000).map(|number| format!("instance-{number}")).collect();
    let _page = websocket(&target.http, br#"{"op":"watch","id":1}"#)?;
    Peer::named(&target.channel, "fleet")?
        .register(&numbers(&["value".to_owned()])?, &names)
        .context("refused")?;
    thread::sleep(HOLD_INTERVAL);
    Ok(())
}
