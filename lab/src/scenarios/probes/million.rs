//! A million samples a second from one thread, through node and channel, into a DAC on the same machine.

use crate::{
    cpu, dac_http,
    scenarios::progress,
    servers::sample,
    table::{Table, percent},
};
use anyhow::Context;
use oasis_probe::{NodeBuilder, NodeConfig, TcpConnector};
use oasis_probes::LinuxProcessorProbe;
use std::{
    process, thread,
    time::{Duration, Instant},
};

const RATE: u64 = 1_000_000;
/// The sender wakes this often.
const WAKE_INTERVAL: Duration = Duration::from_millis(1);
/// A fifth of a second.
const RING: usize = 16 * 1024 * 1024;

/// A table of one row: what was sent, what arrived, what it cost.
pub fn measure(http: &str, channel: &str, length: Duration) -> anyhow::Result<String> {
    progress(format_args!("{RATE} samples a second for {} s", length.as_secs()));
    let mut builder = NodeBuilder::new("million", NodeConfig::default());
    let mut probe = builder.pushed::<LinuxProcessorProbe>("million", RING)?;
    let node = builder.start(TcpConnector::new(channel))?;
    let (began, process_before) = (Instant::now(), cpu::time(process::id())?);
    let (mut sent, mut busy) = (0, Duration::ZERO);
    while began.elapsed() < length {
        thread::sleep(WAKE_INTERVAL);
        let due = (began.elapsed().as_nanos() as u64).saturating_mul(RATE) / 1_000_000_000;
        let before = cpu::this_thread();
        (sent..due).for_each(|number| _ = probe.flush(&sample(number)));
        busy += cpu::this_thread().saturating_sub(before);
        sent = due.max(sent);
    }
    let took = began.elapsed();
    let process_busy = cpu::time(process::id())?.saturating_sub(process_before);
    node.shutdown();
    let ledger = dac_http::ledger(http, "million")?.context("the DAC does not know the instance")?;
    let received = ledger["received"].as_u64().context("ledger without a count")?;
    let mut table = Table::new(["samples", "a second", "lost", "sender ns a sample", "process, of a core"]);
    table.row(vec![
        sent.to_string(),
        format!("{:.0}", sent as f64 / took.as_secs_f64()),
        sent.saturating_sub(received).to_string(),
        format!("{:.0}", busy.as_nanos() as f64 / sent as f64),
        percent(process_busy.as_secs_f64() / took.as_secs_f64()),
    ]);
    Ok(format!(
        "## A million samples a second\n\n`LinuxProcessorProbe`, one thread that flushes all due samples every millisecond, for {} s. Lost is the number sent minus the number received by the DAC's ledger. The sender's cost is its CPU time while it flushes; process is sender, collector and shipper together.\n\n{table}",
        length.as_secs()
    ))
}
