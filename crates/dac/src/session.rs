//! The DAC's side of a node's channel, without its socket: frames and time in, messages out.
//!
//! Whatever a peer sends, the worst result is a [`Failure`] that names the error. The connection that owns the
//! session sends it to the peer and closes.

mod ahead;

use crate::{
    Dac, NodeGuard, PeerLine, RefusedNode,
    draining::Presence,
    identity,
    instance::Instance,
    keeping::UnsafeSamples,
    ledger::{Ledger, Verdict},
    memory::HeldMemory,
    moment::Moment,
    node::{Link, Rival},
    reorder::{Reorder, WaitingBatch},
};
use ahead::AheadBatches;
use oasis_channel::{
    Counters, DacMessage, DatagramOffer, Failure, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance,
    ResumeSecret, TopicAssignment, frame::Frame,
};
use oasis_tls::Peer;
use oasis_wire::{
    batch,
    loss::Cause,
    quantity::{Nanos, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeSet, HashMap},
    net::IpAddr,
    ops::RangeInclusive,
    sync::Arc,
    time::{Instant, SystemTime},
};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Longest name of a node, an instance, a host or a program, in bytes.
const MAX_NAME: usize = 1_024;
/// Characters of the reason of a goodbye that are logged.
const LOGGED_REASON: usize = 200;
/// Most instances of one node.
const MAX_INSTANCES: usize = 10_000;
/// Most bytes of batches that may wait for their predecessors in one connection.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;
/// Most bytes of `register` messages from one connection: bounds the memory of its types.
const MAX_REGISTRATION: usize = 16 * 1024 * 1024;

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

    /// Returns whether the node has a certificate, to be [looked at](NodeSession::check_certificate) now and then.
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
        let name = claimed.into_iter().flat_map(|name| name.chars()).take(LOGGED_REASON).collect();
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
        self.ahead.tell(out);
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
    pub fn tell_safe(&mut self, now: impl Into<Moment>, out: &mut Vec<DacMessage>) {
        if let (Some(node), Some(samples)) = (&self.node, &mut self.unsafe_samples) {
            let replaced = self.dac.registry.kept_of_replaced(&node.name, node.run);
            samples.tell(&self.dac.keeping, &self.topics, &replaced, node.run, now.into(), out);
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

    /// Handles a batch that arrived as a datagram. An invalid one must only be counted, because the connection is not
    /// at fault.
    pub fn datagram(&mut self, bytes: &[u8], now: impl Into<Moment>) -> Result<(), Failure> {
        if self.reorders.is_none() {
            return Err(Failure::new(
                "datagram_unexpected",
                "datagram received, but the node has not announced datagrams",
            ));
        }
        self.batch(bytes, now.into())
    }

    /// Returns when to call [`NodeSession::overdue`] and [`NodeSession::tell_safe`] next, by the steady clock.
    pub fn due(&self) -> Option<Nanos> {
        let reorders = self.reorders.iter().flatten().filter_map(|(_, reorder)| reorder.due());
        reorders.chain(self.unsafe_samples.iter().filter_map(UnsafeSamples::due)).min()
    }

    /// Gives up waiting for batches that did not arrive in time.
    pub fn overdue(&mut self, now: impl Into<Moment>) {
        let now = now.into();
        let (Some(node), Some(mut reorders)) = (&self.node, self.reorders.take()) else { return };
        let run = node.run;
        for (topic, reorder) in &mut reorders {
            let Some(instance) = self.topics.get(topic).cloned() else { continue };
            loop {
                let last = instance.ledger().last_sequence;
                let Some(lost) = reorder.lost(last, now.steady) else { break };
                if !instance.ledger().lost_on_the_way(lost, now.wall) {
                    self.waiting_bytes -= reorder.discard_first();
                    continue;
                }
                self.unacknowledged.insert(*topic);
                self.waiting_bytes -= append_waiting(&instance, run, reorder, now.wall);
            }
        }
        self.reorders = Some(reorders);
    }

    fn batch(&mut self, bytes: &[u8], now: Moment) -> Result<(), Failure> {
        let Some(node) = &self.node else { return Err(hello_expected()) };
        self.has_begun = true;
        let run = node.run;
        let invalid = |error: batch::BatchError| Failure::new("batch_invalid", error.to_string());
        let topic = TopicId(batch::Header::parse(bytes).map_err(invalid)?.topic);
        let Some(instance) = self.topics.get(&topic) else {
            return Err(foreign(topic));
        };
        let header = batch::check(bytes, &instance.probe_type).map_err(invalid)?;
        if let Some(reorders) = &mut self.reorders {
            let reorder = reorders.entry(topic).or_default();
            let (first, dropped_before) = (header.first_sequence, header.dropped_before.into());
            let batch = WaitingBatch { first, dropped_before, since: now.steady, bytes: bytes.to_vec() };
            let (last, highest) = {
                let ledger = instance.ledger();
                (ledger.last_sequence, ledger.highest_plausible(now.wall))
            };
            if first > highest {
                return Err(jump(instance, first, last));
            }
            if !batch.follows(last) {
                self.waiting_bytes += if reorder.keep(batch) { bytes.len() } else { 0 };
                if self.waiting_bytes > MAX_WAITING_BYTES {
                    reorders.values_mut().for_each(Reorder::stop_waiting);
                    self.overdue(now);
                }
                return Ok(());
            }
            append(instance, run, bytes, header, now.wall)?;
            self.waiting_bytes -= append_waiting(instance, run, reorder, now.wall);
        } else {
            append(instance, run, bytes, header, now.wall)?;
        }
        let last = header.first_sequence.saturating_add(u64::from(header.count).saturating_sub(1));
        self.ahead.discard(topic, last);
        instance.ahead.forget(last);
        self.unacknowledged.insert(topic);
        Ok(())
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
                let reason: String = reason.chars().take(LOGGED_REASON).collect();
                if let Some(left_out) = self.dac.admission.may_log(PeerLine::Left) {
                    let others = left_out.others();
                    tracing::info!(node = %node.name, ?reason, others, "node said goodbye");
                }
                self.has_left = true;
                Ok(())
            }
        }
    }

    fn hello(
        &mut self,
        protocol: u32,
        node: NodeIdentity,
        (secret, attach): (Option<ResumeSecret>, Option<u64>),
        now: Moment,
        out: &mut Vec<DacMessage>,
    ) -> Result<(), Failure> {
        if protocol != PROTOCOL {
            let message =
                format!("the node uses protocol {protocol}, this DAC {PROTOCOL}: update the older one");
            return Err(Failure::new("protocol_version", message));
        }
        check_name("node", &node.name)?;
        check_text("host", &node.host)?;
        check_text("software", &node.software)?;
        self.claimed.clone_from(&node.name);
        identity::check_name(&self.peer, &node.name)?;
        self.check_certificate()?;
        let Some(outbound) = self.outbound.take() else {
            return Err(Failure::new("hello_expected", "hello was received before"));
        };
        if self.dac.draining.is_requested() {
            return Err(draining());
        }
        let (session, address, peer) = (self.number, self.address, self.peer.clone());
        let link = Link { session, attach, address, peer, outbound, accepts_commands: false };
        self.dac.registry.connect(node.clone(), secret, link, now)?;
        if let Some(left_out) = self.dac.admission.may_log(PeerLine::Came) {
            let others = left_out.others();
            tracing::info!(node = %node.name, host = %node.host, run = %node.run, others, "node connected");
        }
        self.node = Some(Arc::new(node));
        out.push(DacMessage::Welcome {
            protocol: PROTOCOL,
            epoch: self.dac.epoch(),
            software: crate::SOFTWARE.into(),
            datagrams: self.offer,
            safe: Some(self.dac.keeping.safe_when()),
            ahead: true,
        });
        Ok(())
    }

    fn register(
        &mut self,
        node: &NodeIdentity,
        types: Vec<ProbeType>,
        instances: Vec<RegisteredInstance>,
        now: Moment,
        out: &mut Vec<DacMessage>,
    ) -> Result<(), Failure> {
        if self.topics.len() + instances.len() > MAX_INSTANCES {
            let message = format!("too many instances on one node: the limit is {MAX_INSTANCES}");
            return Err(Failure::new("too_many_instances", message));
        }
        if self.registration_bytes > MAX_REGISTRATION {
            let message = format!("schemas of one node are too large: the limit is {MAX_REGISTRATION} bytes");
            return Err(Failure::new("too_much_schema", message));
        }
        for probe_type in types {
            probe_type.validate().map_err(|error| Failure::new("type_invalid", error.to_string()))?;
            if self.types.get(&probe_type.uuid).is_some_and(|known| **known == probe_type) {
                continue;
            }
            self.dac.registry.reserve(&mut self.schema_memory, probe_type.memory_bytes())?;
            self.types.insert(probe_type.uuid, Arc::new(probe_type));
        }
        let mut topics = Vec::with_capacity(instances.len());
        let mut registered = Vec::with_capacity(instances.len());
        for announced in instances {
            check_name("instance", &announced.name)?;
            let Some(probe_type) = self.types.get(&announced.probe_type) else {
                let message = format!(
                    "instance {:?} has type {}, but no schema of it was sent",
                    announced.name, announced.probe_type
                );
                return Err(Failure::new("type_missing", message));
            };
            let name = announced.name.clone();
            let instance =
                self.dac.registry.register((node, self.number), announced, probe_type, now.wall)?;
            topics.push(TopicAssignment { instance: name, topic: instance.topic });
            if let Some(samples) = &mut self.unsafe_samples {
                // An earlier connection of this run may have brought them.
                samples.note(instance.topic, instance.ledger().last_sequence, now.steady);
            }
            registered.push(instance.clone());
            self.topics.insert(instance.topic, instance);
        }
        out.push(DacMessage::Registered { topics });
        self.tell_safe(now, out);
        self.dac.registry.accept_commands(&node.name, self.number);
        // Its rates may differ from the rates that readers ask for now.
        registered.iter().for_each(|instance| instance.demand.recheck());
        Ok(())
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
            if let Some(reorders) = &mut self.reorders {
                ledger.joined_at(counters.sent, now.wall);
                reorders.entry(counters.topic).or_default().note_sent(counters.sent, now.steady);
            }
        }
    }
}

/// Appends a batch of this run to the topic's log if the ledger reports it as new.
fn append(
    instance: &Instance,
    run: Uuid,
    bytes: &[u8],
    header: batch::Header,
    now: Nanos,
) -> Result<(), Failure> {
    let (first, dropped) = (header.first_sequence, header.dropped_before.into());
    // Kept until the samples are appended, so that ledger and log always agree.
    let mut ledger = instance.ledger();
    check_run(instance, &ledger, run)?;
    match ledger.batch(first, header.count.into(), dropped, now) {
        Verdict::New => instance.log.append_without_wake(bytes.to_vec(), header.count, |batch, offset| {
            batch::stamp(batch, offset.0, now.0);
        }),
        Verdict::Duplicate => {}
        Verdict::Overlap => {
            let message =
                format!("samples from {first} of {:?} overlap samples received before", instance.name);
            return Err(Failure::new("sequence_overlap", message));
        }
        Verdict::Jump => return Err(jump(instance, first, ledger.last_sequence)),
    }
    Ok(())
}

/// Fails unless batches of this run belong to the topic.
fn check_run(instance: &Instance, ledger: &Ledger, run: Uuid) -> Result<(), Failure> {
    if ledger.run() != Some(run) {
        let message = format!("another run of the node has registered {:?} meanwhile", instance.name);
        return Err(Failure::new("run_replaced", message));
    }
    // What this DAC has of the run was remembered when the topic was replaced: it must not become more.
    if instance.is_retired() {
        let message = format!("a later connection of the node has replaced the topic of {:?}", instance.name);
        return Err(Failure::new("node_moved", message));
    }
    Ok(())
}

/// Appends the waiting batches whose predecessors have arrived. Returns their bytes.
fn append_waiting(instance: &Instance, run: Uuid, reorder: &mut Reorder, now: Nanos) -> usize {
    let mut bytes = 0;
    loop {
        let last = instance.ledger().last_sequence;
        let Some(waiting) = reorder.next(last) else { return bytes };
        bytes += waiting.bytes.len();
        if let Ok(header) = batch::Header::parse(&waiting.bytes) {
            // It was checked on arrival. One that overlaps breaks the protocol and is ignored.
            let _ = append(instance, run, &waiting.bytes, header, now);
        }
    }
}

fn parse(json: &[u8]) -> Result<NodeMessage, Failure> {
    serde_json::from_slice(json).map_err(|error| {
        let code = if error.is_data() { "unknown_message" } else { "not_json" };
        Failure::new(code, error.to_string())
    })
}

pub(crate) fn check_name(what: &str, name: &str) -> Result<(), Failure> {
    if name.is_empty() {
        return Err(Failure::new(
            "name_invalid",
            format!("name of the {what} is empty: use 1 to {MAX_NAME} bytes"),
        ));
    }
    check_text(&format!("name of the {what}"), name)
}

/// Texts of a node are kept, listed and logged: they have a bound, and no line breaks or escapes.
pub(crate) fn check_text(what: &str, text: &str) -> Result<(), Failure> {
    if text.len() > MAX_NAME {
        let message = format!("{what} has {} bytes: use at most {MAX_NAME}", text.len());
        return Err(Failure::new("name_invalid", message));
    }
    if let Some(control) = text.chars().find(|character| character.is_control()) {
        let message = format!("{what} contains the control character {control:?}: use printable characters");
        return Err(Failure::new("name_invalid", message));
    }
    Ok(())
}

fn foreign(topic: TopicId) -> Failure {
    Failure::new("topic_foreign", format!("topic {topic} does not belong to this node"))
}

fn jump(instance: &Instance, to: u64, last: u64) -> Failure {
    let message = format!(
        "sequence number {to} of {:?} is too far ahead of {last}: no probe takes so many samples in this time",
        instance.name
    );
    Failure::new("sequence_jump", message)
}

fn draining() -> Failure {
    Failure::new("draining", "this DAC ends: connect to another one, or again when it is back")
}

fn hello_expected() -> Failure {
    Failure::new("hello_expected", "the first message must be hello")
}
