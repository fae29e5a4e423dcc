//! `HeartbeatProbe`: no metrics; its sequence number and time say that the node lives.

use crate::generated::oasis::system::HeartbeatProbe;
use oasis_probe::Probe;
use std::io;

/// A sign of life.
#[derive(Debug, Default)]
pub struct Heartbeat;

impl Probe for Heartbeat {
    type Sample = HeartbeatProbe;

    fn sample(&mut self) -> io::Result<HeartbeatProbe> {
        Ok(HeartbeatProbe {})
    }
}
