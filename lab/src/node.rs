//! A real node with one probe, in a process of its own.

use crate::{
    order::{Order, ready, run_orders},
    servers::{INSTANCE, NODE, sample},
};
use anyhow::Context;
use oasis_probe::{Hertz, NodeBuilder, NodeConfig, Probe, PushedProbe, TcpConnector};
use oasis_probes::LinuxProcessorProbe;
use std::{
    io, thread,
    time::{Duration, Instant},
};

/// Room for a quarter of a million samples between the probe and its node.
const RING: usize = 16 * 1024 * 1024;

/// A probe that the node calls.
struct Counters(u64);

impl Probe for Counters {
    type Sample = LinuxProcessorProbe;

    fn sample(&mut self) -> io::Result<LinuxProcessorProbe> {
        self.0 += 1;
        Ok(sample(self.0))
    }
}

/// Publishes to the DAC at `channel` until the end of the orders: on order, or at a rate.
pub fn run(channel: &str, hertz: Option<f64>) -> anyhow::Result<()> {
    match hertz {
        Some(hertz) => periodic(channel, hertz),
        None => pushed(channel),
    }
}

fn periodic(channel: &str, hertz: f64) -> anyhow::Result<()> {
    let hertz = Hertz::new(hertz).context("a rate out of range")?;
    let mut builder = NodeBuilder::new(NODE, NodeConfig::default());
    builder.periodic(INSTANCE, hertz, Counters(0))?;
    let node = builder.start(TcpConnector::new(channel))?;
    ready(&[])?;
    // A periodic probe publishes without orders.
    run_orders(|_| Ok(()))?;
    node.shutdown();
    Ok(())
}

fn pushed(channel: &str) -> anyhow::Result<()> {
    let mut builder = NodeBuilder::new(NODE, NodeConfig::default());
    let mut probe = builder.pushed::<LinuxProcessorProbe>(INSTANCE, RING)?;
    let node = builder.start(TcpConnector::new(channel))?;
    ready(&[])?;
    let mut number = 0;
    run_orders(|order| {
        match order {
            Order::Round { burst } => (0..burst).for_each(|_| flush(&mut probe, &mut number)),
            Order::Run { hertz, length } => run_at(hertz, length, || flush(&mut probe, &mut number)),
        }
        Ok(())
    })?;
    node.shutdown();
    Ok(())
}

/// A sample dropped by a full ring leaves a gap in the numbers, which clients count.
fn flush(probe: &mut PushedProbe<LinuxProcessorProbe>, number: &mut u64) {
    *number += 1;
    probe.flush(&sample(*number));
}

/// Flushes due samples once a millisecond if the period is too short to sleep.
fn run_at(hertz: u32, length: Duration, mut flush: impl FnMut()) {
    let began = Instant::now();
    let at_once = (hertz / 1_000).max(1);
    let period = Duration::from_secs(1) * at_once / hertz.max(1);
    for turn in 0.. {
        let due = period * turn;
        if due >= length {
            return;
        }
        thread::sleep(due.saturating_sub(began.elapsed()));
        (0..at_once).for_each(|_| flush());
    }
}
