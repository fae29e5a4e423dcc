//! JSON of nodes, instances and ledgers, the same over HTTP and WebSocket.

use oasis_archive::Archive;
use oasis_channel::{Overhead, RecorderSpan};
use oasis_dac::{
    Backlog, Delivery, DemandState, DerivedStreams, Hop, Instance, Ledger, LogState, Node, Registry,
    SchemaHash,
    settings::{LabelMap, LabelsAndSettings},
};
use oasis_http::permissions::Caller;
use oasis_store::Account;
use oasis_wire::{
    batch::Batch, loss::Cause, probe_kind::ProbeKind, quantity::Epoch, schema::ProbeType, value,
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// Format of 64-bit integers: JavaScript rounds numbers beyond 2^53.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integers {
    /// As JSON numbers.
    #[default]
    Number,
    /// As strings of digits.
    String,
}

impl Integers {
    /// One of them.
    pub fn write(self, number: impl Into<serde_json::Value>) -> serde_json::Value {
        match (self, number.into()) {
            (Self::String, serde_json::Value::Number(number)) => number.to_string().into(),
            (_, number) => number,
        }
    }
}

/// Content of blobs in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Blobs {
    /// Their media type and size: most readers of JSON do not show files.
    #[default]
    Size,
    /// Their bytes as base64, too.
    Base64,
}

/// Forms of values in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonForm {
    /// Format of 64-bit integers.
    pub integers: Integers,
    /// Content of blobs.
    pub blobs: Blobs,
}

/// `online` or `offline`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// The node's channel is open.
    Online,
    /// The node is not connected.
    Offline,
}

/// A node.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NodeView {
    name: String,
    /// Identity over runs; null if not configured.
    uuid: Option<Uuid>,
    /// The current run of its process, or its last one.
    run: Uuid,
    /// Empty, as the software, if not configured.
    host: String,
    software: String,
    /// Null until it has connected in this epoch: before that it is known from the archive alone.
    pid: Option<u32>,
    state: Presence,
    /// Number of its last connection in its run, to any DAC: of several DACs that know the run, the one with the highest number is its home. Null if the node
    /// does not count them.
    attach: Option<u64>,
    /// When it came or went, nanoseconds since 1970 on the DAC's clock; when it was last there, of one known from the archive alone.
    since: u64,
    /// DAC clock minus node clock, nanoseconds; null until measured.
    clock_offset_ns: Option<i64>,
    /// Round trip of that measurement, nanoseconds.
    round_trip_ns: Option<u64>,
    /// Cost of the instrumentation on its host; null until the node has reported it.
    overhead: Option<OverheadView>,
    /// Samples that it has taken and this DAC has not received; absent if it is not connected here, and in a registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    backlog: Option<BacklogView>,
    /// Whether its samples were recorded before and are played back.
    replay: bool,
    /// Number of its instances.
    instances: usize,
    /// Its labels; absent without any.
    #[serde(skip_serializing_if = "LabelMap::is_empty")]
    labels: LabelMap,
    /// The DACs that its samples pass before this one, the node's first; absent if it is connected here.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<Object>)]
    path: Vec<Hop>,
}

/// Samples of a node that are neither received nor declared lost, by its last reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct BacklogView {
    samples: u64,
    /// Age of the oldest of them in seconds, at most; null if it is unknown, or there are none.
    within_s: Option<f64>,
}

/// Cost of the instrumentation on a node's host. Shares are of one core.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OverheadView {
    /// Processor time of the node's threads.
    cpu: f64,
    /// Time within the callbacks of periodic probes.
    callbacks: f64,
    /// Limit for `cpu`; null if it is not bounded.
    budget: Option<f64>,
    /// Instances that run slower than they were asked to because of the budget, and their rates in hertz.
    lowered: BTreeMap<String, f64>,
}

/// A probe instance.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct InstanceView {
    /// Topic number, valid while the epoch lasts.
    id: u32,
    /// Node name.
    node: String,
    /// Instance name.
    instance: String,
    /// PDL name of its type.
    #[serde(rename = "type")]
    probe_type: String,
    /// UUID of its type.
    uuid: Uuid,
    /// Version of its type.
    version: String,
    state: Presence,
    /// Whether its samples were recorded before and are played back.
    replay: bool,
    enabled: bool,
    /// Rate; null for a pushed probe, and for one that is known from the archive alone or played back.
    hertz: Option<f64>,
    /// Demand of its readers; null if they cannot set its rate.
    demand: Option<DemandView>,
    #[schema(value_type = String, example = "periodic")]
    kind: ProbeKind,
    /// Time span that its flight recorder sends around a trigger; null without a recorder.
    recorder: Option<RecorderView>,
    #[schema(value_type = String)]
    epoch: Epoch,
    /// The run of its node's process that registered it last; null until one has in this epoch, because then it is known from the archive alone.
    run: Option<Uuid>,
    /// `labels`: its own labels; `settings`: what is kept, or differs from what its program has declared. Absent without any.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    shown: LabelsAndSettings,
}

/// Time span that a flight recorder sends around a trigger.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RecorderView {
    /// Seconds before it.
    before_s: f64,
    /// Seconds after it.
    after_s: f64,
}

impl From<RecorderSpan> for RecorderView {
    fn from(RecorderSpan { before_s, after_s }: RecorderSpan) -> Self {
        Self { before_s, after_s }
    }
}

/// A rate that follows demand, in hertz.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DemandView {
    /// Rate without readers.
    min: f64,
    /// Highest rate on demand.
    max: f64,
    /// The rate that readers demand now. It decreases only after a pause.
    asked: f64,
}

impl From<DemandState> for DemandView {
    fn from(DemandState { range, asked }: DemandState) -> Self {
        Self { min: range.min().get(), max: range.max().get(), asked: asked.get() }
    }
}

/// A probe instance with its schema.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct InstanceWithSchema {
    #[serde(flatten)]
    instance: InstanceView,
    /// See docs/reference/schema.md.
    #[schema(value_type = Object)]
    schema: Arc<ProbeType>,
}

/// A subscribed probe instance.
#[derive(Debug, Clone, Serialize)]
pub struct SubscribedInstance {
    #[serde(flatten)]
    instance: InstanceView,
    /// Absent for a client that gets schemas once.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Arc<ProbeType>>,
    schema_sha256: SchemaHash,
    ledger: LedgerCounts,
}

/// Counts of a ledger, without its gaps.
#[derive(Debug, Clone, Serialize)]
pub struct LedgerCounts {
    received: u64,
    missing: u64,
    causes: BTreeMap<Cause, u64>,
}

/// A probe instance with all that is known of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct InstanceDetail {
    #[serde(flatten)]
    instance: InstanceWithSchema,
    /// The newest sample, or null.
    latest: Option<SampleView>,
    ledger: LedgerView,
}

/// A sample.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SampleView {
    /// Sequence number in its run.
    pub sequence: u64,
    /// Offset in the topic log.
    pub offset: u64,
    /// Nanoseconds since 1970 on the node's clock.
    pub time: u64,
    /// Probe state; 0 is normal.
    pub state: u16,
    #[schema(value_type = Object)]
    /// Values by the metrics' names.
    pub metrics: serde_json::Map<String, serde_json::Value>,
}

/// A loss ledger.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LedgerView {
    #[serde(flatten)]
    #[schema(value_type = Object)]
    ledger: Ledger,
    #[schema(value_type = Object)]
    log: LogState,
    /// Its stored samples; absent without an archive, or before anything is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    archive: Option<Account>,
}

/// A loss ledger, with the names of its node and instance.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct InstanceLedger {
    topic: u32,
    node: String,
    instance: String,
    ledger: LedgerView,
}

/// The nodes that a caller may see, with the number of instances that it may see, and their backlog.
pub fn nodes(registry: &Registry, caller: &Caller) -> Vec<NodeView> {
    let mut seen: HashMap<Arc<str>, Vec<Arc<Instance>>> = HashMap::new();
    for instance in registry.instances() {
        if caller.sees(&instance.node, &instance.name) {
            seen.entry(instance.node.clone()).or_default().push(instance);
        }
    }
    let mut nodes = registry.nodes();
    nodes.retain(|known| caller.sees_node(&known.identity.name));
    let now = oasis_dac::now();
    let view = |known: &Node| {
        let instances = seen.get(known.identity.name.as_str()).map_or(&[][..], Vec::as_slice);
        let backlog = Backlog::of(known).map(|mut backlog| {
            instances.iter().for_each(|instance| backlog.add(known, instance, now));
            BacklogView::from(backlog)
        });
        NodeView { backlog, ..node(registry, known, instances.len()) }
    };
    nodes.iter().map(view).collect()
}

impl From<Backlog> for BacklogView {
    fn from(Backlog { samples, within_ns }: Backlog) -> Self {
        Self { samples, within_s: within_ns.map(|nanos| nanos as f64 / 1e9) }
    }
}

/// The identity of a node over runs, if it was configured or recorded.
pub(crate) fn known_uuid(node: &Node) -> Option<Uuid> {
    let uuid = node.identity.uuid;
    Some(uuid).filter(|uuid| !(node.is_remembered && uuid.is_nil()))
}

/// The process of a node that has connected in this epoch.
pub(crate) fn known_pid(node: &Node) -> Option<u32> {
    Some(node.identity.pid).filter(|_| !node.is_remembered)
}

/// Returns the view of a node with this number of instances.
pub(crate) fn node(registry: &Registry, node: &Node, instances: usize) -> NodeView {
    let identity = &node.identity;
    NodeView {
        name: identity.name.clone(),
        uuid: known_uuid(node),
        run: identity.run,
        host: identity.host.clone(),
        software: identity.software.clone(),
        pid: known_pid(node),
        state: presence(node),
        attach: node.attach,
        since: node.since.0,
        clock_offset_ns: node.clock_offset_ns,
        round_trip_ns: node.round_trip_ns,
        overhead: node.overhead.as_deref().map(overhead),
        backlog: None,
        replay: node.is_replay,
        instances,
        labels: registry.node_labels(node),
        path: node.path().to_vec(),
    }
}

pub(crate) fn overhead(overhead: &Overhead) -> OverheadView {
    let Overhead { cpu, callbacks, budget, lowered } = overhead.clone();
    OverheadView { cpu, callbacks, budget, lowered }
}

fn presence(node: &Node) -> Presence {
    if node.is_online() { Presence::Online } else { Presence::Offline }
}

/// An instance that the present run of its node has not registered is offline, whether or not its node is connected.
fn presence_on(node: &Node, instance: &Instance) -> Presence {
    if instance.ledger().run() == Some(node.identity.run) { presence(node) } else { Presence::Offline }
}

/// One instance.
pub fn instance(registry: &Registry, instance: &Instance) -> InstanceView {
    instance_of(registry, registry.node(&instance.node).as_ref(), instance)
}

/// One instance of a node.
pub(crate) fn instance_of(registry: &Registry, node: Option<&Node>, instance: &Instance) -> InstanceView {
    let state = instance.state();
    // Before the view locks the ledger.
    let shown = registry.shown(instance);
    InstanceView {
        id: instance.topic.0,
        node: instance.node.as_ref().into(),
        instance: instance.name.as_ref().into(),
        probe_type: instance.probe_type.name.clone(),
        uuid: instance.probe_type.uuid,
        version: instance.probe_type.version.clone(),
        state: node.map_or(Presence::Offline, |node| presence_on(node, instance)),
        replay: node.is_some_and(|node| node.is_replay),
        enabled: state.enabled,
        hertz: state.hertz.map(|hertz| hertz.get()),
        demand: instance.demand.state().map(DemandView::from),
        kind: instance.kind,
        recorder: state.recorder.map(RecorderView::from),
        epoch: instance.log.epoch(),
        run: instance.ledger().run(),
        shown,
    }
}

/// One instance with its schema.
pub fn with_schema(registry: &Registry, found: &Instance) -> InstanceWithSchema {
    InstanceWithSchema { instance: instance(registry, found), schema: found.probe_type.clone() }
}

/// One instance for its subscriber.
pub fn subscribed(registry: &Registry, found: &Instance, has_schema: bool) -> SubscribedInstance {
    let ledger = found.ledger();
    let (received, missing, causes) = (ledger.received, ledger.missing, ledger.causes.clone());
    drop(ledger);
    SubscribedInstance {
        instance: instance(registry, found),
        schema: has_schema.then(|| found.probe_type.clone()),
        schema_sha256: found.schema_hash,
        ledger: LedgerCounts { received, missing, causes },
    }
}

/// One instance with all that is known of it.
pub fn detail(registry: &Registry, archive: Option<&Archive>, instance: &Instance) -> InstanceDetail {
    InstanceDetail {
        instance: with_schema(registry, instance),
        latest: latest(instance),
        ledger: ledger(archive, instance),
    }
}

/// An instance's ledger.
fn ledger(archive: Option<&Archive>, instance: &Instance) -> LedgerView {
    // Read in this order, so that no sample seems stored before it was received.
    let archive = archive.and_then(|archive| archive.account(instance.topic));
    LedgerView { ledger: instance.ledger().clone(), log: instance.log.state(), archive }
}

/// An instance's ledger with its names. With a cause: only if samples are missing for it, and with its gaps alone.
pub fn ledger_of(
    archive: Option<&Archive>,
    instance: &Instance,
    cause: Option<Cause>,
) -> Option<InstanceLedger> {
    let mut view = ledger(archive, instance);
    if let Some(cause) = cause {
        if !view.ledger.causes.contains_key(&cause) {
            return None;
        }
        view.ledger.gaps.retain(|gap| gap.cause == cause);
    }
    Some(InstanceLedger {
        topic: instance.topic.0,
        node: instance.node.as_ref().into(),
        instance: instance.name.as_ref().into(),
        ledger: view,
    })
}

/// A stream derived from an instance's.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DerivedView {
    /// Its own topic number.
    topic: u32,
    node: String,
    instance: String,
    /// `max_hz=N` or `envelope=N`
    #[schema(value_type = String)]
    delivery: Delivery,
    #[schema(value_type = Object)]
    log: LogState,
}

/// The derived streams that a caller may see.
pub fn derived(derived: &DerivedStreams, caller: &Caller) -> Vec<DerivedView> {
    let view = |stream: Arc<Instance>| DerivedView {
        topic: stream.topic.0,
        node: stream.node.as_ref().into(),
        instance: stream.name.as_ref().into(),
        delivery: stream.delivery,
        log: stream.log.state(),
    };
    let mut streams = derived.list();
    streams.retain(|stream| caller.sees(&stream.node, &stream.name));
    streams.into_iter().map(view).collect()
}

/// Returns the newest sample. A batch with malformed columns has none; only its header was checked when it arrived.
fn latest(instance: &Instance) -> Option<SampleView> {
    let segment = instance.log.latest()?;
    let batch = Batch::parse(segment.batch(), &instance.probe_type).ok()?;
    let sample = batch.samples().last()?;
    Some(SampleView {
        sequence: sample.sequence,
        offset: sample.offset,
        time: sample.time,
        state: batch.header().state,
        metrics: value::to_json(&instance.probe_type, &sample.values),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_plant::Plant;
    use oasis_channel::{Counters, Drops, NodeMessage};
    use oasis_dac::{
        Config, Dac, RegistryCursor,
        settings::{KeptSetting, SettingValue},
    };
    use oasis_wire::{command::SettingName, quantity::Nanos};
    use serde_json::{Value, json};

    fn backlog(dac: &Dac) -> Option<Value> {
        let nodes = serde_json::to_value(nodes(&dac.registry, &Caller::local())).unwrap();
        nodes[0].get("backlog").cloned()
    }

    #[test]
    fn a_node_has_a_backlog_until_what_it_has_taken_is_received() {
        let dac = Dac::new(Config::default());
        let mut plant = Plant::connect(&dac);
        let topic = dac.registry.instances()[0].topic;
        let counters =
            Counters { topic, taken: 10, sent: 3, dropped: Drops::default(), after_sent: Drops::default() };
        plant.send_message(&NodeMessage::Counters { instances: vec![counters] });
        assert_eq!(backlog(&dac), Some(json!({"samples": 10, "within_s": null})), "none has come");
        plant.send(topic.0, 3);
        assert_eq!(backlog(&dac), Some(json!({"samples": 7, "within_s": null})), "no clock is known");
        plant.send_message(&NodeMessage::Ping {
            node_time: 0,
            clock_offset_ns: Some(0),
            round_trip_ns: Some(0),
            overhead: None,
        });
        let behind = backlog(&dac).unwrap();
        assert!(behind["samples"] == 7 && behind["within_s"].as_f64() > Some(1e9), "taken in 1970: {behind}");
        plant.send(topic.0, 7);
        assert_eq!(backlog(&dac), Some(json!({"samples": 0, "within_s": null})));
        plant.session.close(oasis_dac::now());
        assert_eq!(backlog(&dac), None, "nobody knows what a node takes that is away");
    }

    #[test]
    fn an_instance_has_its_labels_and_what_is_kept_in_lists_and_changes() {
        let dac = Dac::new(Config::default());
        let _plant = Plant::connect(&dac);
        let known = dac.registry.instances().remove(0);
        let target = (&*known.node, &*known.name);
        let (value, by) = (SettingValue::Enabled(true), "person:ada".to_owned());
        let kept = KeptSetting { value, by, at: Nanos(7), applied: known.ledger().run(), problem: None };
        dac.settings.keep(target, SettingName::Enabled, kept).unwrap();
        let labels = BTreeMap::from([("site".to_owned(), Some("graz".to_owned()))]);
        dac.registry.set_labels((target.0, Some(target.1)), &labels, ("person:ada", Nanos(7))).unwrap();
        let (delta, _) = crate::delta::next(&dac.registry, dac.epoch(), RegistryCursor::default());
        let delta = serde_json::to_value(delta).unwrap();
        let listed = serde_json::to_value(instance(&dac.registry, &known)).unwrap();
        for view in [&listed, &delta["instances"][0]] {
            assert_eq!(view["labels"], json!({"site": "graz"}), "{view}");
            let kept = json!({"value": {"enabled": true}, "by": "person:ada", "at": 7, "state": "applied"});
            assert_eq!(view["settings"][0]["kept"], kept, "{view}");
        }
    }
}
