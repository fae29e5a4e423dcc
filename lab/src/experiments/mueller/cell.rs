//! One cell: start the server, watch it and the load, wait until all connections have ended, stop the server.

use super::{
    super::{
        fleet::Fleet,
        live,
        monitor::{Monitor, Part},
    },
    load::{LOAD, Orders, Pings},
    servers::Servers,
    settings::Settings,
    summary::{self, CellObservations},
};
use crate::experiment::{Cell, CellContext, Measured};
use anyhow::Context;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Time for handshakes and answers that are late.
const GRACE: Duration = Duration::from_secs(60);

/// Measures a server. No other server runs: each cell stops its own.
pub fn measure(
    cell: &Cell,
    settings: &Settings,
    folder: &Path,
    context: &CellContext<'_>,
) -> anyhow::Result<Measured> {
    let servers =
        Servers::start(settings, folder).with_context(|| format!("cannot start {}", cell.server))?;
    let idle = servers.resident()?;
    let (began, cpu, workers) = (Instant::now(), servers.cpu()?, servers.worker_cpu()?);
    let mut node = context.node(cell, servers.workers.len())?;
    let longest = settings.length() + GRACE;
    let mut fleet = Fleet::<Pings>::start(LOAD, &orders(settings, &servers), longest, context.hosts)?;
    let clients = fleet.pids().into_iter().enumerate();
    let clients = clients.map(|(number, pid)| Part { name: format!("client_{number}"), pid, thread: None });
    let parts: Vec<Part> = servers.workers.iter().chain(&servers.others).cloned().chain(clients).collect();
    let seen = live::server(node.server.take(), std::mem::take(&mut node.workers));
    let monitor = Monitor::start(servers.pids(), parts.clone(), seen);
    let summary = fleet.wait(context.interrupt, live::load(node.load.take()))?;
    let watched = monitor.stop();
    let worker_cpu = servers.worker_cpu()?.into_iter().zip(workers);
    let seen = CellObservations {
        summary,
        watched,
        parts,
        idle,
        cpu: servers.cpu()?.saturating_sub(cpu),
        worker_cpu: worker_cpu.map(|(after, before)| after.saturating_sub(before)).collect(),
        elapsed: began.elapsed(),
        processes: servers.addresses.len(),
    };
    drop(servers);
    node.finish();
    Ok(summary::measured(settings, &seen))
}

fn orders(settings: &Settings, servers: &Servers) -> Vec<Orders> {
    (0..settings.clients)
        .map(|process| Orders {
            servers: servers.addresses.clone(),
            rival: settings.rival,
            process,
            connections: settings.connections_of_a_client(),
            rate: settings.rate,
            duration: settings.length(),
            period_ms: u64::try_from(settings.period.as_millis()).unwrap_or(u64::MAX / 2),
            is_file: settings.file > 0,
            seed: settings.seed,
        })
        .collect()
}
