//! A node for tests of the doors, on a DAC with a real session.

use oasis_channel::{
    Counters, Drops, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame,
};
use oasis_dac::{Dac, now, session::NodeSession};
use oasis_wire::{
    batch::{self, Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::TopicId,
    schema::ProbeType,
    value::RowWriter,
};
use std::sync::Arc;
use uuid::Uuid;

/// A type with one metric.
pub fn counter() -> ProbeType {
    let json = r#"{"name": "Counter", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
        "metrics": [{"name": "count", "type": "uint64"}]}"#;
    serde_json::from_str(json).unwrap()
}

/// Time from one sample to the next.
pub const STEP: u64 = 10_000_000;

/// A node with the instance `counter`, whose session the test drives.
pub struct Plant {
    pub session: NodeSession,
    /// Samples that it has taken.
    pub taken: u64,
    /// Samples dropped before the next batch.
    dropped: u64,
}

impl Plant {
    pub fn connect(dac: &Arc<Dac>) -> Self {
        Self::connect_as(dac, counter())
    }

    pub fn connect_as(dac: &Arc<Dac>, probe_type: ProbeType) -> Self {
        let mut plant = Self {
            session: NodeSession::new(dac.clone(), tokio::sync::mpsc::channel(1).0),
            taken: 0,
            dropped: 0,
        };
        let node = NodeIdentity {
            name: "plant".into(),
            uuid: Uuid::nil(),
            run: Uuid::from_u128(1),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        plant.send_message(&NodeMessage::Hello {
            protocol: PROTOCOL,
            node,
            secret: None,
            attach: None,
            drains: false,
        });
        let instance = RegisteredInstance {
            demand: None,
            declared: None,
            name: "counter".into(),
            probe_type: probe_type.uuid,
            kind: ProbeKind::Pushed,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        plant.send_message(&NodeMessage::Register { types: vec![probe_type], instances: vec![instance] });
        plant
    }

    pub fn send_message(&mut self, message: &NodeMessage) {
        let json = serde_json::to_vec(message).unwrap();
        self.session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
    }

    /// A batch of the next numbers, 10 ms apart.
    pub fn send(&mut self, topic: u32, count: u64) {
        let mut batch = Self::batch(topic, self.taken, count);
        batch::stamp_by_node(&mut batch, topic, std::mem::take(&mut self.dropped) as u32);
        self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
        // As after a read from a socket: readers are woken.
        self.session.acknowledge(now(), &mut Vec::new());
        self.taken += count;
    }

    /// Drops the next samples, as many as this reports in all, and says so before the next batch.
    pub fn drop_samples(&mut self, topic: u32, dropped: Drops) {
        let Drops { ring_full, spool_full, kept_back, invalid_row, not_taken, network } = dropped;
        self.dropped = ring_full + spool_full + kept_back + invalid_row + not_taken + network;
        let sent = self.taken;
        self.taken += self.dropped;
        let counters = Counters {
            topic: TopicId(topic),
            taken: self.taken,
            sent,
            dropped,
            after_sent: Drops::default(),
        };
        self.send_message(&NodeMessage::Counters { instances: vec![counters] });
    }

    /// Sends a sample ahead of its turn, after `after` others.
    pub fn send_ahead(&mut self, topic: u32, after: u64) {
        let batch = Self::batch(topic, after, 1);
        self.session.handle(Frame::Ahead(&batch), now(), &mut Vec::new()).unwrap();
        self.session.acknowledge(now(), &mut Vec::new());
    }

    fn batch(topic: u32, after: u64, count: u64) -> Vec<u8> {
        let mut encoder = Encoder::new(&counter()).unwrap();
        for number in after..after + count {
            let mut row = Vec::new();
            RowWriter::new(&mut row).u64(number);
            encoder.push(number * STEP, &row).unwrap();
        }
        let mut batch = Vec::new();
        encoder.finish(Fields { topic, first_sequence: after + 1, ..Fields::default() }, &mut batch);
        batch
    }
}
