use super::eventually;
use oasis_channel::{
    Connector, DacMessage, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, Receiver, RegisteredInstance,
    ResumeSecret, Sender, tcp::TcpConnector,
};
use oasis_wire::{probe_kind::ProbeKind, quantity::TopicId, schema::ProbeType};
use std::io::ErrorKind;
use uuid::Uuid;

/// A node of a test that speaks the data channel itself.
pub struct PlainNode {
    pub sender: Box<dyn Sender>,
    pub receiver: Box<dyn Receiver>,
    /// Topics of its instances, as they were registered.
    pub topics: Vec<TopicId>,
}

/// The identity of a node; `run` is one life of its process.
pub fn identity(name: &str, run: u128) -> NodeIdentity {
    NodeIdentity {
        name: name.into(),
        uuid: Uuid::nil(),
        run: Uuid::from_u128(run),
        host: "h".into(),
        software: "test".into(),
        pid: 1,
    }
}

/// A type without metrics.
pub fn beat() -> ProbeType {
    let json = r#"{"name": "Beat", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
    serde_json::from_str(json).expect("a schema")
}

/// A pushed instance of a type.
pub fn pushed(name: impl Into<String>, probe_type: &ProbeType) -> RegisteredInstance {
    RegisteredInstance {
        name: name.into(),
        probe_type: probe_type.uuid,
        kind: ProbeKind::Pushed,
        demand: None,
        declared: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    }
}

impl PlainNode {
    /// Connects, registers instances of one type, and waits for their topics.
    pub fn connect(
        channel: &str,
        node: NodeIdentity,
        secret: Option<ResumeSecret>,
        (probe_type, instances): (&ProbeType, Vec<RegisteredInstance>),
    ) -> Self {
        Self::connect_types(channel, node, secret, vec![probe_type.clone()], instances)
    }

    /// Connects, registers instances of several types, and waits for their topics.
    pub fn connect_types(
        channel: &str,
        node: NodeIdentity,
        secret: Option<ResumeSecret>,
        types: Vec<ProbeType>,
        instances: Vec<RegisteredInstance>,
    ) -> Self {
        let (mut sender, mut receiver) = TcpConnector::new(channel).connect().expect("the DAC listens");
        let hello = NodeMessage::Hello { protocol: PROTOCOL, node, secret, attach: None, drains: false };
        let register = NodeMessage::Register { types, instances };
        sender.send(&[hello, register], &[]).expect("the DAC reads");
        // A read has a short deadline; thousands of instances take longer on a busy machine.
        let topics = eventually("the topics of the instances", || match receiver.receive() {
            Ok(DacMessage::Registered { topics }) => Some(topics),
            Ok(_) => None,
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) => panic!("the DAC closed the connection: {error}"),
        });
        Self { sender, receiver, topics: topics.iter().map(|assigned| assigned.topic).collect() }
    }
}
