//! Peers of other protocols that attack their inlets: bombs, floods of names, slow bodies, false lengths.

use super::{
    attackers::{Attack, HOLD_INTERVAL, Target, WRITE_TIMEOUT, hold, hold_for},
    grpc,
};
use crate::faults::{World, open};
use anyhow::Context;
use flate2::{Compression, write::GzEncoder};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::{
    fmt::Write as _,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Attacks on the inlets, each beside a DAC that has all of them.
pub const INLET_ATTACKS: &[Attack] = &[
    inlet("gzip-bombs", "OTLP bodies of 256 kB that decompress to 256 MiB, without pause", gzip_bombs),
    inlet("snappy-bombs", "remote writes that claim 4 GiB, without pause", snappy_bombs),
    inlet(
        "series-floods",
        "line protocol with 1,000 new series in each request, without pause",
        series_floods,
    ),
    inlet("slow-bodies", "500 bodies of OTLP, a byte every 50 ms", slow_bodies),
    inlet("grpc-resets", "calls of gRPC that are cancelled at once, without pause", grpc_resets),
    inlet("grpc-stalls", "500 connections of gRPC, each with 16 messages that stall", grpc_stalls),
    inlet(
        "postgresql-lengths",
        "connections of PostgreSQL clients with false lengths, without pause",
        startup_lengths,
    ),
    inlet("postgresql-queries", "two connections whose queries never end", endless_queries),
    inlet(
        "mavlink-floods",
        "datagrams of noise and of heartbeats of all vehicles, without pause",
        mavlink_floods,
    ),
    inlet(
        "broker-floods",
        "an MQTT broker that sends new topics without pause, then a false length",
        broker_floods,
    ),
];

/// Timeout of an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that a bomb decompresses to.
const BOMB_BYTES: usize = 256 << 20;
/// Connections with slow bodies.
const SLOW_BODIES: usize = 500;
/// Connections with stalled calls, and the calls of each.
const STALLED_CONNECTIONS: usize = 500;
const STALLED_CALLS: u32 = 16;
/// Bytes of a stalled call: all of them fill the window of their connection.
const STALLED_BYTES: usize = 8 * 1024;
/// Time after which stalled calls are sent again: the DAC ends them later.
const STALL_TIME: Duration = Duration::from_secs(2);
/// Cancelled calls in one write.
const CANCELLED_CALLS: u32 = 1_000;
/// Series of a request.
const SERIES: u64 = 1_000;

const fn inlet(name: &'static str, about: &'static str, once: fn(&Target) -> anyhow::Result<()>) -> Attack {
    Attack { name, about, once, has_inlets: true }
}

/// Addresses of the inlets, and the broker to which the DAC connects.
#[derive(Debug)]
pub struct Inlets {
    grpc: String,
    postgresql: String,
    mavlink: String,
    broker: TcpListener,
}

impl Inlets {
    /// Adds the sections of all inlets to the configuration of a DAC that has not started. Returns the broker.
    pub fn configure(world: &mut World) -> anyhow::Result<TcpListener> {
        let broker = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        broker.set_nonblocking(true)?;
        let _ = write!(
            world.settings.more,
            "[otlp]\nenabled = true\ngrpc_listen = '127.0.0.1:0'\n[influxdb]\nenabled = true\n[prometheus]\nenabled = true\n\
             [postgresql_protocol]\nlisten = '127.0.0.1:0'\n[mavlink]\nlinks = ['udpin:127.0.0.1:0']\n\
             [mqtt]\nurl = 'mqtt://{}'\nsubscribe = [{{ topic = '#' }}]\n",
            broker.local_addr()?
        );
        Ok(broker)
    }

    /// Returns the addresses of a DAC that has started.
    pub fn of(world: &World, broker: &TcpListener) -> anyhow::Result<Self> {
        let handlers = world.dac()?.get("/api/v1/handlers")?;
        let all = handlers["handlers"].as_array().context("no handlers")?;
        let mavlink = all.iter().find(|handler| handler["name"] == "mavlink").unwrap_or(&Value::Null);
        let mavlink = mavlink["state"]["links"][0]["local"].as_str().context("no link of MAVLink")?;
        Ok(Self {
            grpc: world.dac()?.said("otlp_grpc").to_owned(),
            postgresql: world.dac()?.said("postgresql").to_owned(),
            mavlink: mavlink.to_owned(),
            broker: broker.try_clone()?,
        })
    }
}

fn inlets(target: &Target) -> anyhow::Result<&Inlets> {
    target.inlets.as_ref().context("the DAC has no inlets")
}

/// Sends the same request on one connection until the attack is over, and reads each answer.
fn repeat(target: &Target, mut next: impl FnMut() -> Vec<u8>) -> anyhow::Result<()> {
    let mut socket = open(&target.http, b"")?;
    socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    while !target.is_over() {
        socket.write_all(&next())?;
        anyhow::ensure!(socket.read(&mut [0; 16 * 1024])? > 0, "closed");
    }
    Ok(())
}

fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn gzip_bombs(target: &Target) -> anyhow::Result<()> {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    let bomb = BOMB.get_or_init(|| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let zeros = vec![0; 1 << 20];
        // A vector takes every byte.
        let _ = (0..BOMB_BYTES >> 20).try_for_each(|_| encoder.write_all(&zeros));
        let body = encoder.finish().unwrap_or_default();
        post("/v1/metrics", "Content-Type: application/x-protobuf\r\nContent-Encoding: gzip\r\n", &body)
    });
    repeat(target, || bomb.clone())
}

fn snappy_bombs(target: &Target) -> anyhow::Result<()> {
    // The length of a snappy block is a varint: 2^32 - 1. Then a copy of 64 bytes without anything to copy.
    let body = [&[0xff, 0xff, 0xff, 0xff, 0x0f][..], &[0xfe, 1, 0].repeat(10_000)].concat();
    let request =
        post("/api/v1/write", "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n", &body);
    repeat(target, || request.clone())
}

fn series_floods(target: &Target) -> anyhow::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    repeat(target, || {
        let first = NEXT.fetch_add(SERIES, Ordering::Relaxed);
        let mut body = String::new();
        for series in first..first + SERIES {
            let _ = writeln!(body, "flood,host=h{},series={series} value=1", series % 50);
        }
        post("/write", "", body.as_bytes())
    })
}

fn slow_bodies(target: &Target) -> anyhow::Result<()> {
    let request = b"POST /v1/metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-protobuf\r\nContent-Length: 8000000\r\n\r\n";
    let mut slow: Vec<_> = (0..SLOW_BODIES).map_while(|_| open(&target.http, request).ok()).collect();
    while !target.is_over() && !slow.is_empty() {
        slow.retain_mut(|socket| socket.write_all(&[0]).is_ok());
        // The pause is the attack.
        std::thread::sleep(HOLD_INTERVAL);
    }
    Ok(())
}

fn grpc_resets(target: &Target) -> anyhow::Result<()> {
    let mut socket = connect(&inlets(target)?.grpc)?;
    socket.write_all(grpc::GREETING)?;
    for first in (0_u32..).step_by(CANCELLED_CALLS as usize) {
        let streams = (first..first + CANCELLED_CALLS).map(|number| 2 * number + 1);
        let calls: Vec<u8> =
            streams.flat_map(|stream| [grpc::call(stream), grpc::cancel(stream)].concat()).collect();
        anyhow::ensure!(!target.is_over(), "the attack is over");
        // The DAC closes the connection.
        socket.write_all(&calls)?;
    }
    Ok(())
}

fn grpc_stalls(target: &Target) -> anyhow::Result<()> {
    let message = [&[0, 0, 0x7f, 0xff, 0xff][..], &[0; STALLED_BYTES - 5]].concat();
    let calls = (0..STALLED_CALLS)
        .flat_map(|number| [grpc::call(2 * number + 1), grpc::data(2 * number + 1, &message)].concat());
    let first = [grpc::GREETING.to_vec(), calls.collect()].concat();
    let mut stalled = Vec::new();
    for _ in 0..STALLED_CONNECTIONS {
        let mut socket = connect(&inlets(target)?.grpc)?;
        // A busy DAC reads the rest later.
        let _ = socket.write_all(&first);
        stalled.push(socket);
    }
    hold_for(target, STALL_TIME)
}

fn startup_lengths(target: &Target) -> anyhow::Result<()> {
    for length in [0_u32, 3, 7, 10_001, u32::MAX / 2, u32::MAX] {
        let mut socket = connect(&inlets(target)?.postgresql)?;
        socket.write_all(&[&length.to_be_bytes()[..], &[0x80; 64]].concat())?;
        // The server has refused it, or waits for more.
        let _ = socket.set_read_timeout(Some(HOLD_INTERVAL));
        let _ = socket.read(&mut [0; 1024]);
    }
    Ok(())
}

fn endless_queries(target: &Target) -> anyhow::Result<()> {
    let startup = b"\0\x03\0\0user\0me\0database\0plant\0\0";
    let query = b"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n\0";
    let mut sockets = Vec::new();
    for _ in 0..2 {
        let mut socket = connect(&inlets(target)?.postgresql)?;
        socket.write_all(&[&(startup.len() as u32 + 4).to_be_bytes()[..], startup].concat())?;
        socket.write_all(&[&b"Q"[..], &(query.len() as u32 + 4).to_be_bytes(), query].concat())?;
        sockets.push(socket);
    }
    hold(target)
}

fn connect(address: &str) -> anyhow::Result<TcpStream> {
    let socket = TcpStream::connect(address)?;
    socket.set_write_timeout(Some(WRITE_TIMEOUT))?;
    Ok(socket)
}

fn mavlink_floods(target: &Target) -> anyhow::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let noise: Vec<u8> = (0..1_400_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut sequence = 0_u8;
    while !target.is_over() {
        sequence = sequence.wrapping_add(1);
        let heartbeats: Vec<u8> = (1..=50_u8)
            .flat_map(|at| heartbeat(sequence, sequence.wrapping_mul(50).wrapping_add(at)))
            .collect();
        for datagram in [&heartbeats, &noise] {
            // A full buffer of the kernel is a defense.
            let _ = socket.send_to(datagram, &inlets(target)?.mavlink);
        }
    }
    Ok(())
}

/// Returns the HEARTBEAT of a system in version 1 (mavlink.io, Packet Serialization).
fn heartbeat(sequence: u8, system: u8) -> Vec<u8> {
    const CRC_EXTRA: u8 = 50;
    let mut frame = vec![0xfe, 9, sequence, system, 1, 0];
    frame.extend([0, 0, 0, 0, 2, 3, 0x51, 4, 3]);
    let crc = frame[1..].iter().chain([&CRC_EXTRA]).fold(0xffff_u16, |crc, byte| {
        // CRC-16/MCRF4XX.
        let low = byte ^ crc as u8;
        let low = low ^ (low << 4);
        let wide = u16::from(low);
        (crc >> 8) ^ (wide << 8) ^ (wide << 3) ^ (wide >> 4)
    });
    frame.extend(crc.to_le_bytes());
    frame
}

fn broker_floods(target: &Target) -> anyhow::Result<()> {
    let began = Instant::now();
    let broker = &inlets(target)?.broker;
    // Without a connection the attack ends, and is called again.
    poll(&mut [PollFd::new(broker, PollFlags::IN)], Some(&Timespec::try_from(HOLD_INTERVAL)?))?;
    let (mut socket, _) = broker.accept()?;
    socket.set_nonblocking(false)?;
    socket.set_write_timeout(Some(WRITE_TIMEOUT))?;
    socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    let _ = socket.read(&mut [0; 4096])?;
    // CONNACK of MQTT 5 without properties; the subscription is not answered.
    socket.write_all(&[0x20, 3, 0, 0, 0])?;
    for number in 0_u64.. {
        if target.is_over() {
            break;
        }
        let topic = format!("flood/{}/{number}", began.elapsed().as_nanos());
        // PUBLISH with QoS 0: length, topic, no properties, payload.
        let content =
            [&(topic.len() as u16).to_be_bytes()[..], topic.as_bytes(), b"\0{\"value\":1}"].concat();
        socket.write_all(&[&[0x30, content.len() as u8][..], &content].concat())?;
        if number % 10_000 == 9_999 {
            socket.write_all(&[0x30, 0xff, 0xff, 0xff, 0xff, 0xff])?;
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::heartbeat;

    #[test]
    fn a_heartbeat_is_that_of_pymavlink() {
        // heartbeat_encode(2, 3, 0x51, 0, 4) of system 1, component 1, with sequence 7, packed as version 1.
        assert_eq!(heartbeat(7, 1), [254, 9, 7, 1, 1, 0, 0, 0, 0, 0, 2, 3, 81, 4, 3, 250, 173]);
    }
}
