//! Handshakes: what a full one and a resumed one cost a server.

use super::{Guard, Tls};
use crate::{
    certificates::{Certificates, Session},
    entrance::loopback,
    scenarios::progress,
    station::{AXUM, Contender, OASIS, RunningServer},
    statistics::median,
    table::{Table, ratio, with_spread},
};
use anyhow::{Context, ensure};
use rustls::{ClientConfig, ClientConnection, HandshakeKind};
use std::{
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

/// Time for the server to end connections that were closed.
const CLOSE_TIME: Duration = Duration::from_millis(50);
const CONTENDERS: [Contender; 2] = [AXUM, OASIS];
const SESSIONS: [Session; 2] = [Session::Fresh, Session::Resumed];

/// Measures, and returns a section of the report.
pub fn measure(tls: &Tls, certificates: &Certificates) -> anyhow::Result<String> {
    let mut servers = Vec::new();
    for contender in CONTENDERS {
        let served = contender.serve_with(None, &Guard::Tls.flags(certificates)?, |server| {
            Guard::Tls.entrance(certificates, server.places())
        })?;
        servers.push((contender, served, SESSIONS.map(|_| Vec::new())));
    }
    for repetition in 1..=tls.repetitions {
        progress(format_args!("handshakes, repetition {repetition} of {}", tls.repetitions));
        for (_, served, results) in &mut servers {
            for (session, results) in SESSIONS.into_iter().zip(results) {
                results.push(a_second(served, certificates.client(session)?, session, tls.handshakes)?);
            }
        }
    }
    let mut table = Table::new(["server", "full", "resumed", "resumed to full"]);
    for (contender, _, [full, resumed]) in &servers {
        let to_full = median(resumed).zip(median(full)).map(|(resumed, full)| resumed / full);
        table.row(vec![contender.name.into(), with_spread(full), with_spread(resumed), ratio(to_full)]);
    }
    Ok(format!(
        "## Handshakes\n\nHandshakes per second of server CPU time, from `accept` to the end of the connection; TLS 1.3, X25519, a P-256 certificate, \
         without certificates of clients. A client waits for a ticket and leaves. A resumed handshake has the ticket of the one before. \
         {} measurements of {} handshakes, alternating.\n\n{table}",
        tls.repetitions, tls.handshakes
    ))
}

fn a_second(
    served: &RunningServer,
    config: Arc<ClientConfig>,
    session: Session,
    count: u32,
) -> anyhow::Result<f64> {
    // The first has no ticket yet.
    shake(served.address, &config)?;
    let cpu = served.server.cpu()?;
    let expected = if session == Session::Fresh { HandshakeKind::Full } else { HandshakeKind::Resumed };
    for _ in 0..count {
        let kind = shake(served.address, &config)?;
        ensure!(kind == expected, "a handshake was {kind:?}, not {expected:?}");
    }
    thread::sleep(CLOSE_TIME);
    Ok(f64::from(count) / (served.server.cpu()? - cpu).as_secs_f64())
}

/// Connects, takes a ticket, and leaves.
fn shake(address: SocketAddr, config: &Arc<ClientConfig>) -> anyhow::Result<HandshakeKind> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    let mut session = ClientConnection::new(config.clone(), loopback())?;
    while session.is_handshaking() || session.tls13_tickets_received() == 0 {
        session.complete_io(&mut socket).context("a handshake failed")?;
    }
    session.send_close_notify();
    session.write_tls(&mut socket)?;
    session.handshake_kind().context("a handshake without an end")
}
