//! The node of a device at the DAC, as its link uses it.

use oasis_channel::{Connector, InstanceState, Outcome, ResumeSecret};
use oasis_probe::{
    NodeConfig, NodeError,
    forward::{ForwardedCommand, ForwardedNode, Missing, NewBatch, Session},
};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};
use uuid::Uuid;

/// The node of one device.
pub trait Uplink: Send {
    /// Begins a session: the first one, or one after another.
    ///
    /// # Errors
    /// If the node cannot be made.
    fn begin(&mut self, session: Session) -> Result<(), NodeError>;
    /// As [`ForwardedNode::push`].
    fn push(&mut self, batch: NewBatch);
    /// As [`ForwardedNode::taken`].
    fn taken(&mut self, instance: usize, taken: u64, missing: Missing);
    /// As [`ForwardedNode::set_present`].
    fn set_present(&mut self, is_present: bool);
    /// As [`ForwardedNode::clock_offset`].
    fn clock_offset(&self) -> Option<i64>;
    /// As [`ForwardedNode::next_command`].
    fn next_command(&mut self) -> Option<ForwardedCommand>;
    /// As [`ForwardedNode::answer`].
    fn answer(&mut self, command: ForwardedCommand, outcome: Outcome);
    /// Notes the state of an instance.
    fn state(&mut self, instance: usize, state: InstanceState);
    /// Whether nothing is left to send.
    fn is_idle(&self) -> bool;
    /// Sends what is left, waiting a few seconds at most.
    fn shutdown(&mut self);
}

/// Makes connectors to the DAC: one for each device.
pub type Connectors = dyn Fn() -> std::io::Result<Box<dyn Connector>> + Send + Sync;

/// State that all nodes of a gateway share.
pub struct Nodes {
    /// Bounds of each.
    pub config: NodeConfig,
    /// Leads to the DAC.
    pub connectors: Box<Connectors>,
    /// DAC clock minus the clock of this host, as any of them knows it; `i64::MIN` before that.
    offset: AtomicI64,
}

impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Nodes {
    /// Nodes with these bounds.
    pub fn new(config: NodeConfig, connectors: Box<Connectors>) -> Self {
        Self { config, connectors, offset: AtomicI64::new(i64::MIN) }
    }
}

/// The node of a device at a real DAC.
pub struct DacUplink {
    name: String,
    nodes: Arc<Nodes>,
    node: Option<ForwardedNode>,
}

impl DacUplink {
    /// Creates the uplink of a device. It connects with its first session.
    pub fn new(name: &str, nodes: Arc<Nodes>) -> Self {
        Self { name: name.into(), nodes, node: None }
    }

    fn config(&self) -> NodeConfig {
        // Names of devices are no names of folders.
        let folder = Uuid::new_v5(&Uuid::NAMESPACE_OID, self.name.as_bytes()).to_string();
        let directory = self.nodes.config.spool_directory.as_ref();
        NodeConfig {
            uuid: None,
            spool_directory: directory.map(|directory| directory.join("devices").join(folder)),
            ..self.nodes.config.clone()
        }
    }
}

impl Uplink for DacUplink {
    fn begin(&mut self, session: Session) -> Result<(), NodeError> {
        match &mut self.node {
            Some(node) => node.renew(session),
            None => {
                let connector = (self.nodes.connectors)()?;
                self.node = Some(ForwardedNode::start(&self.name, session, self.config(), connector)?);
                Ok(())
            }
        }
    }

    fn push(&mut self, batch: NewBatch) {
        if let Some(node) = &self.node {
            node.push(batch);
        }
    }

    fn taken(&mut self, instance: usize, taken: u64, missing: Missing) {
        if let Some(node) = &self.node {
            node.taken(instance, taken, missing);
        }
    }

    fn set_present(&mut self, is_present: bool) {
        if let Some(node) = &self.node {
            node.set_present(is_present);
        }
    }

    fn clock_offset(&self) -> Option<i64> {
        let known = self.node.as_ref().and_then(ForwardedNode::clock_offset);
        if let Some(offset) = known {
            self.nodes.offset.store(offset, Ordering::Relaxed);
        }
        known.or_else(|| Some(self.nodes.offset.load(Ordering::Relaxed)).filter(|offset| *offset != i64::MIN))
    }

    fn next_command(&mut self) -> Option<ForwardedCommand> {
        self.node.as_mut()?.next_command()
    }

    fn answer(&mut self, command: ForwardedCommand, outcome: Outcome) {
        if let Some(node) = &mut self.node {
            node.answer(command, outcome);
        }
    }

    fn state(&mut self, instance: usize, state: InstanceState) {
        if let Some(node) = &self.node {
            node.state(instance, state);
        }
    }

    fn is_idle(&self) -> bool {
        self.node.as_ref().is_none_or(ForwardedNode::has_left)
    }

    fn shutdown(&mut self) {
        if let Some(node) = self.node.take() {
            node.shutdown();
        }
    }
}

/// Returns the secret of a device's session: the same whenever the same gateway meets it.
pub fn secret_of(gateway: ResumeSecret, device: &str, session: u32) -> ResumeSecret {
    gateway.derive(&[device.as_bytes(), &session.to_le_bytes()])
}
