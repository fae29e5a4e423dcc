//! All nodes of a source.

use crate::{
    DeclaredSample, LostSamples, MessageSamples, RefusedSample, Rejected, SampleReference, SourceLimits,
    SourceLoss, SourceSample, node::SourceNode,
};
use oasis_dac::Dac;
use oasis_handler::StoredSamples;
use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

/// Longest name of a node or an instance, in bytes.
const MAX_NAME_BYTES: usize = 1_024;

/// The nodes of a source, and the number of their instances.
pub struct SourceNodes {
    dac: Arc<Dac>,
    software: &'static str,
    limits: SourceLimits,
    nodes: HashMap<String, SourceNode>,
    instances: usize,
    /// Nodes with samples since the last flush.
    unsent: BTreeSet<String>,
    rounded: u64,
    repeated: u64,
    archive: Option<Arc<dyn StoredSamples>>,
    /// The samples of the present message, of a source that has messages.
    message: Option<MessageSamples>,
}

impl fmt::Debug for SourceNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, instances) = (self.nodes.len(), self.instances);
        f.debug_struct("SourceNodes")
            .field("nodes", &nodes)
            .field("instances", &instances)
            .finish_non_exhaustive()
    }
}

impl SourceNodes {
    /// Creates a set without nodes. `software` is the name of the source in lists of nodes.
    pub fn new(dac: Arc<Dac>, software: &'static str, limits: SourceLimits) -> Self {
        let (nodes, unsent) = (HashMap::new(), BTreeSet::new());
        Self {
            dac,
            software,
            limits,
            nodes,
            instances: 0,
            unsent,
            rounded: 0,
            repeated: 0,
            archive: None,
            message: None,
        }
    }

    /// Compares the first samples of each instance with the newest one in the archive. A sender repeats a request that a DAC had stored when it was
    /// killed: if the request has the time of that sample, its samples of the instance up to there are not taken again.
    #[must_use]
    pub fn resuming(self, archive: Option<Arc<dyn StoredSamples>>) -> Self {
        Self { archive, ..self }
    }

    /// Begins a message, whose samples are pushed next. `earlier` are those of an earlier delivery of the message, in their order: samples of these that
    /// the DAC has are not taken again.
    pub fn begin_message(&mut self, earlier: Vec<SampleReference>) {
        self.message.get_or_insert_default().begin(earlier);
    }

    /// Ends the message. Returns its samples.
    pub fn end_message(&mut self) -> MessageSamples {
        self.message.take().unwrap_or_default()
    }

    /// Adds a sample; [`SourceNodes::flush`] sends it. Returns the number of its fields that are left out, because they have another type than
    /// before.
    ///
    /// # Errors
    /// If nothing of the sample is taken.
    pub fn push(&mut self, sample: &SourceSample<'_>) -> Result<u64, RefusedSample> {
        let limits = self.limits;
        let pushed = check_time(sample.time)
            .and_then(|()| self.push_into(sample.node, sample.instance, |node| node.push(sample, limits)));
        pushed.map_err(|why| RefusedSample::new(sample.node, sample.instance, why))
    }

    /// Adds a sample of a declared type; [`SourceNodes::flush`] sends it. An instance and its numbers continue with another type.
    ///
    /// # Errors
    /// If the sample is not taken.
    pub fn push_declared(&mut self, sample: &DeclaredSample<'_>) -> Result<(), RefusedSample> {
        let pushed = check_time(sample.time)
            .and_then(|()| self.push_into(sample.node, sample.instance, |node| node.push_declared(sample)));
        pushed.map_err(|why| RefusedSample::new(sample.node, sample.instance, why))
    }

    fn push_into<T: Default>(
        &mut self,
        name: &str,
        instance: &str,
        push: impl FnOnce(&mut SourceNode) -> Result<T, Rejected>,
    ) -> Result<T, Rejected> {
        let digest = self.message.as_ref().map(|_| MessageSamples::digest(name, instance));
        if let (Some(message), Some(digest)) = (&mut self.message, digest)
            && message.skip_known(digest, || self.dac.registry.known_runs(name, instance))
        {
            self.repeated += 1;
            return Ok(T::default());
        }
        if !self.nodes.contains_key(name) {
            self.connect(name)?;
        }
        let limits = self.limits;
        let Some(node) = self.nodes.get_mut(name) else {
            return Err(Rejected::Refused("its node is not connected".into()));
        };
        let is_new = !node.has(instance);
        if is_new {
            check_name("instance", instance)?;
            if self.instances >= limits.max_instances {
                return Err(Rejected::TooManyInstances(limits));
            }
        }
        if is_new
            && let Some(archive) = &self.archive
            // An instance with stored samples is registered when the DAC starts.
            && self.dac.registry.find(name, instance).is_some()
            // An archive that cannot be read refuses the samples later, or a sample is there twice.
            && let Ok(Some((_, newest))) = archive.history().reach_of(name, instance)
        {
            node.resume(instance, newest);
        }
        let pushed = push(node);
        if let (Some(message), Some(digest), Ok(_)) = (&mut self.message, digest, &pushed)
            && let Some((run, sequence)) = node.newest(instance)
        {
            message.note_pushed(digest, run, sequence);
        }
        self.instances += usize::from(is_new && node.has(instance));
        if !self.unsent.contains(name) {
            self.unsent.insert(name.to_owned());
        }
        pushed
    }

    fn connect(&mut self, name: &str) -> Result<(), Rejected> {
        check_name("node", name)?;
        if name.contains(['/', '*']) {
            return Err(Rejected::name("node", name, "it has a / or a *"));
        }
        if self.nodes.len() >= self.limits.max_nodes {
            return Err(Rejected::TooManyNodes(self.limits));
        }
        let node = SourceNode::connect(self.dac.clone(), name, self.software);
        let node = node.map_err(|failure| Rejected::refused(&failure))?;
        self.nodes.insert(name.to_owned(), node);
        Ok(())
    }

    /// Notes that samples of an instance with a declared type were lost before they arrived here: they have numbers, and are a gap.
    pub fn note_missing(&mut self, name: &str, instance: &str, count: u32, loss: SourceLoss) {
        if let Some(node) = self.nodes.get_mut(name) {
            node.note_missing(instance, count, loss);
        }
    }

    /// Sends all samples, and wakes their readers. Returns the samples that the DAC refused. Their nodes are disconnected, and connect again
    /// with the next sample.
    pub fn flush(&mut self) -> LostSamples {
        let mut all = LostSamples::default();
        for name in std::mem::take(&mut self.unsent) {
            let Some(node) = self.nodes.get_mut(&name) else { continue };
            self.rounded += node.flush();
            self.repeated += node.take_repeated();
            let lost = node.take_lost();
            if lost.count > 0 {
                all.add(lost.count, format!("{name:?}: {}", lost.reason));
                self.disconnect(&name);
            }
        }
        all
    }

    /// Disconnects a node: it is offline until its next sample.
    pub fn disconnect(&mut self, name: &str) {
        if let Some(node) = self.nodes.remove(name) {
            self.instances -= node.instance_count();
        }
    }

    /// Returns whether the DAC knows an instance, of this source or of its archive.
    pub fn is_registered(&self, node: &str, instance: &str) -> bool {
        self.dac.registry.find(node, instance).is_some()
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of instances.
    pub fn instance_count(&self) -> usize {
        self.instances
    }

    /// The number of samples that the archive had already.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// The number of whole numbers that were rounded to 64-bit reals, because their field has reals too.
    pub fn rounded(&self) -> u64 {
        self.rounded
    }
}

/// Refuses times that SQL, Arrow and Parquet cannot write: one such sample would be an error for all readers of its table.
fn check_time(time: u64) -> Result<(), Rejected> {
    match i64::try_from(time) {
        Ok(_) => Ok(()),
        Err(_) => Err(Rejected::Refused(format!(
            "its time {time} is later than the year 2262, in nanoseconds since 1970"
        ))),
    }
}

/// Checks a name as the DAC does, so that the session stays in order.
fn check_name(of: &'static str, name: &str) -> Result<(), Rejected> {
    let why = match name {
        "" => "it is empty",
        name if name.len() > MAX_NAME_BYTES => "it has more than 1,024 bytes",
        name if name.chars().any(char::is_control) => "it has a control character",
        _ => return Ok(()),
    };
    Err(Rejected::name(of, name, why))
}
