//! A DAC that only keeps samples, in the process of the test.

use oasis_channel::{Connector, DacMessage, NodeMessage, Receiver, Sender, TopicAssignment};
use oasis_probe::{Node, NodeBuilder};
use oasis_wire::{
    batch::{Batch, Header},
    quantity::{Epoch, TopicId},
    schema::ProbeType,
    value,
};
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    io,
    sync::{Arc, Condvar, Mutex, mpsc},
    time::Duration,
};

const BATCH_TIMEOUT: Duration = Duration::from_secs(20);

/// Samples as JSON, by instance, and the number of samples lost before them.
#[derive(Debug, Default)]
pub struct ReceivedSamples {
    pub samples: HashMap<String, Vec<Map<String, Value>>>,
    #[allow(dead_code, reason = "not every test program needs it")]
    pub lost: u64,
    types: Vec<ProbeType>,
    instances: Vec<(String, uuid::Uuid)>,
}

/// A node whose samples are kept.
pub struct WatchedNode {
    node: Node,
    memory: Memory,
}

impl WatchedNode {
    pub fn start(builder: NodeBuilder) -> Self {
        let memory = Memory::default();
        Self { node: builder.start(memory.clone()).unwrap(), memory }
    }

    #[allow(dead_code, reason = "not every test program needs it")]
    pub fn wait_for_a_batch(&self) {
        let kept = self.memory.kept.lock().unwrap();
        let waited =
            self.memory.batch.wait_timeout_while(kept, BATCH_TIMEOUT, |kept| kept.samples.is_empty());
        assert!(!waited.unwrap().1.timed_out(), "no batch within {BATCH_TIMEOUT:?}");
    }

    /// Shuts the node down, and returns all its samples.
    pub fn finish(self) -> ReceivedSamples {
        self.node.shutdown();
        std::mem::take(&mut self.memory.kept.lock().unwrap())
    }
}

#[derive(Clone, Default)]
struct Memory {
    kept: Arc<Mutex<ReceivedSamples>>,
    batch: Arc<Condvar>,
}

struct NodeEnd {
    memory: Memory,
    answers: Option<mpsc::Sender<DacMessage>>,
}

struct Answers(mpsc::Receiver<DacMessage>);

impl Connector for Memory {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let (answers, inbox) = mpsc::channel();
        Ok((Box::new(NodeEnd { memory: self.clone(), answers: Some(answers) }), Box::new(Answers(inbox))))
    }

    fn target(&self) -> String {
        "memory".into()
    }
}

impl Receiver for Answers {
    fn receive(&mut self) -> io::Result<DacMessage> {
        self.0.recv().map_err(io::Error::other)
    }
}

impl Sender for NodeEnd {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        let mut kept = self.memory.kept.lock().unwrap();
        let answers = control.iter().filter_map(|message| kept.answer(message));
        let mut answers: Vec<_> = answers.collect();
        answers.extend(batches.iter().map(|batch| kept.keep(batch)));
        if let Some(inbox) = &self.answers {
            answers.into_iter().for_each(|answer| drop(inbox.send(answer)));
        }
        if control.iter().any(|message| matches!(message, NodeMessage::Goodbye { .. })) {
            self.answers = None;
        }
        self.memory.batch.notify_all();
        Ok(())
    }

    fn close(&mut self) {
        self.answers = None;
    }
}

impl ReceivedSamples {
    fn answer(&mut self, message: &NodeMessage) -> Option<DacMessage> {
        match message {
            NodeMessage::Hello { protocol, .. } => Some(DacMessage::Welcome {
                protocol: *protocol,
                epoch: Epoch(1),
                software: "test".into(),
                datagrams: None,
                safe: None,
                ahead: false,
            }),
            NodeMessage::Register { types, instances } => {
                self.types = types.clone();
                self.instances =
                    instances.iter().map(|instance| (instance.name.clone(), instance.probe_type)).collect();
                let assign = |(index, instance): (usize, &(String, uuid::Uuid))| TopicAssignment {
                    instance: instance.0.clone(),
                    topic: TopicId(index as u32),
                };
                let topics = self.instances.iter().enumerate().map(assign).collect();
                Some(DacMessage::Registered { topics })
            }
            NodeMessage::Ping { node_time, .. } => {
                Some(DacMessage::Pong { node_time: *node_time, dac_time: *node_time })
            }
            _ => None,
        }
    }

    fn keep(&mut self, batch: &[u8]) -> DacMessage {
        let header = Header::parse(batch).unwrap();
        let (instance, uuid) = self.instances[header.topic as usize].clone();
        let probe_type = self.types.iter().find(|known| known.uuid == uuid).unwrap();
        let batch = Batch::parse(batch, probe_type).unwrap();
        let samples = batch.samples().map(|sample| value::to_json(probe_type, &sample.values));
        self.samples.entry(instance).or_default().extend(samples);
        self.lost += u64::from(header.dropped_before);
        let last = header.first_sequence + u64::from(header.count) - 1;
        DacMessage::Ack { topics: vec![(TopicId(header.topic), last)] }
    }
}
