//! `LineProbe`: the counters of a line, an instance of the gateway's own node.

use crate::{generated::oasis::gateway::LineProbe, stats::LineStats};
use oasis_probe::Probe;
use std::{
    io,
    sync::{Arc, atomic::Ordering::Relaxed},
};

/// Reports a line.
pub struct LineHealth(pub Arc<LineStats>);

impl Probe for LineHealth {
    type Sample = LineProbe;

    fn sample(&mut self) -> io::Result<LineProbe> {
        let stats = &self.0;
        Ok(LineProbe {
            received: stats.received.load(Relaxed),
            sent: stats.sent.load(Relaxed),
            frames: stats.frames.load(Relaxed),
            damaged_frames: stats.damaged_frames.load(Relaxed),
            lost_frames: stats.lost_frames.load(Relaxed),
            refused_frames: stats.refused_frames.load(Relaxed),
            lost_samples: stats.lost_samples.load(Relaxed),
            restarts: stats.restarts.load(Relaxed),
            unknown_restarts: stats.unknown_restarts.load(Relaxed),
            devices: stats.devices.load(Relaxed),
            open: stats.is_open.load(Relaxed),
        })
    }
}
