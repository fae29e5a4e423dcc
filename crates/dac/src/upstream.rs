//! Nodes of other DACs: an [`Upstream`] lists the nodes of one in the registry and appends their samples, so that
//! doors serve them as if they had connected here.
//!
//! Actions of readers travel the other way: the upstream receives commands ([`ForwardedCommand`]), the topics whose
//! readers want something else than before ([`UpstreamDemand`]), and questions about the past ([`ForwardedQuestion`]). How
//! they reach the other DAC is not known here.

use crate::{
    Dac, Instance, UpstreamDemand,
    ledger::UpstreamLedger,
    moment::now,
    relayed::{ForwardedQuestion, Hop, MOST_HOPS, PastMessage, Question, RelayError, Relayed, Ways},
    request::ForwardedCommand,
    session::{check_name, check_node_name, check_text},
    settings::{self, LabelMap, LabelsAndSettings},
};
use oasis_channel::{Failure, NodeIdentity, Overhead, RegisteredInstance};
use oasis_wire::{
    batch::{self, BatchError},
    gap::Gap,
    quantity::{Nanos, Offset, TopicId},
    schema::ProbeType,
};
use std::sync::Arc;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Commands that wait for their upstream; one more is refused as busy.
const MAX_COMMANDS: usize = 256;
/// Questions about the past that wait for their upstream; one more fails.
const MAX_QUESTIONS: usize = 256;
/// Times of one batch differ by less, as two estimates of the upstream's clock have them, nanoseconds. A pause is longer.
const SAME_MOMENT: u64 = 1_000_000_000;
/// Messages of an answer about the past that may wait for their reader.
const MAX_MESSAGES: usize = 4;

/// A node as an upstream knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct RelayedNode {
    /// Name, identity and run.
    pub identity: NodeIdentity,
    /// Whether it is connected there.
    pub is_online: bool,
    /// Number of its connection, if it counts them.
    pub attach: Option<u64>,
    /// When it came or went, on the clock of this DAC.
    pub since: Nanos,
    /// Whether it replays a recording.
    pub is_replay: bool,
    /// The DACs on the way, the home of the node first.
    pub path: Vec<Hop>,
    /// Its labels.
    pub labels: LabelMap,
}

/// One DAC whose nodes this one relays. When it is dropped, they go offline.
#[derive(Debug)]
pub struct Upstream {
    dac: Arc<Dac>,
    number: u64,
    commands: mpsc::Sender<ForwardedCommand>,
    ways: Ways,
}

/// Events that an upstream receives.
#[derive(Debug)]
pub struct UpstreamEvents {
    /// Commands for its nodes.
    pub commands: mpsc::Receiver<ForwardedCommand>,
    /// Topics whose readers want something else; at most one message a topic waits.
    pub wanted: mpsc::UnboundedReceiver<TopicId>,
    /// Questions about the past.
    pub questions: mpsc::Receiver<ForwardedQuestion>,
}

impl Upstream {
    /// Creates an upstream without nodes.
    pub fn new(dac: &Arc<Dac>) -> (Self, UpstreamEvents) {
        let (commands, to_commands) = mpsc::channel(MAX_COMMANDS);
        let (wanted, to_wanted) = mpsc::unbounded_channel();
        let (questions, to_questions) = mpsc::channel(MAX_QUESTIONS);
        let ways = Ways { wanted, questions };
        let upstream = Self { dac: dac.clone(), number: dac.next_session(), commands, ways };
        (upstream, UpstreamEvents { commands: to_commands, wanted: to_wanted, questions: to_questions })
    }

    /// Lists a node, or changes it.
    ///
    /// # Errors
    /// If it is known from elsewhere, or its samples have been here before.
    pub fn node(&self, node: RelayedNode) -> Result<(), RelayError> {
        let name = &node.identity.name;
        if node.path.iter().any(|hop| hop.epoch == self.dac.epoch()) {
            return Err(RelayError::Loop(name.clone()));
        }
        if node.path.len() > MOST_HOPS {
            return Err(RelayError::TooFar(name.clone()));
        }
        check_names(&node).map_err(RelayError::Refused)?;
        let relayed = Relayed {
            upstream: self.number,
            is_online: node.is_online,
            path: node.path.into(),
            commands: self.commands.clone(),
            labels: Arc::new(if settings::are_valid(&node.labels) { node.labels } else { LabelMap::new() }),
        };
        let known = crate::Node::relayed(node.identity, node.attach, node.since, node.is_replay, relayed);
        self.dac.registry.relay_node(known)
    }

    /// Changes what the upstream measures of a node all the time.
    pub fn note_node(
        &self,
        name: &str,
        (clock_offset_ns, round_trip_ns): (Option<i64>, Option<u64>),
        overhead: Option<Overhead>,
    ) {
        if !self.dac.registry.relays(self.number, name) {
            return;
        }
        self.dac.registry.note_clock(name, clock_offset_ns, round_trip_ns);
        if let Some(overhead) = overhead {
            self.dac.registry.note_overhead(name, overhead);
        }
    }

    /// Lists an instance of a listed node, or changes it.
    ///
    /// # Errors
    /// If its node is known from elsewhere, or there is no room.
    pub fn instance(
        &self,
        node: &str,
        announced: RegisteredInstance,
        probe_type: &Arc<ProbeType>,
        run: Option<Uuid>,
    ) -> Result<Arc<Instance>, RelayError> {
        check_name("instance", &announced.name).map_err(RelayError::Refused)?;
        self.dac.registry.relay_instance((self.number, node), announced, probe_type, run, &self.ways)
    }

    /// Takes labels and settings of a listed instance.
    pub fn note_settings(&self, instance: &Instance, shown: LabelsAndSettings) {
        let shown = if shown.is_valid() { shown } else { LabelsAndSettings::default() };
        if instance.set_relayed_settings(shown) {
            self.dac.registry.instance_changed(instance);
        }
    }

    /// Removes an instance, or with `None` a node and all its instances.
    pub fn remove(&self, node: &str, instance: Option<&str>) {
        self.dac.registry.end_relay_of(self.number, node, instance);
    }

    /// Marks all nodes as offline: the connection to the other DAC has ended.
    pub fn lost(&self) {
        self.dac.registry.lose_upstream(self.number, now());
    }

    /// Returns whether it lists a node. Another upstream may have it now.
    pub fn lists(&self, node: &str) -> bool {
        self.dac.registry.relays(self.number, node)
    }

    /// Returns whether it lists the node of a topic. Another upstream may have it now.
    pub fn has(&self, topic: TopicId) -> bool {
        let instance = self.dac.registry.instance(topic);
        instance.is_some_and(|instance| self.dac.registry.relays(self.number, &instance.node))
    }

    /// Returns what the readers of a topic want now.
    pub fn wanted(&self, topic: TopicId) -> Option<(Arc<Instance>, UpstreamDemand)> {
        let instance = self.dac.registry.instance(topic)?;
        let wanted = instance.demand.take_wanted();
        Some((instance, wanted))
    }

    /// Returns the DAC that relays.
    pub fn dac(&self) -> &Arc<Dac> {
        &self.dac
    }
}

/// Texts of another DAC have the same bounds as those of a node.
fn check_names(node: &RelayedNode) -> Result<(), Failure> {
    check_node_name(&node.identity.name)?;
    check_text("host", &node.identity.host)?;
    check_text("software", &node.identity.software)?;
    node.path.iter().try_for_each(|hop| check_name("DAC", &hop.dac))
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.lost();
    }
}

impl Instance {
    /// Returns whether it belongs to a node of another DAC.
    pub fn is_relayed(&self) -> bool {
        self.source().demand.is_relayed()
    }

    /// Appends a batch of an upstream, with the gaps before it, and wakes the readers. `clock_offset_ns` is this DAC's clock minus the upstream's. Returns false if
    /// the instance is retired: another topic, or a later one, must have the batch. Its DAC time is when it came to the upstream, but after what is
    /// [complete](crate::Ledger::complete) here.
    ///
    /// # Errors
    /// If the bytes are no batch of this instance's type.
    pub fn append_relayed(
        &self,
        mut bytes: Vec<u8>,
        gaps_before: Vec<Gap>,
        clock_offset_ns: i64,
    ) -> Result<bool, BatchError> {
        let header = batch::check(&bytes, &self.probe_type)?;
        batch::stamp_topic(&mut bytes, self.topic.0);
        let arrived = header.dac_time.saturating_add_signed(clock_offset_ns);
        // Kept until the samples are appended: a time can become complete meanwhile.
        let mut ledger = self.ledger();
        let Nanos(dac_time) = ledger.stamp(Nanos(arrived));
        let stamp = |batch: &mut [u8], Offset(offset)| batch::stamp(batch, offset, dac_time);
        let gaps_before = (!gaps_before.is_empty()).then(|| gaps_before.into());
        if !self.log.append_if_open((bytes, gaps_before), header.count, stamp) {
            return Ok(false);
        }
        let last = header.first_sequence.saturating_add(header.count.into()).saturating_sub(1);
        ledger.note_relayed(header.first_sequence, last);
        drop(ledger);
        self.log.wake_readers();
        Ok(true)
    }

    /// Leaves out samples that the upstream does not have: readers receive a gap of this count.
    pub fn skip_relayed(&self, count: u64) {
        self.log.skip(count);
    }

    /// Notes that there is no reader: nothing is appended until there is one.
    pub fn pause_relayed(&self) {
        self.log.pause();
    }

    /// Leaves out the samples that came to the upstream while there was no reader here. Readers that resume receive one
    /// gap.
    pub fn skip_relayed_pause(&self) {
        self.log.skip_pause();
    }

    /// Returns whether the upstream has newer samples than those here, because there was no reader for a while. It sends its newest to the
    /// next reader, which does not want an old one before.
    pub(crate) fn has_missed_pause(&self) -> bool {
        let newest = || self.log.latest().map_or(Nanos(0), |segment| segment.arrived());
        let upstream = || self.ledger().arrived_upstream();
        self.log.is_paused()
            && upstream().is_some_and(|there| there.0.saturating_sub(newest().0) > SAME_MOMENT)
    }

    /// Lets the samples that follow belong to a run.
    pub fn begin_relayed_run(&self, run: Uuid) {
        self.log.begin_run(run);
    }

    /// Takes the counts of the upstream's ledger. Returns whether samples are missing that the ledger here does not know.
    pub fn note_relayed(&self, received: u64, missing: u64, arrived: Nanos) -> bool {
        self.ledger().note_upstream(received, missing, arrived)
    }

    /// Takes the upstream's ledger. Returns whether samples are missing that it does not explain.
    pub fn take_ledger(&self, ledger: UpstreamLedger) -> bool {
        self.ledger().take_upstream(ledger)
    }

    /// Returns when its newest batch arrived, on this DAC's clock; 0 before the first.
    pub fn arrived(&self) -> Nanos {
        let relayed = self.ledger().arrived_upstream();
        relayed.unwrap_or_else(|| self.log.latest().map_or(Nanos(0), |segment| segment.arrived()))
    }

    /// Asks the upstream about the past. None if the instance is not relayed; the answer fails at once if the upstream has too many
    /// questions.
    pub fn ask_upstream(&self, question: Question) -> Option<mpsc::Receiver<PastMessage>> {
        let upstream = self.source().upstream()?;
        let (answer, answered) = mpsc::channel(MAX_MESSAGES);
        let failed = answer.clone();
        let (node, instance) = (self.node.to_string(), self.name.to_string());
        if upstream.try_send(ForwardedQuestion { node, instance, question, answer }).is_err() {
            let reason = "its upstream is not connected, or has too many questions about the past";
            // There is room: it is the first message.
            let _ = failed.try_send(PastMessage::Failed(reason.into()));
        }
        Some(answered)
    }
}
