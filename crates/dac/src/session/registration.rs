//! Registration of a node: its name and run, and its instances with their types.

use super::{NodeSession, draining};
use crate::{PeerLine, identity, moment::Moment, node::Link};
use oasis_channel::{
    DacMessage, Failure, NodeIdentity, PROTOCOL, RegisteredInstance, ResumeSecret, TopicAssignment,
};
use oasis_wire::schema::ProbeType;
use std::sync::Arc;

/// Longest name of a node, an instance, a host or a program, in bytes.
const MAX_NAME: usize = 1_024;
/// Most instances of one node.
const MAX_INSTANCES: usize = 10_000;
/// Most bytes of `register` messages from one connection: bounds the memory of its types.
const MAX_REGISTRATION: usize = 16 * 1024 * 1024;

impl NodeSession {
    pub(super) fn hello(
        &mut self,
        protocol: u32,
        node: NodeIdentity,
        (secret, attach): (Option<ResumeSecret>, Option<u64>),
        now: Moment,
        out: &mut Vec<DacMessage>,
    ) -> Result<(), Failure> {
        if protocol != PROTOCOL {
            let message =
                format!("the node uses protocol {protocol}, this DAC {PROTOCOL}: update the older one");
            return Err(Failure::new("protocol_version", message));
        }
        check_node_name(&node.name)?;
        check_text("host", &node.host)?;
        check_text("software", &node.software)?;
        self.claimed.clone_from(&node.name);
        identity::check_name(&self.peer, &node.name)?;
        self.dac.own_nodes.check(&node.name, &self.peer, secret)?;
        self.check_certificate()?;
        let Some(outbound) = self.outbound.take() else {
            return Err(Failure::new("hello_expected", "hello was received before"));
        };
        if self.dac.draining.is_requested() {
            return Err(draining());
        }
        let (session, address, peer) = (self.number, self.address, self.peer.clone());
        let link = Link { session, attach, address, peer, outbound, accepts_commands: false };
        self.dac.registry.connect(node.clone(), secret, link, now)?;
        if let Some(left_out) = self.dac.admission.may_log(PeerLine::Came) {
            let others = left_out.others();
            tracing::info!(node = %node.name, host = %node.host, run = %node.run, others, "node connected");
        }
        self.node = Some(Arc::new(node));
        out.push(DacMessage::Welcome {
            protocol: PROTOCOL,
            epoch: self.dac.epoch(),
            software: crate::SOFTWARE.into(),
            datagrams: self.offer,
            safe: Some(self.dac.keeping.safe_when()),
            ahead: true,
        });
        Ok(())
    }

    pub(super) fn register(
        &mut self,
        node: &NodeIdentity,
        types: Vec<ProbeType>,
        instances: Vec<RegisteredInstance>,
        now: Moment,
        out: &mut Vec<DacMessage>,
    ) -> Result<(), Failure> {
        if self.topics.len() + instances.len() > MAX_INSTANCES {
            let message = format!("too many instances on one node: the limit is {MAX_INSTANCES}");
            return Err(Failure::new("too_many_instances", message));
        }
        if self.registration_bytes > MAX_REGISTRATION {
            let message = format!("schemas of one node are too large: the limit is {MAX_REGISTRATION} bytes");
            return Err(Failure::new("too_much_schema", message));
        }
        for probe_type in types {
            probe_type.validate().map_err(|error| Failure::new("type_invalid", error.to_string()))?;
            if self.types.get(&probe_type.uuid).is_some_and(|known| **known == probe_type) {
                continue;
            }
            self.dac.registry.reserve(&mut self.schema_memory, probe_type.memory_bytes())?;
            self.types.insert(probe_type.uuid, Arc::new(probe_type));
        }
        let mut topics = Vec::with_capacity(instances.len());
        let mut registered = Vec::with_capacity(instances.len());
        for announced in instances {
            check_name("instance", &announced.name)?;
            let Some(probe_type) = self.types.get(&announced.probe_type) else {
                let message = format!(
                    "instance {:?} has type {}, but no schema of it was sent",
                    announced.name, announced.probe_type
                );
                return Err(Failure::new("type_missing", message));
            };
            let name = announced.name.clone();
            let instance =
                self.dac.registry.register((node, self.number), announced, probe_type, now.wall)?;
            topics.push(TopicAssignment { instance: name, topic: instance.topic });
            if let Some(samples) = &mut self.unsafe_samples {
                // An earlier connection of this run may have brought them.
                samples.note(instance.topic, instance.ledger().last_sequence, now.steady);
            }
            registered.push(instance.clone());
            self.topics.insert(instance.topic, instance);
        }
        out.push(DacMessage::Registered { topics });
        self.report_safe(now, out);
        self.dac.registry.accept_commands(&node.name, self.number);
        if !self.is_replay {
            self.dac.settings.registered(&node.name);
        }
        // Its rates may differ from the rates that readers ask for now.
        registered.iter().for_each(|instance| instance.demand.recheck());
        Ok(())
    }
}

/// A name of a node has no sign of a pattern, and none that separates it from the name of an instance.
pub(crate) fn check_node_name(name: &str) -> Result<(), Failure> {
    check_name("node", name)?;
    match name.chars().find(|sign| matches!(sign, '/' | '*')) {
        None => Ok(()),
        Some(sign) => Err(Failure::new(
            "name_invalid",
            format!(
                "name of the node {name:?} has a {sign}, which patterns such as NODE/* would take for theirs: use another sign, such as -"
            ),
        )),
    }
}

pub(crate) fn check_name(what: &str, name: &str) -> Result<(), Failure> {
    if name.is_empty() {
        return Err(Failure::new(
            "name_invalid",
            format!("name of the {what} is empty: use 1 to {MAX_NAME} bytes"),
        ));
    }
    check_text(&format!("name of the {what}"), name)
}

/// Texts of a node are kept, listed and logged: they have a bound, and no line breaks or escapes.
pub(crate) fn check_text(what: &str, text: &str) -> Result<(), Failure> {
    if text.len() > MAX_NAME {
        let message = format!("{what} has {} bytes: use at most {MAX_NAME}", text.len());
        return Err(Failure::new("name_invalid", message));
    }
    if let Some(control) = text.chars().find(|character| character.is_control()) {
        let message = format!("{what} contains the control character {control:?}: use printable characters");
        return Err(Failure::new("name_invalid", message));
    }
    Ok(())
}
