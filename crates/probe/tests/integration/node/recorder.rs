//! A DAC that records what it receives.

use oasis_channel::{
    Connector, Counters, DacMessage, Failure, NodeIdentity, NodeMessage, Outcome, PROTOCOL, Receiver,
    RegisteredInstance, Sender, TopicAssignment,
};
use oasis_wire::{
    batch::Batch,
    command::Command,
    quantity::{Epoch, TopicId},
    schema::ProbeType,
    value::Value,
};
use std::{
    io,
    sync::{Arc, Condvar, Mutex, mpsc},
    time::Duration,
};
use uuid::Uuid;

/// Only an event that never happens takes this long.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The end of a connection as seen by both ends here.
const CLOSED: &str = "closed";

#[derive(Debug, Clone, Copy)]
pub struct SeenSample {
    pub sequence: u64,
    pub state: u16,
    pub value: f64,
}

#[derive(Default)]
struct Memory {
    identity: Option<NodeIdentity>,
    types: Vec<ProbeType>,
    instances: Vec<RegisteredInstance>,
    samples: Vec<(TopicId, SeenSample)>,
    counters: Vec<Counters>,
    outcomes: Vec<(u64, Outcome)>,
    goodbyes: usize,
    commands: u64,
    /// The current run, which begins and ends with a connection.
    life: Option<Life>,
    /// Number of registrations by a node.
    connections: usize,
    /// Bytes of batches.
    bytes: usize,
    /// Numbers of the connections, as the node counts them.
    attached: Vec<u64>,
    /// A run that is refused.
    refused: Option<Uuid>,
    /// Whether a node of the same name is connected.
    is_taken: bool,
    /// The name that another node has.
    taken_name: Option<String>,
    /// Refusals because of that.
    refusals: usize,
    /// Future runs of the DAC.
    to_come: Vec<Epoch>,
}

struct Life {
    epoch: Epoch,
    to_node: mpsc::Sender<DacMessage>,
}

/// The part that the test inspects.
#[derive(Clone)]
pub struct Recorder {
    memory: Arc<(Mutex<Memory>, Condvar)>,
}

/// The node's connection to it.
#[derive(Clone)]
pub struct ToRecorder(Recorder);

struct Listening(mpsc::Receiver<DacMessage>);

pub fn recorder() -> (ToRecorder, Recorder) {
    let recorder = Recorder { memory: Arc::default() };
    recorder.live(Epoch(1));
    (ToRecorder(recorder.clone()), recorder)
}

impl Connector for ToRecorder {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let (to_node, from_dac) = mpsc::channel();
        let mut memory = self.0.memory.0.lock().unwrap();
        let epoch = memory.to_come.pop().ok_or(io::ErrorKind::ConnectionRefused)?;
        memory.life = Some(Life { epoch, to_node });
        Ok((Box::new(self.0.clone()), Box::new(Listening(from_dac))))
    }

    fn target(&self) -> String {
        "recorder".into()
    }
}

impl Receiver for Listening {
    fn receive(&mut self) -> io::Result<DacMessage> {
        match self.0.recv() {
            Ok(DacMessage::Refused(failure)) if failure.code == CLOSED => {
                Err(io::ErrorKind::ConnectionReset.into())
            }
            Err(_) => Err(io::ErrorKind::ConnectionReset.into()),
            Ok(message) => Ok(message),
        }
    }
}

impl Sender for Recorder {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        let (memory, changed) = &*self.memory;
        let mut memory = memory.lock().unwrap();
        if memory.life.is_none() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let answers: Vec<DacMessage> = control.iter().filter_map(|message| memory.hear(message)).collect();
        let acks: Vec<(TopicId, u64)> = batches.iter().map(|batch| memory.read(batch)).collect();
        answers.into_iter().for_each(|answer| memory.send(answer));
        if !acks.is_empty() {
            memory.send(DacMessage::Ack { topics: acks });
        }
        changed.notify_all();
        Ok(())
    }

    fn close(&mut self) {
        self.end();
    }
}

impl Memory {
    fn hear(&mut self, message: &NodeMessage) -> Option<DacMessage> {
        match message.clone() {
            NodeMessage::Hello { node, attach, .. } => {
                self.attached.extend(attach);
                if self.is_taken || self.taken_name.as_ref() == Some(&node.name) {
                    self.refusals += 1;
                    return Some(DacMessage::Refused(Failure::new("name_taken", "")));
                }
                if self.refused == Some(node.run) {
                    return Some(DacMessage::Refused(Failure::new("not_you", "")));
                }
                self.identity = Some(node);
                let software = "recorder".into();
                return Some(DacMessage::Welcome {
                    protocol: PROTOCOL,
                    epoch: self.life.as_ref().expect("a connection").epoch,
                    software,
                    datagrams: None,
                    safe: None,
                    ahead: false,
                });
            }
            NodeMessage::KeepUntilSafe => {}
            NodeMessage::Register { types, instances } => {
                let is_new =
                    |new: &RegisteredInstance| self.instances.iter().all(|known| known.name != new.name);
                let first = match !self.instances.is_empty() && instances.iter().all(is_new) {
                    true => self.instances.len(),
                    false => {
                        self.connections += 1;
                        self.instances.clear();
                        self.types = types;
                        0
                    }
                };
                self.instances.extend(instances);
                let names = self.instances.iter().map(|instance| instance.name.clone());
                let topics = (1..).map(TopicId).zip(names).skip(first);
                let topics = topics.map(|(topic, instance)| TopicAssignment { instance, topic }).collect();
                return Some(DacMessage::Registered { topics });
            }
            NodeMessage::Counters { instances } => self.counters = instances,
            NodeMessage::Result { id, outcome } => self.outcomes.push((id, outcome)),
            NodeMessage::Goodbye { .. } => self.goodbyes += 1,
            NodeMessage::Datagrams
            | NodeMessage::Ping { .. }
            | NodeMessage::Replay
            | NodeMessage::Missing { .. }
            | NodeMessage::Release(_) => {}
        }
        None
    }

    /// Fails if the node is gone.
    fn send(&self, message: DacMessage) {
        let _ = self.life.as_ref().expect("a connection").to_node.send(message);
    }

    fn read(&mut self, bytes: &[u8]) -> (TopicId, u64) {
        let batch = Batch::parse(bytes, &self.types[0]).unwrap();
        self.bytes += bytes.len();
        let header = batch.header();
        let (topic, state) = (TopicId(header.topic), header.state);
        for sample in batch.samples() {
            let Value::Real64(value) = sample.values[0] else { panic!("{:?} is no reading", sample.values) };
            self.samples.push((topic, SeenSample { sequence: sample.sequence, state, value }));
        }
        (topic, header.first_sequence + u64::from(header.count) - 1)
    }

    fn topic(&self, instance: &str) -> Option<TopicId> {
        let index = self.instances.iter().position(|known| known.name == instance)?;
        Some(TopicId(index as u32 + 1))
    }

    fn seen(&self, instance: &str) -> Vec<SeenSample> {
        let topic = self.topic(instance);
        self.samples.iter().filter(|(of, _)| Some(*of) == topic).map(|(_, seen)| *seen).collect()
    }
}

impl Recorder {
    /// Accepts one more connection, in a run with this epoch.
    pub fn live(&self, epoch: Epoch) {
        self.memory.0.lock().unwrap().to_come.push(epoch);
    }

    /// Ends the connection: no sample is accepted any more.
    pub fn end(&self) {
        let life = self.memory.0.lock().unwrap().life.take();
        if let Some(life) = life {
            let _ = life.to_node.send(DacMessage::Refused(Failure::new(CLOSED, "")));
        }
    }

    /// Asks the node to leave.
    pub fn drain(&self) {
        self.memory.0.lock().unwrap().send(DacMessage::Drain);
    }

    pub fn bytes(&self) -> usize {
        self.memory.0.lock().unwrap().bytes
    }

    pub fn attached(&self) -> Vec<u64> {
        self.memory.0.lock().unwrap().attached.clone()
    }

    pub fn wait_for_goodbyes(&self, goodbyes: usize) {
        self.wait("a goodbye", |memory| (memory.goodbyes >= goodbyes).then_some(()));
    }

    /// Refuses this run, or accepts all again.
    pub fn refuse(&self, run: Option<Uuid>) {
        self.memory.0.lock().unwrap().refused = run;
    }

    /// Refuses all nodes, as if another one had their name; or accepts them again.
    pub fn take_name(&self, is_taken: bool) {
        self.memory.0.lock().unwrap().is_taken = is_taken;
    }

    /// Refuses nodes of this name.
    pub fn have_name_taken(&self, name: &str) {
        self.memory.0.lock().unwrap().taken_name = Some(name.into());
    }

    pub fn wait_for_refusals(&self, refusals: usize) {
        self.wait("refusals", |memory| (memory.refusals >= refusals).then_some(()));
    }

    /// Waits until `look` returns a value.
    fn wait<T>(&self, what: &str, look: impl Fn(&Memory) -> Option<T>) -> T {
        let (memory, changed) = &*self.memory;
        let held = memory.lock().unwrap();
        let held = changed.wait_timeout_while(held, TEST_TIMEOUT, |memory| look(memory).is_none()).unwrap().0;
        look(&held).unwrap_or_else(|| panic!("waited in vain for {what}"))
    }

    pub fn wait_for(&self, instance: &str, samples: usize) {
        self.wait(&format!("{samples} samples"), |memory| {
            (memory.seen(instance).len() >= samples).then_some(())
        });
    }

    pub fn wait_for_connections(&self, connections: usize) {
        self.wait(&format!("{connections} connections"), |memory| {
            (memory.connections >= connections).then_some(())
        });
    }

    pub fn samples(&self, instance: &str) -> Vec<SeenSample> {
        self.memory.0.lock().unwrap().seen(instance)
    }

    pub fn instance(&self, name: &str) -> RegisteredInstance {
        self.wait("the instance", |memory| memory.instances.iter().find(|known| known.name == name).cloned())
    }

    pub fn identity(&self) -> NodeIdentity {
        self.wait("a greeting", |memory| memory.identity.clone())
    }

    pub fn counters(&self, instance: &str) -> Counters {
        self.wait("counters", |memory| {
            let topic = memory.topic(instance)?;
            memory.counters.iter().find(|counters| counters.topic == topic).copied()
        })
    }

    /// Waits for counters of an instance that are as wanted.
    pub fn counters_with(&self, instance: &str, is_wanted: impl Fn(&Counters) -> bool) -> Counters {
        self.wait("such counters", |memory| {
            let topic = memory.topic(instance)?;
            let mut all = memory.counters.iter().filter(|counters| counters.topic == topic);
            all.find(|counters| is_wanted(counters)).copied()
        })
    }

    pub fn goodbyes(&self) -> usize {
        self.memory.0.lock().unwrap().goodbyes
    }

    /// Sends a command and waits for the answer.
    pub fn command(&self, instance: &str, command: Command) -> Outcome {
        self.named_command(None, instance, command)
    }

    /// The same with the UUID of the command.
    pub fn named_command(&self, uuid: Option<Uuid>, instance: &str, command: Command) -> Outcome {
        self.instance(instance);
        let id = {
            let mut memory = self.memory.0.lock().unwrap();
            memory.commands += 1;
            memory.commands
        };
        let command = DacMessage::Command { id, uuid, instance: instance.into(), command };
        self.memory.0.lock().unwrap().send(command);
        self.wait("an answer", |memory| {
            memory.outcomes.iter().find(|(of, _)| *of == id).map(|(_, outcome)| outcome.clone())
        })
    }
}
