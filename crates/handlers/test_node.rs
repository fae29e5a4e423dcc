//! A node of a DAC in unit tests. The tests of several handlers include this file by its path.

use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
use oasis_dac::{Dac, now, session::NodeSession};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    schema::ProbeType,
    value::RowWriter,
};
use std::sync::Arc;
use tokio::sync::mpsc;
use uuid::Uuid;

/// A node with the instance `tank`.
pub struct TestNode {
    pub session: NodeSession,
    probe_type: ProbeType,
    topic: u32,
    /// The number of the next sample.
    pub next: u64,
}

impl TestNode {
    /// Connects a run of a node, whose instance has this type (JSON).
    pub fn connect(dac: &Arc<Dac>, node: &str, run: u128, schema: &str) -> Self {
        let probe_type: ProbeType = serde_json::from_str(schema).unwrap();
        let identity = NodeIdentity {
            name: node.into(),
            uuid: Uuid::nil(),
            run: Uuid::from_u128(run),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        let instance = RegisteredInstance {
            name: "tank".into(),
            probe_type: probe_type.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let mut session = NodeSession::new(dac.clone(), mpsc::channel(64).0);
        let hello = NodeMessage::Hello {
            protocol: PROTOCOL,
            node: identity,
            secret: None,
            attach: None,
            drains: false,
        };
        let register = NodeMessage::Register { types: vec![probe_type.clone()], instances: vec![instance] };
        for message in [hello, register] {
            let json = serde_json::to_vec(&message).unwrap();
            session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
        }
        let topic = dac.registry.find(node, "tank").unwrap().topic.0;
        Self { session, probe_type, topic, next: 1 }
    }

    /// Sends samples with these times, in one batch. `write` writes the values of the sample with a number.
    pub fn send(&mut self, times: &[u64], write: impl Fn(u64, &mut RowWriter<'_>)) {
        let mut encoder = Encoder::new(&self.probe_type).unwrap();
        for (number, time) in (self.next..).zip(times) {
            let mut row = Vec::new();
            write(number, &mut RowWriter::new(&mut row));
            encoder.push(*time, &row).unwrap();
        }
        let mut batch = Vec::new();
        let fields = Fields { topic: self.topic, first_sequence: self.next, ..Fields::default() };
        encoder.finish(fields, &mut batch);
        self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
        self.next += times.len() as u64;
    }
}
