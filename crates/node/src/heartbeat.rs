//! `HeartbeatProbe`: no metrics. The sequence number and the time of a sample show that the node runs.

use crate::{ReadyMadeProbe, generated::oasis::system::HeartbeatProbe};
use oasis_probe::Probe;
use std::io;

/// The heartbeat, as users choose it.
pub const HEARTBEAT: ReadyMadeProbe = ReadyMadeProbe {
    name: "heartbeat",
    measures: "nothing: its samples show that the node runs",
    instances: "one",
    parameters: &[],
    types: &["HeartbeatProbe"],
    add: |node, choice| choice.periodic(node, "heartbeat", Heartbeat),
};

/// A sign of life.
#[derive(Debug, Default)]
pub struct Heartbeat;

impl Probe for Heartbeat {
    type Sample = HeartbeatProbe;

    fn sample(&mut self) -> io::Result<HeartbeatProbe> {
        Ok(HeartbeatProbe {})
    }
}
