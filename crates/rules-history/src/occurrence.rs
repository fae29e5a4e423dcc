//! An event, and where it comes from.

use oasis_rules::{Event, EventKind, InstanceId};
use std::{cmp::Ordering, collections::HashMap, sync::Arc};
use uuid::Uuid;

/// An event of an instance. Rule, instance, run, DAC time, sequence number, kind and index identify it, in every reading of the same past.
#[derive(Debug, Clone, PartialEq)]
pub struct Occurrence {
    /// The node of the samples.
    pub node: Arc<str>,
    /// The instance of the samples.
    pub instance: Arc<str>,
    /// The node's run that the batch of samples belongs to; none for a silence.
    pub run: Option<Uuid>,
    /// The topic of the batch.
    pub topic: u32,
    /// What happened.
    pub event: Event,
    /// Its number among events of one rule, kind and sequence number in one batch.
    pub index: u32,
}

impl Occurrence {
    /// The order of results: DAC time, topic, sequence number, rule.
    pub fn in_order(&self, other: &Self) -> Ordering {
        let key = |one: &Self| (one.event.dac_time, one.topic, one.event.sequence, one.event.rule, one.index);
        key(self).cmp(&key(other))
    }
}

/// Numbers the events of one batch that have instance, rule, kind and sequence number in common.
pub fn number_equals(
    events: impl IntoIterator<Item = (InstanceId, Event)>,
) -> impl Iterator<Item = (InstanceId, Event, u32)> {
    let mut seen: HashMap<(InstanceId, usize, EventKind, Option<u64>), u32> = HashMap::new();
    events.into_iter().map(move |(id, event)| {
        let next = seen.entry((id, event.rule, event.kind, event.sequence)).or_default();
        let index = *next;
        *next += 1;
        (id, event, index)
    })
}
