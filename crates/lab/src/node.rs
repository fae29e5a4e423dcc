//! A real node with one pushed probe, in a process of its own.

use crate::{
    order::{Order, obey, ready},
    servers::{INSTANCE, NODE, sample},
};
use oasis_probe::{NodeBuilder, NodeConfig, PushedProbe, TcpConnector};
use oasis_probes::LinuxProcessorProbe;
use std::{
    thread,
    time::{Duration, Instant},
};

/// Room for some thousand samples between the probe and its node.
const RING: usize = 1024 * 1024;

/// Publishes to the DAC at `channel` until there are no more orders.
pub fn run(channel: &str) -> anyhow::Result<()> {
    let mut builder = NodeBuilder::new(NODE, NodeConfig::default());
    let mut probe = builder.pushed::<LinuxProcessorProbe>(INSTANCE, RING)?;
    let node = builder.start(TcpConnector::new(channel))?;
    ready(&[])?;
    let mut number = 0;
    obey(|order| {
        match order {
            Order::Round { burst } => (0..burst).for_each(|_| flush(&mut probe, &mut number)),
            Order::Run { hertz, length } => run_at(hertz, length, || flush(&mut probe, &mut number)),
        }
        Ok(())
    })?;
    node.shutdown();
    Ok(())
}

/// A sample that finds no room is missing in the sequence, and the clients see that.
fn flush(probe: &mut PushedProbe<LinuxProcessorProbe>, number: &mut u64) {
    *number += 1;
    probe.flush(&sample(*number));
}

fn run_at(hertz: u32, length: Duration, mut flush: impl FnMut()) {
    let (began, period) = (Instant::now(), Duration::from_secs(1) / hertz.max(1));
    for turn in 0.. {
        let due = period * turn;
        if due >= length {
            return;
        }
        thread::sleep(due.saturating_sub(began.elapsed()));
        flush();
    }
}
