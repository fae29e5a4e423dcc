//! Derived instances and results, as instances of a node of the DAC itself.
//!
//! The node is local to the DAC, and its batches take the way of all samples from the session on. A derived instance is called
//! `RULE NODE/INSTANCE`, and the results of a rule `RULE`.

use crate::ruleset::RuleSet;
use oasis_alarms::RuleEvent;
use oasis_channel::Failure;
use oasis_dac::{
    Dac, Instance, now,
    session::{LocalIdentity, LocalNode},
};
use oasis_rules::{
    ClockOffset, Rows, Standing,
    program::{Body, Derive, Value},
};
use oasis_rules_history::{CLOCK_TYPE, RESULTS_TYPE, clock_name};
use oasis_wire::{
    batch::{Encoder, Fields},
    schema::{Metric, MetricType, ProbeType},
    value::RowWriter,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};
use uuid::Uuid;

/// Most instances of the node.
const MAX_INSTANCES: usize = 5_000;
/// Most samples of a batch.
const MAX_BATCH: usize = 4_096;
/// The answer to commands.
const REFUSAL: &str = "the DAC computes it from samples: command their probe";
/// The namespace of the types of derived instances (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x2b8e_7f14_90c3_4d5a_b6d1_3e7c_55f2_0a68);
/// The type of measured clocks.
const CLOCK: Uuid = Uuid::from_u128(0x3fd0_92c8_51a7_4e0d_9a36_70b4_d8e1_26cf);
/// The type of results.
const RESULTS: Uuid = Uuid::from_u128(0x9d1f_6a40_3c7e_4e2b_8f35_61b0_ca94_7d12);

/// The node, once it is connected.
pub struct Output {
    node: LocalNode,
    instances: HashMap<String, Registered>,
    /// Nodes, and their measured clocks.
    clocks: BTreeMap<String, Registered>,
    /// Whether an archive keeps samples without a reader.
    is_archived: bool,
    pub left_out: usize,
}

/// An instance of the node.
struct Registered {
    instance: Arc<Instance>,
    /// Its newest sample, of an earlier life of the DAC too. Older ones are in the archive already.
    newest: u64,
    next: u64,
}

impl Output {
    /// Connects the node.
    ///
    /// # Errors
    /// If another node has its name.
    pub fn connect(dac: Arc<Dac>, name: &str, is_archived: bool) -> Result<Self, Failure> {
        let uuid = Uuid::new_v5(&NAMESPACE, name.as_bytes());
        let identity = LocalIdentity { name, uuid, software: "oasis rules", refusal: REFUSAL };
        let node = LocalNode::connect(dac, identity)?;
        Ok(Self { node, instances: HashMap::new(), clocks: BTreeMap::new(), is_archived, left_out: 0 })
    }

    /// Makes the instances of these rules known, so that readers find them: results, and what is derived from each source by program and rule.
    ///
    /// # Errors
    /// If the DAC takes no more instances.
    pub fn register<'a>(
        &mut self,
        set: &RuleSet,
        sources: impl Iterator<Item = (&'a Arc<Instance>, Vec<(usize, usize)>)>,
        newest: impl Fn(&str) -> u64,
    ) -> Result<(), Failure> {
        let mut wanted: BTreeMap<String, ProbeType> = BTreeMap::new();
        for rule in set.programs.iter().flat_map(|loaded| &loaded.program.rules) {
            if !matches!(rule.body, Body::Derive(_)) {
                wanted.insert(rule.name.clone(), results());
            }
        }
        for (source, derived_rules) in sources {
            for (program, rule) in derived_rules {
                let Some(rule) = set.programs.get(program).and_then(|loaded| loaded.program.rules.get(rule))
                else {
                    continue;
                };
                if let Body::Derive(derive) = &rule.body {
                    wanted.insert(derived_name(&rule.name, source), derived(&rule.name, derive));
                }
            }
        }
        let is_new = |name: &String, probe_type: &ProbeType| {
            self.instances.get(name).is_none_or(|known| *known.instance.probe_type != *probe_type)
        };
        let mut new: Vec<_> = wanted.into_iter().filter(|(name, of)| is_new(name, of)).collect();
        let room = MAX_INSTANCES.saturating_sub(self.instances.len());
        self.left_out = new.len().saturating_sub(room);
        new.truncate(room);
        for (name, probe_type) in new {
            if let Some(instance) = self.node.register(&name, probe_type)? {
                let before = self.instances.get(&name).map_or(0, |known| known.newest);
                let newest = before.max(newest(&name));
                let next = instance.ledger().last_sequence + 1;
                self.instances.insert(name, Registered { instance, newest, next });
            }
        }
        Ok(())
    }

    /// Makes instances known for the measured clocks of these nodes.
    ///
    /// # Errors
    /// If the DAC takes no more instances.
    pub fn register_clocks(&mut self, nodes: BTreeSet<String>) -> Result<(), Failure> {
        for node in nodes {
            if self.clocks.contains_key(&node) {
                continue;
            }
            if let Some(instance) = self.node.register(&clock_name(&node), clock())? {
                let next = instance.ledger().last_sequence + 1;
                self.clocks.insert(node, Registered { instance, newest: 0, next });
            }
        }
        Ok(())
    }

    /// Sends samples of a derived instance, unless they would have no receiver.
    pub fn derived(&mut self, rule: &str, source: &Instance, rows: &Rows) {
        let Some(known) = self.instances.get_mut(&derived_name(rule, source)) else { return };
        if !self.is_archived && !known.instance.demand.has_readers() {
            return;
        }
        let new = rows.times.iter().position(|time| *time > known.newest).unwrap_or(rows.len());
        let mut samples = Vec::new();
        for at in new..rows.len() {
            let mut row = Vec::with_capacity(rows.columns.len() * 8);
            let mut writer = RowWriter::new(&mut row);
            rows.columns.iter().for_each(|column| writer.f64(column.get(at).copied().unwrap_or(f64::NAN)));
            samples.push((rows.times.get(at).copied().unwrap_or_default(), row));
        }
        known.newest = rows.times.last().copied().unwrap_or_default().max(known.newest);
        let instance = known.instance.clone();
        let first = known.next;
        known.next += samples.len() as u64;
        self.send(&instance, first, &samples);
    }

    /// Sends a result of a rule.
    pub fn result(&mut self, event: &RuleEvent) {
        let Some(known) = self.instances.get_mut(&event.rule) else { return };
        if !self.is_archived && !known.instance.demand.has_readers() {
            return;
        }
        let mut row = Vec::with_capacity(128);
        let mut writer = RowWriter::new(&mut row);
        writer.string(&format!("{}/{}", event.node, event.instance));
        writer.string(event.kind.name());
        writer.string(event.standing.map_or("", Standing::name));
        writer.boolean(event.standing == Some(Standing::Active));
        writer.string(event.severity.map_or("", |severity| severity.name()));
        writer.boolean(event.is_known);
        writer.f64(event.value.unwrap_or(f64::NAN));
        writer.f64(event.limit.unwrap_or(f64::NAN));
        writer.u64(event.sequence.unwrap_or_default());
        writer.u64(event.since.unwrap_or_default());
        writer.u64(event.missing.unwrap_or_default());
        writer.string(event.cause.as_deref().unwrap_or_default());
        let (instance, first) = (known.instance.clone(), known.next);
        known.next += 1;
        self.send(&instance, first, &[(event.time, row)]);
    }

    /// The nodes whose clocks have instances.
    pub fn clocks(&self) -> Vec<String> {
        self.clocks.keys().cloned().collect()
    }

    /// Sends a measurement of a node's clock. Rules read it, also without another reader.
    pub fn clock(&mut self, node: &str, ClockOffset { offset, uncertainty }: ClockOffset) {
        let Some(known) = self.clocks.get_mut(node) else { return };
        let mut row = Vec::with_capacity(16);
        let mut writer = RowWriter::new(&mut row);
        writer.i64(offset);
        writer.u64(uncertainty);
        let (instance, first) = (known.instance.clone(), known.next);
        known.next += 1;
        self.send(&instance, first, &[(now().0, row)]);
    }

    /// Wakes the readers of what was sent, and refuses commands.
    pub fn flush(&mut self) {
        self.node.flush();
    }

    fn send(&mut self, instance: &Instance, first: u64, samples: &[(u64, Vec<u8>)]) {
        let Ok(mut encoder) = Encoder::new(&instance.probe_type) else { return };
        let mut first_sequence = first;
        for part in samples.chunks(MAX_BATCH) {
            for (time, row) in part {
                if let Err(error) = encoder.push(*time, row) {
                    tracing::error!(instance = %instance.name, %error, "a result does not fit its type");
                    return;
                }
            }
            let topic = instance.topic.0;
            let fields = Fields { topic, state: 0, first_sequence, node_time: now().0, dropped_before: 0 };
            let mut batch = Vec::new();
            encoder.finish(fields, &mut batch);
            first_sequence += part.len() as u64;
            if let Err(failure) = self.node.send(&batch) {
                tracing::error!(instance = %instance.name, failure = failure.message, "results are refused");
                return;
            }
        }
    }
}

fn derived_name(rule: &str, source: &Instance) -> String {
    format!("{rule} {}/{}", source.node, source.name)
}

/// The type of a derived instance. One with other metrics is another type.
fn derived(rule: &str, derive: &Derive) -> ProbeType {
    let fields = derive.fields.iter().zip(derive.units.iter().map(Some).chain(std::iter::repeat(None)));
    let metrics: Vec<Metric> = fields
        .map(|((name, value), unit)| Metric {
            unit: unit.cloned().flatten(),
            doc: matches!(value, Value::Condition(_))
                .then(|| "1 if it is true, 0 if it is false.".to_owned()),
            ..Metric::new(name, MetricType::Real64)
        })
        .collect();
    let identity = format!("{rule} {metrics:?}");
    ProbeType {
        name: format!("OASIS::Rules::{rule}"),
        uuid: Uuid::new_v5(&NAMESPACE, identity.as_bytes()),
        version: "1.0".into(),
        doc: Some(format!("Computed by the rule {rule}, every {} ms at most.", derive.every / 1_000_000)),
        rate: None,
        metrics,
    }
}

/// The type of measured clocks.
fn clock() -> ProbeType {
    let metric = |name: &str, kind: MetricType, doc: &str| Metric {
        unit: Some("ns".into()),
        doc: Some(doc.into()),
        ..Metric::new(name, kind)
    };
    ProbeType {
        name: CLOCK_TYPE.into(),
        uuid: CLOCK,
        version: "1.0".into(),
        doc: Some("How the clock of a node differs from that of the DAC. Rules align instances of several nodes by it.".into()),
        rate: None,
        metrics: vec![
            metric("offset", MetricType::Int64, "The clock of the DAC minus that of the node."),
            metric("uncertainty", MetricType::Uint64, "By how much the offset can be wrong: half a round trip."),
        ],
    }
}

/// The type of results.
fn results() -> ProbeType {
    let metric =
        |name: &str, kind: MetricType, doc: &str| Metric { doc: Some(doc.into()), ..Metric::new(name, kind) };
    let time =
        |name: &str, doc: &str| Metric { unit: Some("ns".into()), ..metric(name, MetricType::Uint64, doc) };
    ProbeType {
        name: RESULTS_TYPE.into(),
        uuid: RESULTS,
        version: "1.0".into(),
        doc: Some("What a rule finds: its events, at the times of the samples that they are about.".into()),
        rate: None,
        metrics: vec![
            metric("source", MetricType::String, "The instance: NODE/INSTANCE."),
            metric("event", MetricType::String, "What happened."),
            metric("state", MetricType::String, "The state of an alarm after it."),
            metric("active", MetricType::Boolean, "Whether the alarm is active after it."),
            metric("severity", MetricType::String, "How urgent an alarm is."),
            metric("known", MetricType::Boolean, "Whether the condition is known."),
            metric("value", MetricType::Real64, "The value that was compared; NaN if there is none."),
            metric("limit", MetricType::Real64, "What it was compared with; NaN if there is nothing."),
            metric("sequence", MetricType::Uint64, "The sequence number of the sample; 0 for a silence."),
            time(
                "since",
                "When the condition became true, since 1970 on the node's clock; 0 if it is not known.",
            ),
            metric("missing", MetricType::Uint64, "Samples that are missing before it."),
            metric("cause", MetricType::String, "Why, in a few words."),
        ],
    }
}
