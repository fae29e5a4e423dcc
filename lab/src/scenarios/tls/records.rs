//! Encryption alone: what a write of some bytes costs a session in memory, with each cipher suite.

use crate::{certificates::Certificates, cpu, entrance::loopback, scenarios::progress, table::Table};
use anyhow::Context;
use rustls::{
    ClientConnection, Connection, ServerConnection, SupportedCipherSuite,
    crypto::ring::cipher_suite::{
        TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
    },
};
use std::{
    io::{self, Write},
    time::Duration,
};

const SUITES: [(&str, SupportedCipherSuite); 3] = [
    ("AES-128-GCM", TLS13_AES_128_GCM_SHA256),
    ("AES-256-GCM", TLS13_AES_256_GCM_SHA384),
    ("ChaCha20-Poly1305", TLS13_CHACHA20_POLY1305_SHA256),
];
/// Bytes of a burst of 1, 16 and 64 messages, and of a full record.
const LENGTHS: [usize; 4] = [140, 16 * 140, 64 * 140, 16 * 1024];
/// Writes that are timed together.
const WRITES: u32 = 2_000;
/// Rounds, of which the best counts: another process makes each slower, and none faster.
const ROUNDS: u32 = 15;

/// Measures, and returns a section of the report.
pub fn measure(certificates: &Certificates) -> anyhow::Result<String> {
    progress("encryption in memory");
    let headings = ["bytes of a write".to_owned()].into_iter().chain(SUITES.map(|(name, _)| name.to_owned()));
    let mut table = Table::new(headings);
    let mut sessions = SUITES
        .into_iter()
        .map(|(_, suite)| session(certificates, suite))
        .collect::<anyhow::Result<Vec<_>>>()?;
    for length in LENGTHS {
        let mut row = vec![length.to_string()];
        for session in &mut sessions {
            row.push(format!("{} ns", of_a_write(session, length)?.as_nanos()));
        }
        table.row(row);
    }
    Ok(format!(
        "## Encryption alone\n\nCPU time of one write to a session of rustls in memory: copy, encryption and framing, without a socket. \
         The least of {ROUNDS} rounds of {WRITES} writes. The doors take the suite that the client prefers; on processors without AES \
         instructions ChaCha20, if the client knows it.\n\n{table}"
    ))
}

fn of_a_write(session: &mut Connection, length: usize) -> anyhow::Result<Duration> {
    let content = vec![7; length];
    let mut least = Duration::MAX;
    for _ in 0..ROUNDS {
        let began = cpu::this_thread();
        for _ in 0..WRITES {
            session.writer().write_all(&content)?;
            session.write_tls(&mut io::sink())?;
        }
        least = least.min((cpu::this_thread() - began) / WRITES);
    }
    Ok(least)
}

/// The server's end of a session with this suite.
fn session(certificates: &Certificates, suite: SupportedCipherSuite) -> anyhow::Result<Connection> {
    let mut client: Connection = ClientConnection::new(certificates.client_of(suite)?, loopback())?.into();
    let mut server: Connection = ServerConnection::new(certificates.server()?)?.into();
    while client.is_handshaking() || server.is_handshaking() {
        pass(&mut client, &mut server)?;
        pass(&mut server, &mut client)?;
    }
    pass(&mut server, &mut client)?;
    Ok(server)
}

fn pass(from: &mut Connection, to: &mut Connection) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut bytes)?;
    }
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        to.read_tls(&mut rest)?;
        to.process_new_packets().context("a handshake in memory")?;
    }
    Ok(())
}
