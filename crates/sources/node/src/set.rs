//! All nodes of a source.

use crate::{Rejected, SourceLimits, SourceSample, node::SourceNode};
use oasis_dac::Dac;
use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

/// Longest name of a node or an instance, in bytes.
const MAX_NAME_BYTES: usize = 1_024;
/// Most characters of a name in an error.
const MAX_QUOTED_CHARACTERS: usize = 60;

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
        Self { dac, software, limits, nodes, instances: 0, unsent, rounded: 0 }
    }

    /// Adds a sample; [`SourceNodes::flush`] sends it. Returns the number of its fields that are left out, because they have another type than
    /// before.
    ///
    /// # Errors
    /// If nothing of the sample is taken.
    pub fn push(&mut self, sample: &SourceSample<'_>) -> Result<u64, Rejected> {
        if !self.nodes.contains_key(sample.node) {
            self.connect(sample.node)?;
        }
        let limits = self.limits;
        let Some(node) = self.nodes.get_mut(sample.node) else { return Ok(0) };
        let is_new = !node.has(sample.instance);
        if is_new {
            check_name("instance", sample.instance)?;
            if self.instances >= limits.max_instances {
                return Err(Rejected::TooManyInstances(limits));
            }
        }
        let pushed = node.push(sample, limits);
        self.instances += usize::from(is_new && node.has(sample.instance));
        if pushed.is_ok() && !self.unsent.contains(sample.node) {
            self.unsent.insert(sample.node.to_owned());
        }
        pushed
    }

    fn connect(&mut self, name: &str) -> Result<(), Rejected> {
        check_name("node", name)?;
        if name.contains(['/', '*']) {
            return Err(bad_name("node", name, "it has a / or a *"));
        }
        if self.nodes.len() >= self.limits.max_nodes {
            return Err(Rejected::TooManyNodes(self.limits));
        }
        let node = SourceNode::connect(self.dac.clone(), name, self.software);
        let node = node.map_err(|failure| Rejected::refused(name, &failure))?;
        self.nodes.insert(name.to_owned(), node);
        Ok(())
    }

    /// Sends all samples, and wakes their readers.
    pub fn flush(&mut self) {
        for name in std::mem::take(&mut self.unsent) {
            if let Some(node) = self.nodes.get_mut(&name) {
                self.rounded += node.flush();
            }
        }
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of instances.
    pub fn instance_count(&self) -> usize {
        self.instances
    }

    /// The number of whole numbers that were rounded to 64-bit reals, because their field has reals too.
    pub fn rounded(&self) -> u64 {
        self.rounded
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
    Err(bad_name(of, name, why))
}

fn bad_name(of: &'static str, name: &str, why: &'static str) -> Rejected {
    Rejected::Name { of, name: name.chars().take(MAX_QUOTED_CHARACTERS).collect(), why }
}
