//! The registry as one message: nodes and instances, for clients that watch them.
//!
//! With thousands of instances the message has megabytes. So it is made once for all clients of a shard, it is shared and not copied, a client gets the next one only after
//! it has taken the one before, and the larger it is the longer is the rest before the next one.

use super::messages::Answer;
use crate::view;
use bytes::Bytes;
use oasis_dac::Registry;
use oasis_websocket::{Opcode, frame};
use std::time::Instant;

/// The newest picture of a shard.
#[derive(Debug, Default)]
pub struct Picture {
    /// Version of the registry, and the frame of its picture.
    made: Option<(u64, Bytes)>,
    /// When the next one may be made.
    pub(super) not_before: Option<Instant>,
    /// Whether a client waits for a picture.
    pub(super) is_due: bool,
}

impl Picture {
    /// Returns when a client that waits for a picture can get it.
    pub fn due(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.is_due)
    }

    /// Returns the present picture, made if the registry has changed, and its version.
    pub(super) fn present(&mut self, registry: &Registry) -> (u64, Bytes) {
        let version = registry.version();
        if let Some((made, frame)) = &self.made
            && *made == version
        {
            return (version, frame.clone());
        }
        let picture = Answer::Registry { nodes: view::nodes(registry), instances: view::instances(registry) };
        let mut out = Vec::new();
        frame::write_message(Opcode::Text, &picture.json(), &mut out);
        let frame = Bytes::from(out);
        self.made = Some((version, frame.clone()));
        (version, frame)
    }
}
