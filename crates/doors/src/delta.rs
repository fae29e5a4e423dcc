//! Changes of the registry in JSON, the same over HTTP and WebSocket: structure without statistics.

use crate::view::{DemandView, RecorderView, known_pid, known_uuid};
use oasis_dac::{
    Hop, Instance, Node, Registry, RegistryCursor, RegistryDelta, SchemaHash,
    settings::{LabelMap, LabelsAndSettings},
};
use oasis_http::permissions::Caller;
use oasis_wire::{
    probe_kind::ProbeKind,
    quantity::{Epoch, TopicId},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{collections::HashMap, fmt, str::FromStr, sync::Arc};
use utoipa::ToSchema;
use uuid::Uuid;

/// Target size of one message in bytes: samples pass between two of them.
const MESSAGE_BYTES: usize = 64 * 1024;

/// Position at which a reader of the registry continues, in an epoch. As text `EPOCH:REVISION`, and `:BEGUN` within a
/// picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryPosition {
    /// The epoch of the revisions.
    pub epoch: Epoch,
    /// The last revision received.
    pub cursor: RegistryCursor,
}

impl RegistryPosition {
    /// Returns where a reader with this position continues in an epoch: at the beginning, if the position is of another.
    pub fn in_epoch(resume: Option<Self>, epoch: Epoch) -> RegistryCursor {
        resume.filter(|resume| resume.epoch == epoch).map(|resume| resume.cursor).unwrap_or_default()
    }
}

impl fmt::Display for RegistryPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epoch, cursor: RegistryCursor { revision, begun } } = self;
        write!(f, "{epoch}:{revision}")?;
        if begun > revision { write!(f, ":{begun}") } else { Ok(()) }
    }
}

/// A text that is no position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no position in the registry: write `position` of the last message as it came")]
pub struct RegistryPositionError(String);

impl FromStr for RegistryPosition {
    type Err = RegistryPositionError;

    fn from_str(text: &str) -> Result<Self, RegistryPositionError> {
        let refuse = || RegistryPositionError(text.into());
        let mut parts = text.split(':');
        let epoch = parts.next().and_then(|epoch| epoch.parse().ok()).ok_or_else(refuse)?;
        let revision = parts.next().and_then(|revision| revision.parse().ok()).ok_or_else(refuse)?;
        let begun = parts.next().map_or(Ok(revision), |begun| begun.parse().map_err(|_| refuse()))?;
        match parts.next() {
            None => Ok(Self { epoch, cursor: RegistryCursor { revision, begun } }),
            Some(_) => Err(refuse()),
        }
    }
}

impl<'de> Deserialize<'de> for RegistryPosition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for RegistryPosition {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Nodes and instances that changed after a revision.
#[derive(Debug, Serialize, ToSchema)]
pub struct RegistryDeltaView {
    /// The revision that it continues. At 0 it begins a new picture: the client forgets what it has.
    from: u64,
    /// The revision of the last change in it.
    revision: u64,
    /// Position to continue at; the client sends it back unchanged.
    #[schema(value_type = String)]
    position: RegistryPosition,
    /// Whether more changes follow at once: the picture is not complete yet.
    more: bool,
    /// The probe types of `instances`.
    types: Vec<TypeView>,
    nodes: Vec<NodeStructure>,
    instances: Vec<InstanceStructure>,
    removed: Removed,
}

impl RegistryDeltaView {
    /// Whether its reader learns nothing from it.
    pub(crate) fn is_nothing(&self) -> bool {
        let is_empty = self.nodes.is_empty() && self.instances.is_empty();
        is_empty && self.removed.nodes.is_empty() && self.removed.instances.is_empty() && self.from > 0
    }
}

/// Identification of a probe type.
#[derive(Debug, Serialize, ToSchema)]
pub struct TypeView {
    /// PDL name.
    #[serde(rename = "type")]
    name: String,
    uuid: Uuid,
    version: String,
    /// SHA-256 of its schema, as `GET /api/v1/schemas/{hash}` has it.
    #[schema(value_type = String)]
    schema: SchemaHash,
}

/// A node without its statistics.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeStructure {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<Uuid>,
    run: Uuid,
    host: String,
    software: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Whether its channel is open.
    online: bool,
    /// Number of its last connection in its run, to any DAC; absent if the node does not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    attach: Option<u64>,
    /// When it came or went, nanoseconds since 1970 on the DAC's clock.
    since: u64,
    replay: bool,
    /// The DACs that its samples pass before this one, the node's first; absent if it is connected here.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<Object>)]
    path: Vec<Hop>,
    /// Its labels; absent without any.
    #[serde(skip_serializing_if = "LabelMap::is_empty")]
    labels: LabelMap,
}

/// An instance without its statistics. It is online if its node is, and has the same run.
#[derive(Debug, Serialize, ToSchema)]
pub struct InstanceStructure {
    /// Topic number.
    id: u32,
    #[schema(value_type = String)]
    node: Arc<str>,
    #[schema(value_type = String)]
    instance: Arc<str>,
    /// Index in `types`.
    #[serde(rename = "type")]
    type_index: usize,
    #[schema(value_type = String, example = "periodic")]
    kind: ProbeKind,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hertz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    demand: Option<DemandView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorder: Option<RecorderView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Uuid>,
    /// `labels` and `settings`, as in the list of instances.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    shown: LabelsAndSettings,
}

/// Removed nodes and instances.
#[derive(Debug, Serialize, ToSchema)]
pub struct Removed {
    /// Names of nodes.
    #[schema(value_type = Vec<String>)]
    nodes: Vec<Arc<str>>,
    /// Topic numbers of instances.
    #[schema(value_type = Vec<u32>)]
    instances: Vec<TopicId>,
}

/// Returns the next changes after a position, and where to continue.
pub fn next(
    registry: &Registry,
    epoch: Epoch,
    cursor: RegistryCursor,
) -> (RegistryDeltaView, RegistryCursor) {
    written(registry, registry.delta(cursor, MESSAGE_BYTES), epoch)
}

/// The same for a caller that may see a part of the registry. What is gone has no name any more by which to ask, so a caller that had it begins again.
pub fn visible(
    registry: &Registry,
    epoch: Epoch,
    cursor: RegistryCursor,
    caller: &Caller,
) -> (RegistryDeltaView, RegistryCursor) {
    let mut delta = registry.delta(cursor, MESSAGE_BYTES);
    let has_lost = !(delta.removed_nodes.is_empty() && delta.removed_instances.is_empty());
    // Entries that were gone before a picture began never reached its reader.
    if has_lost && delta.next.revision > delta.next.begun {
        delta = registry.delta(RegistryCursor::default(), MESSAGE_BYTES);
    }
    delta.removed_nodes.clear();
    delta.removed_instances.clear();
    delta.nodes.retain(|node| caller.sees_node(&node.identity.name));
    delta.instances.retain(|instance| caller.sees(&instance.node, &instance.name));
    written(registry, delta, epoch)
}

fn written(registry: &Registry, delta: RegistryDelta, epoch: Epoch) -> (RegistryDeltaView, RegistryCursor) {
    let mut types = Types::default();
    let instances = delta.instances.iter().map(|known| instance(registry, known, &mut types)).collect();
    let view = RegistryDeltaView {
        from: delta.from,
        revision: delta.next.revision,
        position: RegistryPosition { epoch, cursor: delta.next },
        more: delta.more,
        types: types.list,
        nodes: delta.nodes.iter().map(|known| node(registry, known)).collect(),
        instances,
        removed: Removed { nodes: delta.removed_nodes, instances: delta.removed_instances },
    };
    (view, delta.next)
}

/// The types of one message.
#[derive(Default)]
struct Types {
    list: Vec<TypeView>,
    places: HashMap<SchemaHash, usize>,
}

impl Types {
    fn index_of(&mut self, instance: &Instance) -> usize {
        *self.places.entry(instance.schema_hash).or_insert_with(|| {
            let probe_type = &instance.probe_type;
            let (name, version) = (probe_type.name.clone(), probe_type.version.clone());
            self.list.push(TypeView { name, uuid: probe_type.uuid, version, schema: instance.schema_hash });
            self.list.len() - 1
        })
    }
}

fn instance(registry: &Registry, instance: &Instance, types: &mut Types) -> InstanceStructure {
    let state = instance.state();
    // Before the view locks the ledger.
    let shown = registry.shown(instance);
    InstanceStructure {
        id: instance.topic.0,
        node: instance.node.clone(),
        instance: instance.name.clone(),
        type_index: types.index_of(instance),
        kind: instance.kind,
        enabled: state.enabled,
        hertz: state.hertz.map(|hertz| hertz.get()),
        demand: instance.demand.state().map(DemandView::from),
        recorder: state.recorder.map(RecorderView::from),
        run: instance.ledger().run(),
        shown,
    }
}

fn node(registry: &Registry, node: &Node) -> NodeStructure {
    let identity = &node.identity;
    NodeStructure {
        name: identity.name.clone(),
        uuid: known_uuid(node),
        run: identity.run,
        host: identity.host.clone(),
        software: identity.software.clone(),
        pid: known_pid(node),
        online: node.is_online(),
        attach: node.attach,
        since: node.since.0,
        replay: node.is_replay,
        path: node.path().to_vec(),
        labels: registry.node_labels(node),
    }
}

/// Returns an instance or derived stream with this schema that a caller may see.
pub fn with_schema(dac: &oasis_dac::Dac, caller: &Caller, hash: SchemaHash) -> Option<Arc<Instance>> {
    let has_it = |known: &Arc<Instance>| known.schema_hash == hash && caller.sees(&known.node, &known.name);
    let known = dac.registry.instances().into_iter().find(has_it);
    known.or_else(|| dac.derived.list().into_iter().find(has_it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written_and_anything_else_is_refused() {
        for text in ["00000000000000ab:12", "00000000000000ab:12:40"] {
            assert_eq!(text.parse::<RegistryPosition>().unwrap().to_string(), text);
        }
        for text in ["", "ab:1", "00000000000000ab", "00000000000000ab:-1", "00000000000000ab:1:2:3"] {
            assert!(text.parse::<RegistryPosition>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_position_of_another_epoch_begins_again() {
        let resume: RegistryPosition = "00000000000000ab:12".parse().unwrap();
        assert_eq!(RegistryPosition::in_epoch(Some(resume), Epoch(0xab)).revision, 12);
        assert_eq!(RegistryPosition::in_epoch(Some(resume), Epoch(1)), RegistryCursor::default());
        assert_eq!(RegistryPosition::in_epoch(None, Epoch(1)), RegistryCursor::default());
    }
}
