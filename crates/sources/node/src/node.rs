//! A node of a source, and its instances.

use crate::{
    DeclaredSample, LostSamples, Rejected, SourceLimits, SourceLoss, SourceSample,
    rows::{PendingRows, Registration},
    series::Series,
};
use oasis_channel::Failure;
use oasis_dac::{
    Dac, now,
    session::{LocalIdentity, LocalNode},
};
use oasis_wire::schema::ProbeType;
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// The namespace of nodes (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x6c1d_93b4_5a20_4f7e_8b16_d2e4_07c9_3f58);
/// The answer to commands.
const REFUSAL: &str = "another program sends these samples: set their rate there";

/// A node and its instances.
pub struct SourceNode {
    link: Link,
    series: HashMap<String, Series>,
    /// Instances whose types are declared.
    declared: HashMap<String, PendingRows>,
    /// Instances with samples that are not sent yet.
    unsent: Vec<String>,
    /// Instances that are new since the last flush, with the time of their newest stored sample.
    resumed: HashMap<String, u64>,
    /// Samples that were stored already.
    repeated: u64,
}

/// The way of batches into the DAC, and those that it refused.
struct Link {
    node: LocalNode,
    lost: LostSamples,
}

impl SourceNode {
    /// Connects a node.
    ///
    /// # Errors
    /// If another node has its name.
    pub fn connect(dac: Arc<Dac>, name: &str, software: &str) -> Result<Self, Failure> {
        let uuid = Uuid::new_v5(&NAMESPACE, name.as_bytes());
        let node = LocalNode::connect(dac, LocalIdentity { name, uuid, software, refusal: REFUSAL })?;
        let link = Link { node, lost: LostSamples::default() };
        Ok(Self {
            link,
            series: HashMap::new(),
            declared: HashMap::new(),
            unsent: Vec::new(),
            resumed: HashMap::new(),
            repeated: 0,
        })
    }

    /// Returns whether it has an instance.
    pub fn has(&self, instance: &str) -> bool {
        self.declared.contains_key(instance) || self.series.contains_key(instance)
    }

    /// Returns the run and the number of the newest sample of an instance, sent or not.
    pub fn newest(&mut self, instance: &str) -> Option<(Uuid, u64)> {
        match self.declared.get(instance) {
            Some(rows) => rows.newest(),
            None => self.series.get_mut(instance)?.rows()?.newest(),
        }
    }

    /// The number of its instances.
    pub fn instance_count(&self) -> usize {
        self.series.len() + self.declared.len()
    }

    /// Adds a sample. Returns the number of its fields that are left out.
    ///
    /// # Errors
    /// If it is rejected.
    pub fn push(&mut self, sample: &SourceSample<'_>, limits: SourceLimits) -> Result<u64, Rejected> {
        let pushed = match self.series.get_mut(sample.instance) {
            Some(series) => self.link.push(series, sample, limits)?,
            None => {
                let mut series = Series::default();
                let pushed = self.link.push(&mut series, sample, limits)?;
                self.series.insert(sample.instance.to_owned(), series);
                pushed
            }
        };
        if pushed.begins_batch {
            self.unsent.push(sample.instance.to_owned());
        }
        if self.resumed.get(sample.instance) == Some(&sample.time) {
            self.discard_repeated(sample.instance);
        }
        Ok(pushed.left_out)
    }

    /// Notes the time of the newest stored sample of an instance that is new. A sender whose request was stored but not answered repeats it: if it has
    /// this time, its samples up to there are discarded.
    pub fn resume(&mut self, instance: &str, newest_stored: u64) {
        self.resumed.insert(instance.to_owned(), newest_stored);
    }

    fn discard_repeated(&mut self, instance: &str) {
        let rows = self.series.get_mut(instance).and_then(Series::rows);
        let rows = rows.or_else(|| self.declared.get_mut(instance));
        self.repeated += rows.map_or(0, PendingRows::discard);
    }

    /// Returns how many samples were stored already since the last call.
    pub fn take_repeated(&mut self) -> u64 {
        std::mem::take(&mut self.repeated)
    }

    /// Adds a sample of a declared type.
    ///
    /// # Errors
    /// If it is rejected.
    pub fn push_declared(&mut self, sample: &DeclaredSample<'_>) -> Result<(), Rejected> {
        let begins_batch = match self.declared.get_mut(sample.instance) {
            Some(rows) if is_same(&rows.probe_type, sample.probe_type) => self.link.push_row(rows, sample)?,
            known => {
                // The type changes only once the new one has its first row.
                let mut rows = PendingRows::new(sample.probe_type.clone())?;
                let begins_batch = self.link.push_first(known, &mut rows, sample)?;
                self.declared.insert(sample.instance.to_owned(), rows);
                begins_batch
            }
        };
        if begins_batch {
            self.unsent.push(sample.instance.to_owned());
        }
        if self.resumed.get(sample.instance) == Some(&sample.time) {
            self.discard_repeated(sample.instance);
        }
        Ok(())
    }

    /// Notes that samples of an instance with a declared type were lost on the way here.
    pub fn note_missing(&mut self, instance: &str, count: u32, loss: SourceLoss) {
        let Some(rows) = self.declared.get_mut(instance) else { return };
        self.link.send(Some(&mut *rows));
        rows.skip(count, loss);
        if let Some(registration) = rows.registration {
            let Registration { topic, next_sequence, .. } = registration;
            if let Err(failure) = self.link.node.report_missing(topic, next_sequence - 1, rows.missing) {
                // The gap is there all the same, with another cause.
                tracing::warn!(instance, count, why = failure.message, "the DAC refuses the cause of a gap");
            }
        }
    }

    /// Sends all samples, wakes their readers, and refuses commands. Returns how many whole numbers were rounded.
    pub fn flush(&mut self) -> u64 {
        let mut rounded = 0;
        for instance in self.unsent.drain(..) {
            if let Some(series) = self.series.get_mut(&instance) {
                self.link.send(series.rows());
                rounded += series.take_rounded();
            }
            self.link.send(self.declared.get_mut(&instance));
        }
        self.link.node.flush();
        self.resumed.clear();
        rounded
    }

    /// Returns the samples that the DAC has refused since the last call.
    pub fn take_lost(&mut self) -> LostSamples {
        std::mem::take(&mut self.link.lost)
    }
}

/// A sample that was added.
struct Pushed {
    left_out: u64,
    begins_batch: bool,
}

impl Link {
    fn push(
        &mut self,
        series: &mut Series,
        sample: &SourceSample<'_>,
        limits: SourceLimits,
    ) -> Result<Pushed, Rejected> {
        let left_out = series.learn(sample, limits)?;
        let new_type = if series.is_current() {
            None
        } else {
            self.send(series.rows());
            series.note_last_sequence();
            Some(series.retype(sample.type_name)?)
        };
        series.pack(sample.fields)?;
        if let Some(probe_type) = new_type {
            let registration = self.register(sample.instance, (*probe_type).clone(), series.last_sequence)?;
            series.rows().into_iter().for_each(|rows| rows.registration = Some(registration));
        }
        if series.is_full() {
            self.send(series.rows());
        }
        Ok(Pushed { left_out, begins_batch: series.push(sample.time)? })
    }

    /// Adds a row of a type that the instance has not had before.
    fn push_first(
        &mut self,
        mut known: Option<&mut PendingRows>,
        rows: &mut PendingRows,
        sample: &DeclaredSample<'_>,
    ) -> Result<bool, Rejected> {
        let begins_batch = rows.push(sample.time, sample.row)?;
        self.send(known.as_deref_mut());
        let last_sequence = known.map_or(0, |known| known.last_sequence());
        rows.registration =
            Some(self.register(sample.instance, (*rows.probe_type).clone(), last_sequence)?);
        Ok(begins_batch)
    }

    fn push_row(&mut self, rows: &mut PendingRows, sample: &DeclaredSample<'_>) -> Result<bool, Rejected> {
        if rows.is_full(sample.row.len()) {
            self.send(Some(rows));
        }
        rows.push(sample.time, sample.row)
    }

    /// Registers an instance, whose numbers continue after those of its earlier type.
    fn register(
        &mut self,
        name: &str,
        probe_type: ProbeType,
        last_sequence: u64,
    ) -> Result<Registration, Rejected> {
        let registered = self.node.register(name, probe_type);
        let instance = registered.map_err(|failure| Rejected::refused(&failure))?;
        let instance = instance.ok_or_else(|| Rejected::Refused("it has no topic".into()))?;
        let mut ledger = instance.ledger();
        ledger.continue_after(last_sequence);
        let run = ledger.run().unwrap_or_default();
        Ok(Registration {
            run,
            topic: instance.topic,
            next_sequence: ledger.last_sequence.max(last_sequence) + 1,
        })
    }

    fn send(&mut self, rows: Option<&mut PendingRows>) {
        let Some(batch) = rows.and_then(|rows| rows.take_batch(now().0)) else { return };
        if let Err(failure) = self.node.send(&batch.bytes) {
            self.lost.add(batch.samples, failure.message);
        }
    }
}

fn is_same(one: &Arc<ProbeType>, other: &Arc<ProbeType>) -> bool {
    Arc::ptr_eq(one, other) || one.uuid == other.uuid
}

impl Drop for SourceNode {
    fn drop(&mut self) {
        self.flush();
        if self.link.lost.count > 0 {
            let LostSamples { count, reason } = &self.link.lost;
            tracing::error!(count, reason, "the DAC refuses samples of a source that stops");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_dac::Config;
    use oasis_format::columns::Cell;
    use oasis_wire::quantity::TopicId;

    #[test]
    fn samples_that_the_dac_refuses_are_counted() {
        let mut node = SourceNode::connect(Dac::new(Config::default()), "plant", "a test").unwrap();
        let fields = [("level".into(), Cell::Int(1))];
        let sample =
            SourceSample { node: "plant", instance: "tank", type_name: "Tank", time: 1, fields: &fields };
        node.push(&sample, SourceLimits::default()).unwrap();
        node.push(&sample, SourceLimits::default()).unwrap();
        // As if the instance had been forgotten meanwhile.
        let rows = node.series.get_mut("tank").and_then(Series::rows).unwrap();
        rows.registration.as_mut().unwrap().topic = TopicId(u32::MAX);
        node.flush();
        let lost = node.take_lost();
        assert_eq!(lost.count, 2);
        assert!(!lost.reason.is_empty());
        assert_eq!(node.take_lost(), LostSamples::default());
    }
}
