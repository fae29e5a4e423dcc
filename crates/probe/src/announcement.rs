//! Announcement of a node to a DAC.

use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, RegisteredInstance, ResumeSecret};
use oasis_wire::schema::ProbeType;
use serde::{Deserialize, Serialize};

/// Data that the DAC receives about this node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Announcement {
    /// The node's identity.
    pub identity: NodeIdentity,
    /// Proves to a DAC that this is the owner of the run. Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<ResumeSecret>,
    /// Schemas.
    pub types: Vec<ProbeType>,
    /// Instances in their initial states, which commands change.
    pub instances: Vec<RegisteredInstance>,
}

impl Announcement {
    /// Returns the message that registers the instances from `first` on, which are in these states by now.
    pub fn registration(&self, first: usize, states: impl Iterator<Item = InstanceState>) -> NodeMessage {
        let mut instances: Vec<_> = self.instances.iter().skip(first).cloned().collect();
        instances.iter_mut().zip(states.skip(first)).for_each(|(instance, state)| instance.state = state);
        let is_used = |known: &&ProbeType| instances.iter().any(|instance| instance.probe_type == known.uuid);
        let types = self.types.iter().filter(is_used).cloned().collect();
        NodeMessage::Register { types, instances }
    }

    /// Returns the index of the instance with this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.instances.iter().position(|instance| instance.name == name)
    }
}
