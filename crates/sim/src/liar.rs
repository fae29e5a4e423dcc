//! A peer that claims to be a node: with the node's run and without its secret, or with a run of its own.

use crate::{
    network::{ConnectionId, Side},
    sample,
    shared::{Event, Shared},
    system::NANOS_PER_SECOND,
};
use oasis_channel::{
    Counters, DacMessage, Drops, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance,
    frame::{DEFAULT_MAX_BODY, Frame, Reader, batch_header, write_control},
};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::TopicId,
};
use uuid::Uuid;

/// A liar.
#[derive(Debug)]
pub struct Liar {
    node: usize,
    name: String,
    /// The run that it claims, or none for one of its own.
    run: Option<Uuid>,
    /// Its connection.
    pub connection: Option<ConnectionId>,
    reader: Reader,
    attempts: u32,
}

impl Liar {
    /// Creates one that has not connected yet.
    pub fn new(node: usize, name: String, run: Option<Uuid>) -> Self {
        Self { node, name, run, connection: None, reader: Reader::new(DEFAULT_MAX_BODY), attempts: 0 }
    }

    /// Connects, tries again, or leaves.
    pub fn on_event(&mut self, index: usize, shared: &mut Shared) {
        if let Some(id) = self.connection.take() {
            shared.close(id, Side::Node);
        }
        self.attempts += 1;
        if self.attempts > 8 || !shared.is_sampling {
            return;
        }
        let pause = shared.random.u64(NANOS_PER_SECOND / 10..NANOS_PER_SECOND);
        shared.after(pause, Event::Liar(index));
        if !shared.is_dac_up {
            return;
        }
        // The liar is on another host: a partition of the node does not stop it.
        let id = shared.network.open_beside(self.node);
        shared.opened.push(id);
        self.connection = Some(id);
        self.reader = Reader::new(DEFAULT_MAX_BODY);
        let run = self.run.unwrap_or_else(|| Uuid::from_u128(shared.random.u128(..)));
        let (name, uuid) = (self.name.clone(), Uuid::from_u128(7));
        let identity = NodeIdentity { name, uuid, run, host: "liar".into(), software: "liar".into(), pid: 1 };
        self.send(
            &[NodeMessage::Hello {
                protocol: PROTOCOL,
                node: identity,
                secret: None,
                attach: None,
                drains: false,
            }],
            shared,
        );
    }

    fn send(&self, messages: &[NodeMessage], shared: &mut Shared) {
        let mut bytes = Vec::new();
        messages.iter().for_each(|message| write_control(message, &mut bytes));
        if let Some(id) = self.connection {
            shared.send(id, Side::Dac, &bytes);
        }
    }

    /// Answers what the DAC says.
    pub fn on_bytes(&mut self, bytes: &[u8], shared: &mut Shared) {
        self.reader.extend(bytes);
        let mut heard = Vec::new();
        while let Ok(Some(Frame::Control(json))) = self.reader.next() {
            heard.extend(serde_json::from_slice::<DacMessage>(json));
        }
        for message in heard {
            match message {
                DacMessage::Welcome { .. } => {
                    shared.note(format!("the liar is {}", self.name));
                    let probe_type = sample::probe_type();
                    let instances = vec![RegisteredInstance {
                        name: "instance 0".into(),
                        probe_type: probe_type.uuid,
                        kind: ProbeKind::Pushed,
                        demand: None,
                        declared: None,
                        state: InstanceState { hertz: None, enabled: true, recorder: None },
                    }];
                    self.send(&[NodeMessage::Register { types: vec![probe_type], instances }], shared);
                }
                DacMessage::Registered { topics } => {
                    topics.iter().for_each(|assigned| self.lie(assigned.topic, shared));
                }
                _ => {}
            }
        }
    }

    /// Sends false counters and a false batch.
    fn lie(&self, topic: TopicId, shared: &mut Shared) {
        let first = [1, 50, 1_000, 1 << 40, 1 << 62][shared.random.usize(0..5)];
        let dropped = Drops { spool_full: shared.random.u64(0..100), ..Drops::default() };
        let counters = Counters {
            topic,
            taken: first * 2,
            sent: first,
            dropped,
            after_sent: Drops { ring_full: first, ..dropped },
        };
        self.send(&[NodeMessage::Counters { instances: vec![counters] }], shared);
        let Ok(mut encoder) = Encoder::new(&sample::probe_type()) else { return };
        let _ = encoder.push(1, &sample::row(Uuid::nil(), 0, first));
        let mut batch = Vec::new();
        let fields =
            Fields { topic: topic.0, state: 0, first_sequence: first, node_time: 1, dropped_before: 0 };
        encoder.finish(fields, &mut batch);
        let mut bytes = batch_header(batch.len()).to_vec();
        bytes.extend_from_slice(&batch);
        if let Some(id) = self.connection {
            shared.send(id, Side::Dac, &bytes);
        }
    }
}
