//! Collects the samples of all instances for one request after the other.

use crate::{
    RemoteWriteConfig,
    journal::{InstanceName, InstanceRecord, Journal},
    part::Part,
    source::{ArchiveAccess, SampleChoice, Source},
    state::NotSent,
};
use oasis_dac::{Dac, Instance};
use oasis_wire::pattern::matches;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
    sync::Arc,
};

/// About the values of a request.
pub const MAX_REQUEST_VALUES: usize = 10_000;
/// Positions that are kept also of instances that are not there.
const MAX_KEPT_POSITIONS: usize = 100_000;

/// All instances that are sent.
#[derive(Debug, Default)]
pub struct Sources {
    sources: BTreeMap<InstanceName, Source>,
    /// The instance that the last request ended with: the next one begins with it, so that only one has samples that are read and not sent.
    last: Option<InstanceName>,
    /// Version of the registry when its instances were compared.
    version: Option<u64>,
    /// Instances beyond the limit.
    pub omitted: u64,
}

impl Sources {
    /// Follows new instances, and leaves those that are gone.
    ///
    /// # Errors
    /// If the positions cannot be written.
    pub fn follow(
        &mut self,
        dac: &Dac,
        config: &RemoteWriteConfig,
        journal: &mut Journal,
        access: &ArchiveAccess,
    ) -> io::Result<()> {
        let version = dac.registry.version();
        let awaits_end = self.sources.values().any(|source| source.instance.is_retired());
        if self.version == Some(version) && !awaits_end {
            return Ok(());
        }
        self.version = Some(version);
        let is_wanted = |instance: &Arc<Instance>| {
            let name = format!("{}/{}", instance.node, instance.name);
            !instance.is_retired() && config.instances.iter().any(|pattern| matches(pattern, &name))
        };
        let present: HashMap<InstanceName, Arc<Instance>> = dac
            .registry
            .instances()
            .into_iter()
            .filter(is_wanted)
            .map(|instance| ((instance.node.clone(), instance.name.clone()), instance))
            .collect();
        self.sources.retain(|name, source| present.contains_key(name) || !source.is_drained());
        // A node that is not there may return: its positions are kept as long as they are few.
        if journal.len() > MAX_KEPT_POSITIONS.max(2 * config.max_instances) {
            journal.retain(|name| present.contains_key(name));
        }
        self.omitted = 0;
        let mut written = Ok(());
        for (name, instance) in present {
            match self.sources.get(&name) {
                // A retired topic is read to its end first.
                Some(known) if known.instance.topic == instance.topic || !known.is_over() => continue,
                None if self.sources.len() >= config.max_instances => {
                    self.omitted += 1;
                    continue;
                }
                _ => {}
            }
            // The topic that another type has replaced is read to its end: the new one continues there.
            let before = self.sources.get(&name).map(Source::progress);
            let record = match before {
                Some(_) => InstanceRecord { sent: before, in_doubt: None },
                None => journal.record(&name),
            };
            let source = Source::new(instance, record, access);
            written = written.and(journal.start(&name, source.progress()));
            self.sources.insert(name, source);
        }
        written
    }

    /// Collects samples for a request. Samples in doubt and new ones are never in the same.
    pub fn collect(
        &mut self,
        wanted: SampleChoice,
        access: &ArchiveAccess,
        not_sent: &mut NotSent,
    ) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut room = MAX_REQUEST_VALUES;
        for name in self.in_turn() {
            let Some(source) = self.sources.get_mut(&name) else { continue };
            while room > 0 {
                match source.take(wanted, room, access, not_sent) {
                    Ok(Some(part)) => {
                        room = room.saturating_sub(part.values());
                        parts.push(part);
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!(%error, "cannot read the archive for remote write");
                        break;
                    }
                }
            }
            self.last = Some(name);
            if room == 0 {
                break;
            }
        }
        parts
    }

    /// Returns the ends of the series whose nodes are offline, and whose samples are all sent.
    pub fn collect_ends(&mut self, online: &HashSet<String>) -> Vec<Part> {
        let sources = self.sources.values_mut();
        let ended = sources.filter(|source| source.is_drained() && !online.contains(&*source.instance.node));
        ended.filter_map(Source::end).take(MAX_REQUEST_VALUES).collect()
    }

    /// Notes that parts are sent.
    pub fn note_sent(&mut self, parts: &[Part]) {
        for part in parts {
            if let Some(source) = self.sources.get_mut(&(part.node.clone(), part.instance.clone())) {
                source.note_sent(part);
            }
        }
    }

    /// Returns the number of instances, and of samples in their logs that are not sent.
    pub fn figures(&self) -> (u64, u64) {
        (self.sources.len() as u64, self.sources.values().map(Source::behind).sum())
    }

    /// Returns the names in order, from the last one on.
    fn in_turn(&self) -> Vec<InstanceName> {
        let mut names: Vec<InstanceName> = self.sources.keys().cloned().collect();
        if let Some(last) = &self.last {
            let at = names.partition_point(|name| name < last);
            names.rotate_left(at);
        }
        names
    }
}
