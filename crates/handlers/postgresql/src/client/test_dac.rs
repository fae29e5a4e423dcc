//! A DAC in memory, for tests.

use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
use oasis_dac::{Config, Dac, now, session::NodeSession};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    schema::ProbeType,
};
use std::{collections::HashMap, sync::Arc};
use tokio::sync::mpsc;
use uuid::Uuid;

/// A DAC with the node `plant`, whose instances have no metrics.
pub struct TestDac {
    pub dac: Arc<Dac>,
    session: NodeSession,
    beat: ProbeType,
    /// Sequence number of each instance's next sample.
    next: HashMap<String, u64>,
}

impl TestDac {
    /// Creates a DAC with instances of these names.
    pub fn new(instances: &[&str]) -> Self {
        let dac = Dac::new(Config::default());
        let beat: ProbeType = serde_json::from_str(
            r#"{"name": "Beat", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#,
        )
        .unwrap();
        let node = NodeIdentity {
            name: "plant".into(),
            uuid: Uuid::nil(),
            run: Uuid::nil(),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        let instance = |name: &&str| RegisteredInstance {
            name: (*name).into(),
            probe_type: beat.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let instances = instances.iter().map(instance).collect();
        let mut session = NodeSession::new(dac.clone(), mpsc::channel(1).0);
        for message in [
            NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false },
            NodeMessage::Register { types: vec![beat.clone()], instances },
        ] {
            let json = serde_json::to_vec(&message).unwrap();
            session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
        }
        Self { dac, session, beat, next: HashMap::new() }
    }

    /// Sends a batch of samples of an instance.
    pub fn send(&mut self, instance: &str, samples: u64) {
        let topic = self.dac.registry.find("plant", instance).unwrap().topic.0;
        let next = self.next.entry(instance.into()).or_insert(1);
        let mut encoder = Encoder::new(&self.beat).unwrap();
        (0..samples).for_each(|number| encoder.push(1_000 + number, &[]).unwrap());
        let fields = Fields { topic, state: 0, first_sequence: *next, node_time: 2_000, dropped_before: 0 };
        *next += samples;
        let mut batch = Vec::new();
        encoder.finish(fields, &mut batch);
        self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
    }
}
