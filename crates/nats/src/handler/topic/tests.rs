mod again;

use super::*;
use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
use oasis_dac::{Config, Dac, Signal, now, session::NodeSession};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::Nanos,
    schema::ProbeType,
};
use tokio::sync::mpsc;

const MAX_MESSAGE: usize = 1024 * 1024;

/// A DAC with the instance `plant/beat`, and its copy.
struct Copied {
    session: NodeSession,
    beat: ProbeType,
    topic: Topic,
    next: u64,
}

impl Copied {
    fn new(config: Config) -> Self {
        let dac = Dac::new(config);
        let beat: ProbeType = serde_json::from_str(
            r#"{"name": "Beat", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#,
        )
        .unwrap();
        let node = NodeIdentity {
            name: "plant".into(),
            uuid: Uuid::nil(),
            run: Uuid::from_u128(1),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        let instance = RegisteredInstance {
            name: "beat".into(),
            probe_type: beat.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let mut session = NodeSession::new(dac.clone(), mpsc::channel(1).0);
        for message in [
            NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false },
            NodeMessage::Register { types: vec![beat.clone()], instances: vec![instance] },
        ] {
            let json = serde_json::to_vec(&message).unwrap();
            session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
        }
        let instance = dac.registry.find("plant", "beat").unwrap();
        Self { session, beat, topic: Topic::new(instance, Arc::new(Signal::default())), next: 1 }
    }

    /// Sends a batch of samples to the DAC.
    fn send(&mut self, samples: u64) {
        let mut encoder = Encoder::new(&self.beat).unwrap();
        (0..samples).for_each(|number| encoder.push(1_000 + number, &[]).unwrap());
        let topic = self.topic.instance.topic.0;
        let fields =
            Fields { topic, state: 0, first_sequence: self.next, node_time: 2_000, dropped_before: 0 };
        self.next += samples;
        let mut batch = Vec::new();
        encoder.finish(fields, &mut batch);
        self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
    }

    fn read(&mut self, max_message: usize) -> (Vec<Message>, Vec<NotCopied>) {
        let (mut messages, mut lost) = (Vec::new(), Vec::new());
        while self.topic.read(max_message, &mut messages, &mut lost) {}
        (messages, lost)
    }

    /// Up to which sequence number all samples are copied or declared, and whether some are lost.
    fn copied(&self) -> (u64, bool) {
        self.topic.instance.ledger().copied(self.topic.instance.log.next(), 0)
    }
}

fn lost(messages: &[Message]) -> Vec<Lost> {
    messages.iter().flat_map(|message| Copy::decode(&message.payload).unwrap().head.lost).collect()
}

#[test]
fn a_sample_is_copied_once_it_and_all_before_it_are_acknowledged() {
    let mut copied = Copied::new(Config::default());
    copied.send(3);
    copied.send(2);
    let (messages, _) = copied.read(MAX_MESSAGE);
    let numbers: Vec<u64> = messages.iter().map(|message| message.place.1).collect();
    assert_eq!(messages.iter().filter(|message| message.id.ends_with("/1/3")).count(), 1);
    assert_eq!(copied.topic.acknowledge(numbers[1]), 0, "the first one is missing");
    assert_eq!(copied.copied(), (0, false));
    assert_eq!(copied.topic.acknowledge(numbers[0]), 5);
    assert_eq!(copied.copied(), (5, false));
    assert_eq!(
        copied.topic.acknowledge(numbers[0]),
        0,
        "an acknowledgement that comes twice changes nothing"
    );
}

#[test]
fn losses_before_the_copy_are_sent_with_their_causes_and_only_then_settled() {
    let mut copied = Copied::new(Config::default());
    copied.send(2);
    copied.topic.instance.ledger().lost_on_the_way(6, Nanos(3_000));
    let (messages, _) = copied.read(MAX_MESSAGE);
    assert_eq!(lost(&messages), [Lost(3, 6, Cause::Network)]);
    for message in &messages {
        copied.topic.acknowledge(message.place.1);
    }
    assert_eq!(copied.copied(), (6, false), "numbers that never came have no sample to copy");
    assert!(copied.read(MAX_MESSAGE).0.is_empty(), "nothing is sent twice");
}

#[test]
fn a_batch_that_is_too_large_is_declared_and_the_next_one_goes_on() {
    let mut copied = Copied::new(Config::default());
    copied.send(2);
    let (messages, lost_here) = copied.read(10);
    assert_eq!(lost(&messages), [Lost(1, 2, Cause::CopyRefused)]);
    assert_eq!(
        lost_here.iter().map(|lost| (lost.cause, lost.samples)).collect::<Vec<_>>(),
        [(Cause::CopyRefused, 2)]
    );
    assert!(lost_here[0].detail.contains("max_payload"));
    assert_eq!(copied.copied(), (0, false), "not before the loss is declared");
    for message in &messages {
        copied.topic.acknowledge(message.place.1);
    }
    assert_eq!(copied.copied(), (2, true));
    copied.send(1);
    let (messages, _) = copied.read(MAX_MESSAGE);
    assert_eq!(copied.topic.acknowledge(messages[0].place.1), 1);
    assert_eq!(copied.copied().0, 3);
}

#[test]
fn what_the_log_evicts_is_counted_and_its_numbers_are_declared() {
    let mut config = Config::default();
    config.log.topic_bytes = 2_000;
    let mut copied = Copied::new(config);
    copied.send(1);
    let (first, _) = copied.read(MAX_MESSAGE);
    copied.topic.acknowledge(first[0].place.1);
    (0..100).for_each(|_| copied.send(1));
    let kept = copied.topic.instance.log.state().first_offset.0;
    assert!(kept > 1, "some are evicted");
    let (messages, lost_here) = copied.read(MAX_MESSAGE);
    assert_eq!(lost_here.iter().map(|lost| lost.samples).sum::<u64>(), kept - 1);
    assert_eq!(lost(&messages), [Lost(2, kept, Cause::CopyLag)]);
    for message in &messages {
        copied.topic.acknowledge(message.place.1);
    }
    assert_eq!(copied.copied(), (101, true));
}

#[test]
fn a_message_that_is_refused_for_good_is_lost_and_does_not_block_the_others() {
    let mut copied = Copied::new(Config::default());
    copied.send(3);
    copied.send(2);
    let (messages, _) = copied.read(MAX_MESSAGE);
    let mut more = Vec::new();
    assert_eq!(copied.topic.refuse(messages[0].place.1, &mut more), (0, 3));
    assert_eq!(lost(&more), [Lost(1, 3, Cause::CopyRefused)]);
    assert_eq!(copied.copied(), (3, true));
    assert_eq!(copied.topic.acknowledge(messages[1].place.1), 2);
    assert_eq!(copied.copied().0, 5);
}
