//! One flush, timed by itself.

use super::instructions::never;
use crate::{scenarios::progress, servers::sample, table::Table};
use hdrhistogram::Histogram;
use oasis_probe::{Deadbands, NodeBuilder, NodeConfig, Overflow, PushedProbe, RingConfig, TcpConnector};
use oasis_probes::LinuxProcessorProbe;
use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

/// Flushes between two pauses, so that only the intended ring is full.
const BURST: u64 = 1_000;
const BURST_INTERVAL: Duration = Duration::from_millis(4);
/// Room for a dozen bursts.
const RING: usize = 1024 * 1024;
/// Room for half a burst.
const SMALL_RING: usize = 40 * 1024;

/// A table of percentiles.
pub fn measure(channel: &str, flushes: u64) -> anyhow::Result<String> {
    let mut builder = NodeBuilder::new("flush", NodeConfig::default());
    let ring = |bytes, overflow| RingConfig { bytes, overflow };
    let probes: Vec<(&str, PushedProbe<LinuxProcessorProbe>)> = vec![
        ("drop newest", builder.pushed("newest", ring(RING, Overflow::DropNewest))?),
        (
            "drop newest, ring full half of the time",
            builder.pushed("full", ring(SMALL_RING, Overflow::DropNewest))?,
        ),
        ("drop oldest", builder.pushed("oldest", ring(RING, Overflow::DropOldest))?),
        (
            "drop oldest, overwriting half of the time",
            builder.pushed("over", ring(SMALL_RING, Overflow::DropOldest))?,
        ),
        ("block, with room", builder.pushed("block", ring(RING, Overflow::Block(Duration::from_millis(1))))?),
        ("on change, kept", builder.on_change("kept", Deadbands::any_change(), RING)?),
        ("on change, within seven deadbands", builder.on_change("still", never(), RING)?),
    ];
    let node = builder.start(TcpConnector::new(channel))?;
    let mut table =
        Table::new(["flush of 7 metrics, with its time", "p50 ns", "p99 ns", "p99.9 ns", "max us"]);
    table.row(row("none: two clock reads", &time(flushes, |_| ())?));
    for (name, mut probe) in probes {
        progress(format_args!("{flushes} flushes: {name}"));
        let times = time(flushes, |number| _ = black_box(probe.flush(black_box(&sample(number)))))?;
        table.row(row(name, &times));
    }
    node.shutdown();
    Ok(format!(
        "## One flush\n\n{flushes} flushes of `LinuxProcessorProbe` for each row, each timed with two clock reads (their cost is in the first row), in bursts of {BURST}, while node and DAC run.\n\n{table}"
    ))
}

fn time(flushes: u64, mut flush: impl FnMut(u64)) -> anyhow::Result<Histogram<u64>> {
    let mut times = Histogram::new_with_max(10_000_000_000, 3)?;
    for number in 0..flushes {
        if number % BURST == 0 {
            thread::sleep(BURST_INTERVAL);
        }
        let began = Instant::now();
        flush(number);
        times.saturating_record(began.elapsed().as_nanos() as u64);
    }
    Ok(times)
}

fn row(name: &str, times: &Histogram<u64>) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    cells.extend([0.5, 0.99, 0.999].map(|quantile| times.value_at_quantile(quantile).to_string()));
    cells.push(format!("{:.0}", times.max() as f64 / 1e3));
    cells
}
