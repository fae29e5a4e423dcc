//! Reads the figures of an instance from its ledger and its newest batch.

use super::{
    metric_path::FoundPath,
    row::{AlarmCounts, Row, State},
    selection::Selection,
};
use oasis_dac::{Dac, Instance, SchemaHash};
use oasis_wire::{absence::Absence, batch::Batch, loss::Cause};
use serde_json::Value as Json;
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// Types of which the paths are remembered: more are looked up again.
const MAX_TYPES: usize = 1_000;

/// Standing alarms of instances, by node and instance.
pub type AlarmsByInstance = HashMap<String, HashMap<String, AlarmCounts>>;

/// Measures instances of one fleet. It remembers where the metrics are in each type.
#[derive(Debug, Default)]
pub struct Measure {
    types: HashMap<SchemaHash, Arc<FoundPaths>>,
    /// The node that was read last, and its run if it is online: instances of one node often follow one another.
    node: Option<(Arc<str>, Option<Uuid>)>,
}

impl Measure {
    /// Forgets which nodes were online: a round begins.
    pub fn begin(&mut self) {
        self.node = None;
    }

    /// Returns the figures of an instance. Those before spare it the batch if no sample has come since.
    pub fn row(
        &mut self,
        dac: &Dac,
        instance: &Instance,
        selection: &Selection,
        alarms: &AlarmsByInstance,
        known: Option<&Row>,
    ) -> Row {
        let (received, lost, unexplained, run) = {
            let ledger = instance.ledger();
            // A flight recorder keeps samples back on purpose.
            let kept_back = ledger.causes.get(&Cause::KeptBack).copied().unwrap_or_default();
            let lost = ledger.missing.saturating_sub(kept_back);
            (ledger.received, lost, ledger.unexplained, ledger.run())
        };
        let state = instance.state();
        let is_online = self.run_of(dac, &instance.node).is_some_and(|online| Some(online) == run);
        let is_same = known.is_some_and(|known| known.received == received && known.arrived > 0);
        let (arrived, values) = match known {
            Some(known) if is_same => (known.arrived, known.values.clone()),
            _ => (instance.arrived().0, self.values(instance, selection)),
        };
        Row {
            state: match (is_online, state.enabled) {
                (false, _) => State::Offline,
                (true, false) => State::Disabled,
                (true, true) => State::Online,
            },
            hertz: state.hertz.map(|hertz| hertz.get()),
            arrived,
            received,
            explained: lost.saturating_sub(unexplained),
            unexplained,
            alarms: counts(alarms, instance),
            values,
        }
    }

    /// Returns the run of a node that is online.
    fn run_of(&mut self, dac: &Dac, name: &Arc<str>) -> Option<Uuid> {
        if let Some((known, run)) = &self.node
            && known == name
        {
            return *run;
        }
        let node = dac.registry.node(name);
        let run = node.filter(|node| node.is_online()).map(|node| node.identity.run);
        self.node = Some((name.clone(), run));
        run
    }

    /// Returns the values of the metrics in the newest sample; null for those that the type does not have, and before the first sample.
    fn values(&mut self, instance: &Instance, selection: &Selection) -> Vec<Json> {
        let nothing = vec![Json::Null; selection.metrics.len()];
        let found = self.paths(instance, selection);
        let Some(last) = found.paths.iter().flatten().map(|path| path.column).max() else { return nothing };
        let last = last.max(found.absence.as_ref().map_or(0, Absence::metric));
        let Some(segment) = instance.log.latest() else { return nothing };
        // A malformed batch has no newest sample; its readers detect the error.
        let Ok(batch) = Batch::parse_first(segment.batch(), &instance.probe_type, last + 1) else {
            return nothing;
        };
        let newest = batch.times().len().saturating_sub(1);
        let named = found.absence.as_ref().and_then(|of| Some(of.places(&batch.value(of.metric(), newest)?)));
        let absent = named.unwrap_or_default();
        let value = |path: &Option<FoundPath>| {
            let path = path.as_ref().filter(|path| !path.is_in(&absent))?;
            Some(path.value(&batch.value(path.column, newest)?))
        };
        found.paths.iter().map(|path| value(path).unwrap_or(Json::Null)).collect()
    }

    fn paths(&mut self, instance: &Instance, selection: &Selection) -> Arc<FoundPaths> {
        if self.types.len() >= MAX_TYPES {
            self.types.clear();
        }
        let find = || {
            let paths = selection.metrics.iter().map(|path| path.find(&instance.probe_type)).collect();
            Arc::new(FoundPaths { paths, absence: Absence::of(&instance.probe_type) })
        };
        self.types.entry(instance.schema_hash).or_insert_with(find).clone()
    }
}

/// The metrics of a selection in one type.
#[derive(Debug)]
struct FoundPaths {
    paths: Vec<Option<FoundPath>>,
    /// The values that samples of the type can lack.
    absence: Option<Absence>,
}

fn counts(alarms: &AlarmsByInstance, instance: &Instance) -> AlarmCounts {
    let of_node = alarms.get(&*instance.node);
    of_node.and_then(|of_node| of_node.get(&*instance.name)).copied().unwrap_or_default()
}
