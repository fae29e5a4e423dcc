//! The DAC's side of a node's channel, without its socket: frames and time in, messages out.
//!
//! Whatever a peer sends, the worst result is a [`Failure`] that names the error. The connection that owns the
//! session sends it to the peer and closes.

mod ahead;
mod local_node;
mod registration;
mod samples;

pub use local_node::{LocalIdentity, LocalNode};
pub(crate) use registration::{check_name, check_node_name, check_text};

use crate::{
    Dac, NodeGuard, PeerLine, RefusedNode, draining::Presence, identity, instance::Instance,
    keeping::UnsafeSamples, memory::HeldMemory, moment::Moment, node::Rival, reorder::Reorder,
};
use ahead::AheadBatches;
use oasis_channel::{Counters, DacMessage, DatagramOffer, Failure, NodeIdentity, NodeMessage, frame::Frame};
use oasis_tls::Peer;
use oasis_wire::{
    loss::Cause,
    quantity::{Nanos, TopicId},
    schema::ProbeType,
};
use samples::jump;
use std::{
    collections::{BTreeSet, HashMap},
    net::IpAddr,
    ops::RangeInclusive,
    sync::Arc,
    time::{Instant, SystemTime},
};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Characters of the reason of a goodbye that are logged.
const MAX_REASON_CHARS: usize = 200;

/// A session: the DAC's side of one node's channel.
#[derive(Debug)]
pub struct NodeSession {
    dac: Arc<Dac>,
    number: u64,
    address: Option<IpAddr>,
    peer: Arc<Peer>,
    /// Decides about its certificate.
    guard: Option<Arc<dyn NodeGuard>>,
    /// State of the guard when it decided last.
    generation: u64,
    /// The name in its hello, accepted or not.
    claimed: String,
    /// Moves to the registry with hello. Once another connection of the node replaces this one there, this
    /// connection's queue ends.
    outbound: Option<mpsc::Sender<DacMessage>>,
    node: Option<Arc<NodeIdentity>>,
    types: HashMap<Uuid, Arc<ProbeType>>,
    /// Memory of these types, also of those that no instance has.
    schema_memory: HeldMemory,
    registration_bytes: usize,
    topics: HashMap<TopicId, Arc<Instance>>,
    has_left: bool,
    /// Present if the node understands `drain`.
    presence: Option<Presence>,
    /// Whether the node has reported its counters, or sent a batch.
    has_begun: bool,
    /// Whether the node replays a recording.
    is_replay: bool,
    /// Topics with samples, or reported gaps, that are not acknowledged yet.
    unacknowledged: BTreeSet<TopicId>,
    /// Samples that the node keeps until they are safe; present once it has announced that.
    unsafe_samples: Option<UnsafeSamples>,
    /// The offer sent with `welcome`.
    offer: Option<DatagramOffer>,
    /// Batches that wait for their predecessors; present once the node has announced datagrams.
    reorders: Option<HashMap<TopicId, Reorder>>,
    /// Total bytes of these batches.
    waiting_bytes: usize,
    /// Batches that the node sent before their turn.
    ahead: AheadBatches,
}

impl NodeSession {
    /// Creates a session for a new connection; `outbound` carries commands to the node.
    pub fn new(dac: Arc<Dac>, outbound: mpsc::Sender<DacMessage>) -> Self {
        let number = dac.next_session();
        Self {
            schema_memory: dac.registry.hold_schemas(),
            ahead: AheadBatches::new(dac.ahead_batches.hold()),
            dac,
            number,
            address: None,
            peer: Arc::new(Peer::Anonymous),
            guard: None,
            generation: 0,
            claimed: String::new(),
            outbound: Some(outbound),
            node: None,
            types: HashMap::new(),
            registration_bytes: 0,
            has_left: false,
            presence: None,
            has_begun: false,
            is_replay: false,
            topics: HashMap::new(),
            unacknowledged: BTreeSet::new(),
            unsafe_samples: None,
            offer: None,
            reorders: None,
            waiting_bytes: 0,
        }
    }

    /// Adds the address of the node.
    pub fn at(self, address: IpAddr) -> Self {
        Self { address: Some(address), ..self }
    }

    /// Adds who the node is by its certificate, and who decides about that.
    pub fn known_as(self, peer: Peer, guard: Option<Arc<dyn NodeGuard>>) -> Self {
        Self { peer: Arc::new(peer), guard, ..self }
    }

    /// Marks the node as one of the DAC's own process: it may have a reserved name.
    pub fn of_this_process(self) -> Self {
        self.known_as(Peer::Itself, None)
    }

    /// Returns whether the node has a certificate, to be [checked](NodeSession::check_certificate) now and then.
    pub fn is_certified(&self) -> bool {
        matches!(&*self.peer, Peer::Node(_))
    }

    /// Checks that the certificate of a connected node has neither expired nor been revoked. Called once a second.
    ///
    /// # Errors
    /// `certificate_expired`, or what the guard says: the connection must end.
    pub fn check_certificate(&mut self) -> Result<(), Failure> {
        let Peer::Node(certificate) = &*self.peer else { return Ok(()) };
        identity::check_time(certificate, SystemTime::now())?;
        let Some(guard) = &self.guard else { return Ok(()) };
        let generation = guard.generation();
        if generation != self.generation {
            guard.check(certificate)?;
            self.generation = generation;
        }
        if self.node.is_some() {
            guard.note_seen(certificate);
        }
        Ok(())
    }

    /// Reports a refusal of this node, if it concerns what the node claims to be.
    pub fn note_refused(&self, failure: &Failure) {
        let Some(address) = self.address.filter(|_| RefusedNode::is_of_identity(failure)) else { return };
        self.report(address, failure.clone());
    }

    /// Reports a refusal with the certificate of this node.
    fn report(&self, address: IpAddr, failure: Failure) {
        let certificate = match &*self.peer {
            Peer::Node(certificate) => Some(certificate.name.clone()),
            Peer::Anonymous | Peer::Itself => None,
        };
        // Refused before its hello: it can only have meant the name of its certificate.
        let claimed = Some(&self.claimed).filter(|name| !name.is_empty()).or(certificate.as_ref());
        let name = claimed.into_iter().flat_map(|name| name.chars()).take(MAX_REASON_CHARS).collect();
        let refused = RefusedNode { address, certificate, name, failure };
        self.dac.refused_nodes.note(&refused, Instant::now());
        if let Some(guard) = &self.guard {
            guard.note_refused(refused);
        }
    }

    /// Reports a second process with the key of this node, which was refused as one that has its name.
    fn report_rival(&self, node: &NodeIdentity, rival: Rival) {
        let Some(address) = rival.address else { return };
        let message = format!(
            "the key of node {:?} is in use by two processes on {}, and the second one was refused: stop it, or if nobody of yours started it, revoke the key \
             (oasis node revoke) and enroll the node again",
            node.name, node.host
        );
        if let Some(left_out) = self.dac.admission.may_log(PeerLine::Refused) {
            let others = left_out.others();
            tracing::warn!(node = %node.name, %address, others, "a second process has the key of a connected node");
        }
        self.report(address, Failure::new("key_in_use", message));
    }

    /// Adds an offer of datagrams.
    pub fn offering(self, offer: Option<DatagramOffer>) -> Self {
        Self { offer, ..self }
    }

    /// Returns the node's name, once it has said hello.
    pub fn node(&self) -> Option<&str> {
        self.node.as_ref().map(|node| node.name.as_str())
    }

    /// Returns whether the node has said goodbye: no frame follows.
    pub fn has_left(&self) -> bool {
        self.has_left
    }

    /// Handles one frame; appends the answers to `out`.
    pub fn handle(
        &mut self,
        frame: Frame<'_>,
        now: impl Into<Moment>,
        out: &mut Vec<DacMessage>,
    ) -> Result<(), Failure> {
        let now = now.into();
        match frame {
            Frame::Batch(bytes) => self.batch(bytes, now),
            Frame::Ahead(bytes) => self.ahead(bytes, now),
            Frame::Control(json) => {
                let message = parse(json)?;
                if matches!(message, NodeMessage::Register { .. }) {
                    self.registration_bytes += json.len();
                }
                self.control(message, now, out)
            }
        }
    }

    /// Wakes the readers of topics with new samples, and acknowledges these samples. Called once for all frames of a
    /// read.
    pub fn acknowledge(&mut self, now: impl Into<Moment>, out: &mut Vec<DacMessage>) {
        let Some(node) = &self.node else { return };
        let now = now.into();
        if let Some(rival) = self.dac.registry.note_heard(&node.name, now) {
            self.report_rival(node, rival);
        }
        self.ahead.append_kept(out);
        if self.unacknowledged.is_empty() {
            return;
        }
        self.wake_readers();
        let received = std::mem::take(&mut self.unacknowledged).into_iter().filter_map(|topic| {
            let ledger = self.topics.get(&topic)?.ledger();
            (ledger.run() == Some(node.run)).then_some((topic, ledger.last_sequence))
        });
        let topics: Vec<_> = received.collect();
        if let Some(samples) = &mut self.unsafe_samples {
            topics.iter().for_each(|&(topic, sequence)| samples.note(topic, sequence, now.steady));
        }
        out.push(DacMessage::Ack { topics });
    }

    /// Tells the node which samples have become safe. Called after each commit of the archive, and when it is
    /// [due](NodeSession::due).
    pub fn report_safe(&mut self, now: impl Into<Moment>, out: &mut Vec<DacMessage>) {
        if let (Some(node), Some(samples)) = (&self.node, &mut self.unsafe_samples) {
            let replaced = self.dac.registry.kept_of_replaced(&node.name, node.run);
            samples.report_safe(&self.dac.keeping, &self.topics, &replaced, node.run, now.into(), out);
        }
    }

    /// Returns whether the node keeps samples until they are safe, and some are not.
    pub fn has_unsafe_samples(&self) -> bool {
        self.unsafe_samples.as_ref().is_some_and(|samples| !samples.is_empty())
    }

    /// Asks the node to leave, if it understands that.
    ///
    /// # Errors
    /// `draining` for a node that waits for its topics: it would not expect another answer.
    pub fn drain(&self, out: &mut Vec<DacMessage>) -> Result<(), Failure> {
        match &self.presence {
            Some(_) if self.topics.is_empty() => return Err(draining()),
            Some(_) => out.push(DacMessage::Drain),
            None => {}
        }
        Ok(())
    }

    /// Handles the end of the connection.
    pub fn close(&mut self, now: Nanos) {
        self.wake_readers();
        // They are not kept, and come again.
        self.topics.values().for_each(|instance| instance.ahead.forget(u64::MAX));
        self.dac.commands.session_ended(self.number);
        if let Some(node) = self.node.take() {
            self.dac.registry.disconnect(&node.name, self.number, now);
        }
        self.presence = None;
    }

    fn wake_readers(&self) {
        let topics = self.unacknowledged.iter().filter_map(|topic| self.topics.get(topic));
        topics.for_each(|instance| instance.log.wake_readers());
    }

    /// Returns when to call [`NodeSession::overdue`] and [`NodeSession::report_safe`] next, by the steady clock.
    pub fn due(&self) -> Option<Nanos> {
        let reorders = self.reorders.iter().flatten().filter_map(|(_, reorder)| reorder.due());
        reorders.chain(self.unsafe_samples.iter().filter_map(UnsafeSamples::due)).min()
    }

    fn control(
        &mut self,
        message: NodeMessage,
        now: Moment,
        out: &mut Vec<DacMessage>,
    ) -> Result<(), Failure> {
        match (&self.node, message) {
            (None, NodeMessage::Hello { protocol, node, secret, attach, drains }) => {
                if drains {
                    self.presence = Some(self.dac.draining.enter().ok_or_else(draining)?);
                }
                self.hello(protocol, node, (secret, attach), now, out)
            }
            (None, _) => Err(hello_expected()),
            (Some(_), NodeMessage::Hello { .. }) => {
                Err(Failure::new("hello_expected", "hello was received before"))
            }
            (Some(node), NodeMessage::Register { types, instances }) => {
                let node = node.clone();
                self.register(&node, types, instances, now, out)
            }
            (Some(node), NodeMessage::Replay) => {
                self.is_replay = true;
                self.dac.registry.mark_replay(&node.name);
                Ok(())
            }
            (Some(_), NodeMessage::Missing { topic, from_sequence, to_sequence, cause }) => {
                self.missing(topic, from_sequence..=to_sequence, &cause, now.wall)
            }
            (Some(_), NodeMessage::Datagrams) => {
                self.reorders.get_or_insert_default();
                Ok(())
            }
            (Some(_), NodeMessage::KeepUntilSafe) => {
                self.unsafe_samples.get_or_insert_default();
                Ok(())
            }
            (Some(_), NodeMessage::Release(release)) => self.release(release, now),
            (Some(_), NodeMessage::Counters { instances }) => {
                self.counters(&instances, now);
                Ok(())
            }
            (Some(_), NodeMessage::Result { id, outcome }) => {
                self.dac.commands.answered(&self.dac.registry, id, self.number, outcome);
                Ok(())
            }
            (Some(node), NodeMessage::Ping { node_time, clock_offset_ns, round_trip_ns, overhead }) => {
                self.dac.registry.note_clock(&node.name, clock_offset_ns, round_trip_ns);
                if let Some(overhead) = overhead {
                    self.dac.registry.note_overhead(&node.name, overhead);
                }
                out.push(DacMessage::Pong { node_time, dac_time: now.wall.0 });
                Ok(())
            }
            (Some(node), NodeMessage::Goodbye { reason }) => {
                let reason: String = reason.chars().take(MAX_REASON_CHARS).collect();
                if let Some(left_out) = self.dac.admission.may_log(PeerLine::Left) {
                    let others = left_out.others();
                    tracing::info!(node = %node.name, ?reason, others, "node said goodbye");
                }
                self.has_left = true;
                Ok(())
            }
        }
    }

    /// Handles a gap of a recording.
    fn missing(
        &mut self,
        topic: TopicId,
        numbers: RangeInclusive<u64>,
        cause: &str,
        now: Nanos,
    ) -> Result<(), Failure> {
        if !self.is_replay {
            let message = "`missing` is only for replays: a node reports loss with its counters";
            return Err(Failure::new("replay_expected", message));
        }
        let Some(instance) = self.topics.get(&topic) else { return Err(foreign(topic)) };
        let cause = Cause::from_word(cause).filter(|cause| cause.is_of_ledger()).ok_or_else(|| {
            let message = format!("unknown cause of loss {cause:?}");
            Failure::new("cause_unknown", message)
        })?;
        if numbers.is_empty() || *numbers.start() == 0 {
            let message =
                format!("invalid range of sequence numbers: {} to {}", numbers.start(), numbers.end());
            return Err(Failure::new("range_invalid", message));
        }
        let to_sequence = *numbers.end();
        let mut ledger = instance.ledger();
        if !ledger.not_in_recording(numbers, cause, now) {
            return Err(jump(instance, to_sequence, ledger.last_sequence));
        }
        drop(ledger);
        self.unacknowledged.insert(topic);
        Ok(())
    }

    fn counters(&mut self, counters: &[Counters], now: Moment) {
        // Later counters are of samples on their way.
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        for counters in counters {
            let Some(instance) = self.topics.get(&counters.topic) else { continue };
            let mut ledger = instance.ledger();
            if is_first {
                ledger.connected(counters.sent, counters.dropped, now.wall);
            }
            ledger.counters(counters.taken, counters.sent, counters.dropped);
            ledger.dropped_after(counters.sent, counters.taken, counters.after_sent, now.wall);
            if let Some(reorders) = &mut self.reorders {
                ledger.joined_at(counters.sent, now.wall);
                reorders.entry(counters.topic).or_default().note_sent(counters.sent, now.steady);
            }
        }
    }
}

fn parse(json: &[u8]) -> Result<NodeMessage, Failure> {
    serde_json::from_slice(json).map_err(|error| {
        let code = if error.is_data() { "unknown_message" } else { "not_json" };
        Failure::new(code, error.to_string())
    })
}

fn foreign(topic: TopicId) -> Failure {
    Failure::new("topic_foreign", format!("topic {topic} does not belong to this node"))
}

fn draining() -> Failure {
    Failure::new("draining", "this DAC ends: connect to another one, or again when it is back")
}

fn hello_expected() -> Failure {
    Failure::new("hello_expected", "the first message must be hello")
}
