//! A pump that is blocked once a minute: its bearing heats up, and an alarm is raised.

use super::{Connect, cycle};
use crate::live::generated::demo::Pump;
use oasis_probe::{Hertz, Node, NodeBuilder, NodeConfig, Probe};
use std::{io, time::Instant};

/// Seconds from one obstacle to the next.
const CYCLE_SECONDS: f64 = 60.0;
/// Part of a cycle in which the pump is blocked.
const BLOCKED: std::ops::Range<f64> = 0.1..0.35;
/// Temperatures between which the bearing goes, in degrees Celsius.
const COOL: f64 = 60.0;
const HOT: f64 = 105.0;

pub(super) fn start(connect: &Connect) -> anyhow::Result<Node> {
    let mut builder = NodeBuilder::new("pump-2", NodeConfig::default());
    let now = Instant::now();
    builder.periodic("pump", Hertz::new(50.0)?, Bearing { since: now, before: now, temperature: COOL })?;
    Ok(builder.start(connect())?)
}

struct Bearing {
    since: Instant,
    before: Instant,
    temperature: f64,
}

impl Probe for Bearing {
    type Sample = Pump;

    fn sample(&mut self) -> io::Result<Pump> {
        let is_blocked = BLOCKED.contains(&cycle(self.since, CYCLE_SECONDS));
        let seconds = self.before.elapsed().as_secs_f64();
        self.before = Instant::now();
        // Half of the way in some three seconds, whatever the rate.
        let target = if is_blocked { HOT } else { COOL };
        self.temperature += (target - self.temperature) * (1.0 - (-seconds / 4.0).exp());
        let wave = (self.since.elapsed().as_secs_f64() * 2.0).sin();
        Ok(Pump {
            temperature: self.temperature,
            flow: if is_blocked { 0.5 } else { 12.0 + 0.2 * wave },
            power: if is_blocked { 820.0 } else { 410.0 + 6.0 * wave },
        })
    }
}
