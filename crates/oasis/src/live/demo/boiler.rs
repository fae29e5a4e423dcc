//! A boiler whose node ends every two minutes, and starts again after some seconds.

use super::{Connect, Stop, cycle};
use crate::live::generated::demo::{Boiler, Burner};
use oasis_probe::{Hertz, Node, NodeBuilder, NodeConfig, Probe};
use std::{
    f64::consts::TAU,
    io,
    time::{Duration, Instant},
};

const RUN_TIME: Duration = Duration::from_secs(120);
/// Long enough for the alarm of a boiler that sends nothing.
const OFFLINE_TIME: Duration = Duration::from_secs(8);
/// Seconds from cold to cold.
const CYCLE_SECONDS: f64 = 45.0;

/// Starts the node for the first time.
pub(super) fn start(connect: &Connect) -> anyhow::Result<Node> {
    let mut builder = NodeBuilder::new("boiler-1", NodeConfig::default());
    builder.periodic("boiler", Hertz::new(10.0)?, Water { since: Instant::now() })?;
    Ok(builder.start(connect())?)
}

/// Restarts it again and again.
pub(super) fn run(mut node: Node, connect: &Connect, stop: &Stop) {
    while !stop.within(RUN_TIME) {
        node.shutdown();
        if stop.within(OFFLINE_TIME) {
            return;
        }
        node = match start(connect) {
            Ok(node) => node,
            Err(error) => return tracing::error!("the boiler of the demo cannot start again: {error:#}"),
        };
    }
    node.shutdown();
}

struct Water {
    since: Instant,
}

impl Probe for Water {
    type Sample = Boiler;

    fn sample(&mut self) -> io::Result<Boiler> {
        let turn = TAU * cycle(self.since, CYCLE_SECONDS);
        let temperature = 78.0 - 7.0 * turn.cos();
        Ok(Boiler {
            temperature,
            // Water in a closed circuit, about 10 mbar a degree.
            pressure: 1.6 + (temperature - 70.0) * 0.01,
            burner: if turn.sin() > 0.0 { Burner::On } else { Burner::Off },
        })
    }
}
