//! Edge nodes: their births, deaths and sequence numbers (6.4.4, 6.4.7).

use super::{
    device::{Device, UnknownMetric},
    topic::{Kind, SparkplugTopic},
};
use oasis_format::columns::{Cell, Column, ColumnTable};
use oasis_mqtt_client::sparkplug::{Metrics, SESSION_NUMBER, rebirth};
use oasis_source_node::{DeclaredSample, RefusedSample, SourceLoss, SourceNodes};
use std::collections::HashMap;

/// The instance with a sample for each message of an edge node. Its numbers follow those of Sparkplug, so that it has their gaps.
pub const MESSAGES: &str = "messages";
/// The instance with the metrics of the edge node itself.
pub const OWN: &str = "edge";
/// Time between two requests to an edge node to send its births again, in nanoseconds.
const REBIRTH_INTERVAL_NANOS: u64 = 10_000_000_000;

/// A command to an edge node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The topic.
    pub topic: String,
    /// The payload.
    pub payload: Vec<u8>,
}

/// The edge nodes of a broker.
#[derive(Debug)]
pub struct Edges {
    known: HashMap<String, Edge>,
    max_edges: usize,
    messages: MessageTable,
    /// The name of the present node.
    node: String,
}

#[derive(Debug, Default)]
struct Edge {
    /// The sequence number of the next message; unknown before its birth.
    next: Option<u8>,
    /// The number of its connection, which its death has as well.
    session: Option<u64>,
    devices: HashMap<String, Device>,
    /// The time of the newest request for births.
    asked: Option<u64>,
}

/// The outcome of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EdgeOutcome {
    /// Samples of devices.
    pub samples: u64,
    /// Messages that are missing before this one.
    pub missing: u32,
    /// Metrics of types that are not taken.
    pub left_out: u64,
    /// A request to send births again.
    pub request: Option<Request>,
    /// Why a part was refused.
    pub refused: Option<String>,
    /// Whether the metrics of the sender are not known.
    needs_birth: bool,
}

impl Edges {
    /// Creates a set without edge nodes.
    pub fn new(max_edges: usize) -> Self {
        Self { known: HashMap::new(), max_edges, messages: MessageTable::new(), node: String::new() }
    }

    /// Takes a message. Returns `None` for one without samples: a command, or the state of a host.
    ///
    /// # Errors
    /// If nothing of it is taken.
    pub fn receive(
        &mut self,
        topic: &str,
        bytes: &[u8],
        now: u64,
        nodes: &mut SourceNodes,
    ) -> Result<Option<EdgeOutcome>, String> {
        if SparkplugTopic::is_other(topic) {
            return Ok(None);
        }
        let topic = SparkplugTopic::parse(topic).ok_or("it is no topic of Sparkplug B")?;
        let payload = Metrics::parse(bytes).map_err(|error| error.to_string())?;
        topic.write_node(&mut self.node);
        if !self.known.contains_key(&self.node) {
            if self.known.len() >= self.max_edges {
                return Err("there are more edge nodes than mqtt.max_nodes".into());
            }
            self.known.insert(self.node.clone(), Edge::default());
        }
        let (node, messages) = (&*self.node, &mut self.messages);
        let Some(edge) = self.known.get_mut(node) else { return Ok(None) };
        let mut taken = EdgeOutcome::default();
        if topic.kind == Kind::Death && topic.device.is_none() {
            edge.die(&payload, node, nodes);
            return Ok(Some(taken));
        }
        taken.missing = edge.count(&topic, &payload);
        messages.push(node, &topic, &payload, taken.missing, now, nodes).map_err(|why| why.to_string())?;
        edge.take(&topic, &payload, now, node, nodes, &mut taken);
        if taken.missing > 0 || taken.needs_birth {
            taken.request = edge.request_birth(&topic, now);
        }
        Ok(Some(taken))
    }
}

impl Edge {
    /// The edge node has lost its connection. A late death, of a connection before the newest birth, means nothing.
    fn die(&mut self, payload: &Metrics<'_>, node: &str, nodes: &mut SourceNodes) {
        let session = payload.integer(SESSION_NUMBER);
        if session.is_some() && self.session.is_some() && session != self.session {
            return;
        }
        // The devices are unknown until their next births.
        *self = Self { asked: self.asked, ..Self::default() };
        nodes.disconnect(node);
    }

    /// Returns the number of messages that are missing before this one. Sequence numbers have 8 bits: 256 of them look like none.
    fn count(&mut self, topic: &SparkplugTopic<'_>, payload: &Metrics<'_>) -> u32 {
        let Some(sequence) = payload.sequence else { return 0 };
        let is_birth = topic.kind == Kind::Birth && topic.device.is_none();
        let expected = self.next.replace(sequence.wrapping_add(1));
        match expected {
            // The birth of an edge node begins anew.
            Some(expected) if !is_birth => sequence.wrapping_sub(expected).into(),
            _ => 0,
        }
    }

    fn take(
        &mut self,
        topic: &SparkplugTopic<'_>,
        payload: &Metrics<'_>,
        now: u64,
        node: &str,
        nodes: &mut SourceNodes,
        taken: &mut EdgeOutcome,
    ) {
        let instance = topic.device.unwrap_or(OWN);
        let is_reserved = topic.device.is_some_and(|device| device == OWN || device == MESSAGES);
        if is_reserved {
            taken.refused =
                Some(format!("a device cannot be called {instance:?}: that is an instance of its edge node"));
            return;
        }
        match topic.kind {
            Kind::Birth => {
                if topic.device.is_none() {
                    self.devices.clear();
                    self.session = payload.integer(SESSION_NUMBER);
                }
                let device = Device::born(instance, payload);
                taken.left_out += device.left_out;
                self.devices.insert(instance.to_owned(), device);
            }
            Kind::Data => {}
            Kind::Death => {
                if let Some(mut device) = self.devices.remove(instance) {
                    let time = payload.timestamp.and_then(|time| time.checked_mul(1_000_000)).unwrap_or(now);
                    let (probe_type, row) = device.die();
                    let last = DeclaredSample { node, instance, probe_type, time, row };
                    match nodes.push_declared(&last) {
                        Ok(()) => taken.samples += 1,
                        Err(why) => taken.refused = Some(why.to_string()),
                    }
                }
                return;
            }
        }
        let Some(device) = self.devices.get_mut(instance) else {
            (taken.refused, taken.needs_birth) = (Some("its birth is not known yet".into()), true);
            return;
        };
        let rows = device.rows(payload, now, |time, probe_type, row| {
            match nodes.push_declared(&DeclaredSample { node, instance, probe_type, time, row }) {
                Ok(()) => taken.samples += 1,
                Err(why) => taken.refused = Some(why.to_string()),
            }
        });
        if let Err(UnknownMetric(metric)) = rows {
            (taken.refused, taken.needs_birth) = (Some(format!("its birth lacks the metric {metric}")), true);
        }
        if taken.refused.is_some() && topic.kind == Kind::Birth {
            // A birth that is not taken keeps no memory.
            self.devices.remove(instance);
        }
    }

    /// Returns a request to send all births again (6.4.23), at intervals.
    fn request_birth(&mut self, topic: &SparkplugTopic<'_>, now: u64) -> Option<Request> {
        if self.asked.is_some_and(|asked| now.saturating_sub(asked) < REBIRTH_INTERVAL_NANOS) {
            return None;
        }
        self.asked = Some(now);
        Some(Request { topic: topic.command(), payload: rebirth(now / 1_000_000) })
    }
}

/// The samples of [`MESSAGES`].
#[derive(Debug)]
struct MessageTable {
    table: ColumnTable,
    row: Vec<u8>,
}

impl MessageTable {
    fn new() -> Self {
        let columns = [
            ("type", Cell::Text("")),
            ("device", Cell::Text("")),
            ("seq", Cell::Int(0)),
            ("metrics", Cell::Int(0)),
        ];
        let columns = columns.map(|(name, example)| {
            let mut column = Column::new(name);
            column.has_integers = true;
            column.survey(example);
            column
        });
        Self { table: ColumnTable::with_absent("SparkplugMessage", &columns, false), row: Vec::new() }
    }

    fn push(
        &mut self,
        node: &str,
        topic: &SparkplugTopic<'_>,
        payload: &Metrics<'_>,
        missing: u32,
        now: u64,
        nodes: &mut SourceNodes,
    ) -> Result<(), RefusedSample> {
        let sequence = payload.sequence.unwrap_or_default();
        let cells = [
            Cell::Text(topic.word),
            Cell::Text(topic.device.unwrap_or_default()),
            Cell::Int(sequence.into()),
            Cell::Int(i64::try_from(payload.metrics.len()).unwrap_or(i64::MAX)),
        ];
        self.table.write(&mut self.row, |column, _| cells.get(column).copied().unwrap_or(Cell::Absent));
        let time = payload.timestamp.and_then(|time| time.checked_mul(1_000_000)).unwrap_or(now);
        if missing > 0 {
            nodes.note_missing(node, MESSAGES, missing, SourceLoss::Network);
        }
        let (probe_type, row) = (&self.table.probe_type, &*self.row);
        nodes.push_declared(&DeclaredSample { node, instance: MESSAGES, probe_type, time, row })
    }
}
