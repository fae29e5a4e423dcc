//! The connection of a replay to a DAC: that of a node, which identifies itself as a replay.

use oasis_channel::{
    Connector, DacMessage, Failure, NodeIdentity, NodeMessage, Outcome, PROTOCOL, Receiver,
    RegisteredInstance, ResumeSecret, TopicAssignment, tcp::TcpConnector, tls::TlsConnector,
};
use oasis_probe::{
    link::{self, OpenLink},
    now_ns,
};
use oasis_tls::ClientFiles;
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

/// Interval of pings.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Timeout of answers, and of the release of our earlier name.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the DAC to close the connection after a goodbye, so that the name is free.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
const NAME_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Bound of received messages; further commands time out.
const MESSAGES: usize = 256;

/// The last acknowledged sequence number of each topic.
type Acknowledgements = BTreeMap<TopicId, u64>;

/// Errors of a connection.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Not reachable: another attempt may succeed.
    #[error("{0}")]
    Away(String),
    /// Refused, or not a DAC: another attempt would fail too.
    #[error("{0}")]
    Refused(String),
}

/// The target DAC.
pub struct Dac {
    address: String,
    /// Trusted CA, and certificate of the client, with `tls://`.
    files: ClientFiles,
    /// Secret of all runs of this replay.
    secret: ResumeSecret,
    has_answered: Cell<bool>,
}

impl Dac {
    /// Creates a target for the data channel at this `HOST:PORT`, or `tls://HOST:PORT`.
    pub fn at(address: &str) -> Self {
        let (secret, has_answered) = (ResumeSecret::random(), Cell::new(false));
        Self { address: address.into(), files: ClientFiles::default(), secret, has_answered }
    }
}

impl Dac {
    /// Sets the trusted CA, and the certificate of the client, for `tls://`.
    pub fn with_files(self, files: ClientFiles) -> Self {
        Self { files, ..self }
    }

    fn connector(&self) -> Box<dyn Connector> {
        match self.address.strip_prefix("tls://") {
            Some(address) => Box::new(TlsConnector::new(address, self.files.clone())),
            None => Box::new(TcpConnector::new(self.address.as_str())),
        }
    }
}

/// A connection.
pub struct Link {
    connection: link::Link,
    messages: mpsc::Receiver<DacMessage>,
    /// One entry for each registered topic.
    acknowledged: Arc<Mutex<Acknowledgements>>,
    pinged: Instant,
}

impl Link {
    /// Connects as this node. Waits if an earlier connection of this replay still has the name.
    /// Does not wait for a DAC that never answered.
    pub fn connect(dac: &Dac, identity: &NodeIdentity) -> Result<Self, LinkError> {
        let start = Instant::now();
        loop {
            let attempt = Self::attempt(dac, identity).map_err(|error| match error {
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
                Err(refused) if refused.code == "name_taken" && start.elapsed() < ANSWER_TIMEOUT => {
                    thread::sleep(NAME_POLL_INTERVAL);
                }
                Err(refused) => {
                    let message = format!("DAC refused node {:?}: {}", identity.name, refused.message);
                    return Err(LinkError::Refused(message));
                }
            }
        }
    }

    fn attempt(dac: &Dac, identity: &NodeIdentity) -> Result<Result<Self, Failure>, LinkError> {
        let hello = NodeMessage::Hello {
            protocol: PROTOCOL,
            node: identity.clone(),
            secret: Some(dac.secret),
            attach: None,
            drains: false,
        };
        let mut connector = dac.connector();
        let dac = match OpenLink::connect(&mut *connector, &[hello, NodeMessage::Replay]) {
            Ok(dac) => dac,
            Err(error) => return error.downcast::<Failure>().map(Err).map_err(|error| how(&error)),
        };
        let (to, messages) = mpsc::sync_channel(MESSAGES);
        let acknowledged = Arc::<Mutex<Acknowledgements>>::default();
        let noted = acknowledged.clone();
        let connection = dac
            .listen("oasis-replay-listener", move |receiver| listen(receiver, &to, &noted))
            .map_err(|error| LinkError::Refused(error.to_string()))?;
        Ok(Ok(Self { connection, messages, acknowledged, pinged: Instant::now() }))
    }

    /// Registers instances with their types. Returns their topics.
    pub fn register(
        &mut self,
        types: Vec<ProbeType>,
        instances: Vec<RegisteredInstance>,
    ) -> Result<Vec<TopicAssignment>, LinkError> {
        self.send_message(NodeMessage::Register { types, instances })?;
        let start = Instant::now();
        while let Some(left) = ANSWER_TIMEOUT.checked_sub(start.elapsed()) {
            match self.messages.recv_timeout(left) {
                Ok(DacMessage::Registered { topics }) => return Ok(topics),
                Ok(other) => self.answer(other)?,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
        Err(LinkError::Away(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())))
    }

    /// Sends a batch.
    pub fn send(&mut self, batch: &[u8]) -> Result<(), LinkError> {
        let sent = self.connection.sender.send(&[], &[batch]);
        sent.map_err(|_| self.ended())
    }

    /// Reports sequence numbers that are missing in the recording.
    pub fn missing(
        &mut self,
        topic: TopicId,
        numbers: RangeInclusive<u64>,
        cause: Cause,
    ) -> Result<(), LinkError> {
        let (from_sequence, to_sequence) = numbers.into_inner();
        self.send_message(NodeMessage::Missing {
            topic,
            from_sequence,
            to_sequence,
            cause: cause.word().into(),
        })
    }

    /// Answers messages of the DAC, and pings when due. Returns the acknowledgements since the last call.
    pub fn tend(&mut self) -> Result<Acknowledgements, LinkError> {
        loop {
            match self.messages.try_recv() {
                Ok(message) => self.answer(message)?,
                Err(mpsc::TryRecvError::Empty) => break,
                Err(mpsc::TryRecvError::Disconnected) => return Err(self.ended()),
            }
        }
        if self.pinged.elapsed() >= PING_INTERVAL {
            self.pinged = Instant::now();
            // Both times are of this clock: the replay has no clock offset.
            self.send_message(NodeMessage::Ping {
                node_time: now_ns(),
                clock_offset_ns: None,
                round_trip_ns: None,
                overhead: None,
            })?;
        }
        Ok(std::mem::take(&mut *self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Closes the connection after everything is acknowledged.
    pub fn leave(mut self, reason: &str) {
        // An error also ends the connection.
        if self.send_message(NodeMessage::Goodbye { reason: reason.into() }).is_err() {
            return;
        }
        let start = Instant::now();
        while let Some(left) = CLOSE_TIMEOUT.checked_sub(start.elapsed()) {
            if self.messages.recv_timeout(left).is_err() {
                return;
            }
        }
    }

    fn answer(&mut self, message: DacMessage) -> Result<(), LinkError> {
        match message {
            DacMessage::Command { id, .. } => {
                let failure = Failure::new("replay", "replayed instances take no commands");
                self.send_message(NodeMessage::Result { id, outcome: Outcome::Failed(failure) })
            }
            _ => Ok(()),
        }
    }

    fn send_message(&mut self, message: NodeMessage) -> Result<(), LinkError> {
        let sent = self.connection.sender.send(&[message], &[]);
        sent.map_err(|_| self.ended())
    }

    /// Returns why the connection closed: the last message of the DAC, or the error.
    fn ended(&mut self) -> LinkError {
        let ended = self.connection.close();
        ended.err().map_or_else(|| LinkError::Away("connection closed".into()), |error| how(&error))
    }
}

fn nobody(address: &str, why: &str) -> String {
    format!("no DAC at {address}: is `oasis up` or `oasis dac` running? (--dac): {why}")
}

/// Records acknowledgements and forwards other messages, until the connection ends.
fn listen(
    receiver: &mut dyn Receiver,
    to: &mpsc::SyncSender<DacMessage>,
    acknowledged: &Mutex<Acknowledgements>,
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

/// Decides whether to retry after a refusal.
fn refused(failure: &Failure) -> LinkError {
    match failure.code.as_str() {
        // The DAC timed out: this process or the network was stopped.
        "idle_timeout" | "hello_timeout" => LinkError::Away(failure.message.clone()),
        _ => LinkError::Refused(format!("DAC refused the replay: {failure}")),
    }
}

/// Decides whether to retry after an error.
fn how(error: &io::Error) -> LinkError {
    if let Some(failure) = error.get_ref().and_then(|inner| inner.downcast_ref::<Failure>()) {
        return refused(failure);
    }
    match error.kind() {
        io::ErrorKind::InvalidData => LinkError::Refused(format!("the server is not a DAC: {error}")),
        io::ErrorKind::UnexpectedEof => LinkError::Away("connection closed by the DAC".into()),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            LinkError::Away("no answer from the DAC".into())
        }
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

    /// Returns the result of an attempt that receives these bytes before the connection ends.
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
        // Unread bytes would cause a reset, which overtakes the answer.
        let _ = peer.read_to_end(&mut Vec::new());
        attempt.join().unwrap()
    }

    #[test]
    fn refusals_are_not_retried_but_timeouts_are() {
        let mut refusal = Vec::new();
        let failure = Failure::new("protocol_version", "the node speaks protocol 1, this DAC 2");
        write_control(&DacMessage::Refused(failure), &mut refusal);
        let refused = answered(&refusal);
        assert!(matches!(&refused, LinkError::Refused(why) if why.contains("this DAC 2")), "{refused}");
        let no_dac = answered(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        assert!(matches!(&no_dac, LinkError::Refused(why) if why.contains("not a DAC")), "{no_dac}");
        let closed = answered(&[]);
        assert!(matches!(&closed, LinkError::Away(_)), "{closed}");
        let nobody = Link::connect(&Dac::at("127.0.0.1:1"), &identity()).err().unwrap();
        assert!(matches!(&nobody, LinkError::Refused(why) if why.contains("oasis dac")), "{nobody}");
    }

    #[test]
    fn a_pause_of_this_process_is_retried() {
        let idle = refused(&Failure::new("idle_timeout", "nothing was heard for 5 s"));
        assert!(matches!(idle, LinkError::Away(_)), "{idle}");
        let overlap = refused(&Failure::new("sequence_overlap", "samples 3.. overlap"));
        assert!(matches!(overlap, LinkError::Refused(_)), "{overlap}");
    }
}
