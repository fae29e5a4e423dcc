//! A replay's connection to a DAC: what a node says, and that it is a replay.

use anyhow::{Context, bail};
use oasis_channel::{
    Connector, DacMessage, Failure, NodeIdentity, NodeMessage, Outcome, PROTOCOL, Receiver,
    RegisteredInstance, Sender, TopicAssignment, tcp::TcpConnector,
};
use oasis_probe::now_ns;
use oasis_wire::{quantity::TopicId, schema::ProbeType};
use std::{
    sync::mpsc::{self, RecvTimeoutError, TrySendError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Sign of life.
const PING: Duration = Duration::from_secs(1);
/// How long the DAC may take for an answer, or to let a name go that was ours.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Messages of the DAC that wait to be looked at; commands beyond that time out.
const MESSAGES: usize = 256;

/// One connection.
pub struct Link {
    sender: Box<dyn Sender>,
    messages: mpsc::Receiver<DacMessage>,
    listener: Option<JoinHandle<String>>,
    pinged: Instant,
}

impl Link {
    /// Connects as this node. Its name may still be held by a connection of ours that is about to end.
    pub fn connect(dac: &str, identity: &NodeIdentity) -> anyhow::Result<Self> {
        let start = Instant::now();
        loop {
            match Self::attempt(dac, identity)? {
                Ok(link) => return Ok(link),
                Err(refused) if refused.code == "name_taken" && start.elapsed() < PATIENCE => {
                    thread::sleep(LOOK_AGAIN);
                }
                Err(refused) => bail!("the DAC refuses {:?}: {}", identity.name, refused.message),
            }
        }
    }

    fn attempt(dac: &str, identity: &NodeIdentity) -> anyhow::Result<Result<Self, Failure>> {
        let nobody =
            || format!("no DAC takes samples at {dac}: is `oasis up` or `oasis dac` running? (--dac)");
        let (mut sender, mut receiver) = TcpConnector::new(dac).connect().with_context(nobody)?;
        let hello = NodeMessage::Hello { protocol: PROTOCOL, node: identity.clone() };
        sender.send(&[hello, NodeMessage::Replay], &[]).with_context(nobody)?;
        match receiver.receive().with_context(nobody)? {
            DacMessage::Welcome { .. } => {}
            DacMessage::Refused(failure) => return Ok(Err(failure)),
            other => bail!("the DAC answers {other:?} to hello"),
        }
        let (to, messages) = mpsc::sync_channel(MESSAGES);
        let listener = thread::Builder::new()
            .name("oasis-replay-listener".into())
            .spawn(move || listen(&mut *receiver, &to))?;
        Ok(Ok(Self { sender, messages, listener: Some(listener), pinged: Instant::now() }))
    }

    /// Announces instances with their types; answers with their topics.
    pub fn register(
        &mut self,
        types: Vec<ProbeType>,
        instances: Vec<RegisteredInstance>,
    ) -> anyhow::Result<Vec<TopicAssignment>> {
        self.say(NodeMessage::Register { types, instances })?;
        let start = Instant::now();
        while let Some(left) = PATIENCE.checked_sub(start.elapsed()) {
            match self.messages.recv_timeout(left) {
                Ok(DacMessage::Registered { topics }) => return Ok(topics),
                Ok(other) => self.answer(other)?,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
        bail!("the DAC does not answer within {} s", PATIENCE.as_secs())
    }

    /// Sends a batch.
    pub fn send(&mut self, batch: &[u8]) -> anyhow::Result<()> {
        let sent = self.sender.send(&[], &[batch]);
        sent.map_err(|_| self.ended())
    }

    /// Tells what the recording lacks.
    pub fn missing(&mut self, topic: TopicId, count: u64, cause: &str) -> anyhow::Result<()> {
        self.say(NodeMessage::Missing { topic, count, cause: cause.into() })
    }

    /// Answers what the DAC has said, and gives a sign of life when it is time.
    pub fn tend(&mut self) -> anyhow::Result<()> {
        loop {
            match self.messages.try_recv() {
                Ok(message) => self.answer(message)?,
                Err(mpsc::TryRecvError::Empty) => break,
                Err(mpsc::TryRecvError::Disconnected) => return Err(self.ended()),
            }
        }
        if self.pinged.elapsed() >= PING {
            self.pinged = Instant::now();
            // Both clocks are this one's: the replay has no offset of its own.
            self.say(NodeMessage::Ping {
                node_time: now_ns(),
                clock_offset_ns: None,
                round_trip_ns: None,
                overhead: None,
            })?;
        }
        Ok(())
    }

    /// Ends it, once the DAC has all that was sent.
    pub fn leave(mut self, reason: &str) -> anyhow::Result<()> {
        self.say(NodeMessage::Goodbye { reason: reason.into() })?;
        // The DAC reads in order, and closes behind this.
        let start = Instant::now();
        while let Some(left) = PATIENCE.checked_sub(start.elapsed()) {
            match self.messages.recv_timeout(left) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        bail!("the DAC did not take the last samples within {} s", PATIENCE.as_secs())
    }

    fn answer(&mut self, message: DacMessage) -> anyhow::Result<()> {
        match message {
            DacMessage::Command { id, .. } => {
                let failure = Failure::new("replay", "this is a replay: what was recorded takes no commands");
                self.say(NodeMessage::Result { id, outcome: Outcome::Failed(failure) })
            }
            DacMessage::Refused(failure) => bail!("the DAC refuses the replay: {failure}"),
            _ => Ok(()),
        }
    }

    fn say(&mut self, message: NodeMessage) -> anyhow::Result<()> {
        let sent = self.sender.send(&[message], &[]);
        sent.map_err(|_| self.ended())
    }

    /// Why the connection has ended: what the DAC said last, or how it went.
    fn ended(&mut self) -> anyhow::Error {
        self.sender.close();
        let how = self.listener.take().and_then(|listener| listener.join().ok()).unwrap_or_default();
        let refused = self.messages.try_iter().find_map(|message| match message {
            DacMessage::Refused(failure) => Some(failure),
            _ => None,
        });
        match refused {
            Some(failure) => anyhow::anyhow!("the DAC refuses the replay: {failure}"),
            None => anyhow::anyhow!("the DAC went away: {how}"),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.sender.close();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// Passes on what somebody has to look at, until the connection ends; answers with how it did.
fn listen(receiver: &mut dyn Receiver, to: &mpsc::SyncSender<DacMessage>) -> String {
    loop {
        match receiver.receive() {
            Ok(DacMessage::Ack { .. } | DacMessage::Pong { .. }) => {}
            Ok(message) => {
                if let Err(TrySendError::Disconnected(_)) = to.try_send(message) {
                    return String::new();
                }
            }
            Err(error) => return error.to_string(),
        }
    }
}
