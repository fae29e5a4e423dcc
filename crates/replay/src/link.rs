//! A replay's connection to a DAC: a node's, on which the replay says what it is.

use oasis_channel::{
    DacMessage, Failure, NodeIdentity, NodeMessage, Outcome, PROTOCOL, Receiver, RegisteredInstance,
    TopicAssignment, tcp::TcpConnector,
};
use oasis_probe::{
    link::{self, Welcomed},
    now_ns,
};
use oasis_wire::{loss::Cause, quantity::TopicId, schema::ProbeType};
use std::{
    cell::Cell,
    collections::BTreeMap,
    io,
    ops::RangeInclusive,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, TrySendError},
    },
    thread,
    time::{Duration, Instant},
};

/// Sign of life.
const PING: Duration = Duration::from_secs(1);
/// How long the DAC may take for an answer, or to let a name go that was ours.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a replay that has said goodbye waits for the DAC to close, so that its name is free.
const LEAVE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Messages of the DAC that wait to be looked at; commands beyond that time out.
const MESSAGES: usize = 256;

/// Topics and the last sequence number of each that the DAC has.
type Acknowledged = BTreeMap<TopicId, u64>;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Nobody answers, or no longer: another attempt may do better.
    #[error("{0}")]
    Away(String),
    /// The DAC does not want it, or is none: so it would be the next time.
    #[error("{0}")]
    Refused(String),
}

/// The DAC that is played to.
pub struct Dac {
    address: String,
    has_answered: Cell<bool>,
}

impl Dac {
    /// The one whose data channel is at this `HOST:PORT`.
    pub fn at(address: &str) -> Self {
        Self { address: address.into(), has_answered: Cell::new(false) }
    }
}

/// One connection.
pub struct Link {
    connection: link::Link,
    messages: mpsc::Receiver<DacMessage>,
    /// One entry a topic: as many as were registered.
    acknowledged: Arc<Mutex<Acknowledged>>,
    pinged: Instant,
}

impl Link {
    /// Connects as this node. Its name may still be held by a connection of ours that is about to end.
    /// Where no DAC has ever answered, none is waited for.
    pub fn connect(dac: &Dac, identity: &NodeIdentity) -> Result<Self, LinkError> {
        let start = Instant::now();
        loop {
            let attempt = Self::attempt(&dac.address, identity).map_err(|error| match error {
                LinkError::Away(why) if !dac.has_answered.get() => {
                    LinkError::Refused(nobody(&dac.address, &why))
                }
                other => other,
            });
            match attempt? {
                Ok(link) => {
                    dac.has_answered.set(true);
                    return Ok(link);
                }
                Err(refused) if refused.code == "name_taken" && start.elapsed() < PATIENCE => {
                    thread::sleep(LOOK_AGAIN);
                }
                Err(refused) => {
                    let message = format!("the DAC refuses {:?}: {}", identity.name, refused.message);
                    return Err(LinkError::Refused(message));
                }
            }
        }
    }

    fn attempt(dac: &str, identity: &NodeIdentity) -> Result<Result<Self, Failure>, LinkError> {
        let hello = NodeMessage::Hello { protocol: PROTOCOL, node: identity.clone() };
        let dac = match Welcomed::connect(&mut TcpConnector::new(dac), &[hello, NodeMessage::Replay]) {
            Ok(dac) => dac,
            Err(error) => return error.downcast::<Failure>().map(Err).map_err(|error| how(&error)),
        };
        let (to, messages) = mpsc::sync_channel(MESSAGES);
        let acknowledged = Arc::<Mutex<Acknowledged>>::default();
        let noted = acknowledged.clone();
        let connection = dac
            .listen("oasis-replay-listener", move |receiver| listen(receiver, &to, &noted))
            .map_err(|error| LinkError::Refused(error.to_string()))?;
        Ok(Ok(Self { connection, messages, acknowledged, pinged: Instant::now() }))
    }

    /// Announces instances with their types; answers with their topics.
    pub fn register(
        &mut self,
        types: Vec<ProbeType>,
        instances: Vec<RegisteredInstance>,
    ) -> Result<Vec<TopicAssignment>, LinkError> {
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
        Err(LinkError::Away(format!("it does not answer within {} s", PATIENCE.as_secs())))
    }

    /// Sends a batch.
    pub fn send(&mut self, batch: &[u8]) -> Result<(), LinkError> {
        let sent = self.connection.sender.send(&[], &[batch]);
        sent.map_err(|_| self.ended())
    }

    /// Tells which sequence numbers the recording lacks.
    pub fn missing(
        &mut self,
        topic: TopicId,
        numbers: RangeInclusive<u64>,
        cause: Cause,
    ) -> Result<(), LinkError> {
        let (from_sequence, to_sequence) = numbers.into_inner();
        self.say(NodeMessage::Missing { topic, from_sequence, to_sequence, cause: cause.word().into() })
    }

    /// Answers what the DAC has said, and gives a sign of life when it is time. What the DAC has acknowledged since the last call.
    pub fn tend(&mut self) -> Result<Acknowledged, LinkError> {
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
        Ok(std::mem::take(&mut *self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Says goodbye. The DAC has all that it should have.
    pub fn leave(mut self, reason: &str) {
        // A connection that ends meanwhile has ended, too.
        if self.say(NodeMessage::Goodbye { reason: reason.into() }).is_err() {
            return;
        }
        let start = Instant::now();
        while let Some(left) = LEAVE.checked_sub(start.elapsed()) {
            if self.messages.recv_timeout(left).is_err() {
                return;
            }
        }
    }

    fn answer(&mut self, message: DacMessage) -> Result<(), LinkError> {
        match message {
            DacMessage::Command { id, .. } => {
                let failure = Failure::new("replay", "this is a replay: what was recorded takes no commands");
                self.say(NodeMessage::Result { id, outcome: Outcome::Failed(failure) })
            }
            _ => Ok(()),
        }
    }

    fn say(&mut self, message: NodeMessage) -> Result<(), LinkError> {
        let sent = self.connection.sender.send(&[message], &[]);
        sent.map_err(|_| self.ended())
    }

    /// Why the connection has ended: what the DAC said last, or how it broke.
    fn ended(&mut self) -> LinkError {
        let ended = self.connection.close();
        ended.err().map_or_else(|| LinkError::Away("the connection has ended".into()), |error| how(&error))
    }
}

fn nobody(address: &str, why: &str) -> String {
    format!("no DAC takes samples at {address}: is `oasis up` or `oasis dac` running? (--dac): {why}")
}

/// Notes what is acknowledged and passes on what needs an answer, until the connection ends.
fn listen(
    receiver: &mut dyn Receiver,
    to: &mpsc::SyncSender<DacMessage>,
    acknowledged: &Mutex<Acknowledged>,
) -> io::Result<()> {
    loop {
        match link::receive(receiver)? {
            DacMessage::Ack { topics } => {
                acknowledged.lock().unwrap_or_else(PoisonError::into_inner).extend(topics);
            }
            DacMessage::Pong { .. } => {}
            message => {
                if let Err(TrySendError::Disconnected(_)) = to.try_send(message) {
                    return Ok(());
                }
            }
        }
    }
}

/// What a refusal means for the next attempt.
fn refused(failure: &Failure) -> LinkError {
    match failure.code.as_str() {
        // It heard nothing of us for a while: this process was stopped, or the network was.
        "idle_timeout" | "hello_timeout" => LinkError::Away(failure.message.clone()),
        _ => LinkError::Refused(format!("the DAC refuses the replay: {failure}")),
    }
}

/// What the end of a connection means for the next attempt.
fn how(error: &io::Error) -> LinkError {
    if let Some(failure) = error.get_ref().and_then(|inner| inner.downcast_ref::<Failure>()) {
        return refused(failure);
    }
    match error.kind() {
        io::ErrorKind::InvalidData => LinkError::Refused(format!("what answers is no DAC: {error}")),
        io::ErrorKind::UnexpectedEof => LinkError::Away("it closed the connection".into()),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => LinkError::Away("it is silent".into()),
        _ => LinkError::Away(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_channel::frame::write_control;
    use std::{
        io::{Read, Write},
        net::{Shutdown, TcpListener},
    };
    use uuid::Uuid;

    fn identity() -> NodeIdentity {
        NodeIdentity {
            name: "replay:plant".into(),
            uuid: Uuid::nil(),
            run: Uuid::from_u128(1),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        }
    }

    /// What becomes of an attempt that gets these bytes for an answer, before the connection ends.
    fn answered(bytes: &[u8]) -> LinkError {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let dac = listener.local_addr().unwrap().to_string();
        let attempt = thread::spawn(move || {
            let dac = Dac::at(&dac);
            dac.has_answered.set(true);
            Link::connect(&dac, &identity()).err().unwrap()
        });
        let (mut peer, _) = listener.accept().unwrap();
        peer.read_exact(&mut [0; 16]).unwrap();
        peer.write_all(bytes).unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        // What is not read would become a reset, which overtakes the answer.
        let _ = peer.read_to_end(&mut Vec::new());
        attempt.join().unwrap()
    }

    #[test]
    fn what_a_dac_refuses_is_not_tried_again_and_what_it_does_not_answer_is() {
        let mut refusal = Vec::new();
        let failure = Failure::new("protocol_version", "the node speaks protocol 1, this DAC 2");
        write_control(&DacMessage::Refused(failure), &mut refusal);
        let refused = answered(&refusal);
        assert!(matches!(&refused, LinkError::Refused(why) if why.contains("this DAC 2")), "{refused}");
        let no_dac = answered(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        assert!(matches!(&no_dac, LinkError::Refused(why) if why.contains("no DAC")), "{no_dac}");
        let closed = answered(&[]);
        assert!(matches!(&closed, LinkError::Away(_)), "{closed}");
        let nobody = Link::connect(&Dac::at("127.0.0.1:1"), &identity()).err().unwrap();
        assert!(matches!(&nobody, LinkError::Refused(why) if why.contains("oasis dac")), "{nobody}");
    }

    #[test]
    fn a_pause_of_this_process_is_no_reason_to_end() {
        let idle = refused(&Failure::new("idle_timeout", "nothing was heard for 5 s"));
        assert!(matches!(idle, LinkError::Away(_)), "{idle}");
        let overlap = refused(&Failure::new("sequence_overlap", "samples 3.. overlap"));
        assert!(matches!(overlap, LinkError::Refused(_)), "{overlap}");
    }
}
