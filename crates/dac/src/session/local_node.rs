//! A node of the DAC's own process: a session without a socket.

use super::NodeSession;
use crate::{Dac, Instance, Moment, now};
use oasis_channel::{
    Counters, DacMessage, Drops, Failure, InstanceState, NodeIdentity, NodeMessage, Outcome, PROTOCOL,
    RegisteredInstance, frame::Frame,
};
use oasis_wire::{probe_kind::ProbeKind, quantity::TopicId, schema::ProbeType};
use std::sync::Arc;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Commands to the node that wait for their refusal.
const COMMAND_CAPACITY: usize = 8;

/// The description of a local node.
#[derive(Debug, Clone, Copy)]
pub struct LocalIdentity<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its UUID, the same in each run.
    pub uuid: Uuid,
    /// The part of the program that sends its samples.
    pub software: &'a str,
    /// The answer to commands: its instances have no probes.
    pub refusal: &'static str,
}

/// A node whose samples the DAC's own process makes. They take the way of all samples from the session on.
#[derive(Debug)]
pub struct LocalNode {
    dac: Arc<Dac>,
    session: NodeSession,
    commands: mpsc::Receiver<DacMessage>,
    refusal: &'static str,
}

impl LocalNode {
    /// Connects a node in a run of its own.
    ///
    /// # Errors
    /// If another node has its name.
    pub fn connect(dac: Arc<Dac>, identity: LocalIdentity<'_>) -> Result<Self, Failure> {
        let (outbound, commands) = mpsc::channel(COMMAND_CAPACITY);
        let session = NodeSession::new(dac.clone(), outbound).of_this_process();
        let node = NodeIdentity {
            name: identity.name.to_owned(),
            uuid: identity.uuid,
            run: Uuid::new_v4(),
            host: "dac".into(),
            software: identity.software.to_owned(),
            pid: std::process::id(),
        };
        let mut connected = Self { dac, session, commands, refusal: identity.refusal };
        let hello =
            NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false };
        connected.handle(&hello)?;
        Ok(connected)
    }

    /// Registers an instance. The number of its next sample follows the last one of its ledger.
    ///
    /// # Errors
    /// If the DAC refuses the name or the type.
    pub fn register(&mut self, name: &str, probe_type: ProbeType) -> Result<Option<Arc<Instance>>, Failure> {
        let announced = RegisteredInstance {
            name: name.to_owned(),
            probe_type: probe_type.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let answers =
            self.handle(&NodeMessage::Register { types: vec![probe_type], instances: vec![announced] })?;
        let topic = answers.into_iter().find_map(|answer| match answer {
            DacMessage::Registered { topics } => topics.first().map(|assigned| assigned.topic),
            _ => None,
        });
        Ok(topic.and_then(|topic| self.dac.registry.instance(topic)))
    }

    /// Sends a batch; [`LocalNode::flush`] wakes its readers.
    ///
    /// # Errors
    /// If the DAC refuses it.
    pub fn send(&mut self, batch: &[u8]) -> Result<(), Failure> {
        self.session.handle(Frame::Batch(batch), Moment::now(), &mut Vec::new())
    }

    /// Reports how many samples of an instance were lost on the way to this process, up to a number, before the next batch.
    ///
    /// # Errors
    /// If the DAC refuses the report.
    pub fn report_missing(&mut self, topic: TopicId, taken: u64, dropped: Drops) -> Result<(), Failure> {
        let counters = Counters { topic, taken, sent: taken, dropped, after_sent: Drops::default() };
        self.handle(&NodeMessage::Counters { instances: vec![counters] }).map(drop)
    }

    /// Wakes the readers of what was sent, and refuses commands.
    pub fn flush(&mut self) {
        self.session.acknowledge(Moment::now(), &mut Vec::new());
        while let Ok(message) = self.commands.try_recv() {
            if let DacMessage::Command { id, .. } = message {
                let failure = Failure::new("not_a_probe", self.refusal);
                // The result is ignored if its request has ended.
                let _ = self.handle(&NodeMessage::Result { id, outcome: Outcome::Failed(failure) });
            }
        }
    }

    fn handle(&mut self, message: &NodeMessage) -> Result<Vec<DacMessage>, Failure> {
        let json = serde_json::to_vec(message)
            .map_err(|error| Failure::new("message_invalid", error.to_string()))?;
        let mut answers = Vec::new();
        self.session.handle(Frame::Control(&json), Moment::now(), &mut answers)?;
        Ok(answers)
    }
}

impl Drop for LocalNode {
    fn drop(&mut self) {
        self.session.close(now());
    }
}
