//! The samples that can be read.

use crate::clocks::{CLOCK_TYPE, clock_name};
use oasis_history::{Log, Reader, Start};
use oasis_rules::Program;
use oasis_store::{History, Newest, ReadError};
use oasis_wire::schema::ProbeType;
use std::{collections::BTreeSet, fmt, sync::Arc};

/// Archive and topic logs together. Without logs it is a recording.
#[derive(Clone, Default)]
pub struct Past {
    /// The archive.
    pub archive: Option<History>,
    /// The topic logs of a running DAC.
    pub logs: Vec<KnownLog>,
    /// All samples up to this DAC time have come. A recording ends at its newest sample.
    pub frontier: Option<u64>,
    /// Lets the archive store what it has received.
    pub flush: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Whether an instance may be read, by node and name; all of them without it.
    pub admits: Option<Admits>,
    /// The clocks of its nodes.
    pub clocks: Clocks,
}

/// Comparison of the clocks of several nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Clocks {
    /// By what the only DAC has measured that is found.
    #[default]
    Measured,
    /// By what the DAC has measured whose node of results has this name.
    MeasuredBy(String),
    /// The clocks are taken as they are, without measurements.
    AsTheyAre,
}

/// Whether an instance may be read, by node and name.
pub type Admits = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// The number of an input, and node and name of an instance that it matches.
pub type Match = (usize, (String, String));

/// The topic log of an instance.
#[derive(Clone)]
pub struct KnownLog {
    /// Its node.
    pub node: Arc<str>,
    /// Its name.
    pub instance: Arc<str>,
    /// Its newest samples.
    pub log: Arc<dyn Log>,
}

/// A time, in nanoseconds since 1970 on the node's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Its begin.
    pub from: u64,
    /// Its end, exclusive.
    pub until: Option<u64>,
}

impl Past {
    /// Reads a recording.
    pub fn of_archive(archive: History) -> Self {
        Self { archive: Some(archive), ..Self::default() }
    }

    /// Returns the probe types of instances that may be read, newer versions of one after older ones.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn types(&self) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        let mut types = Vec::new();
        if let Some(archive) = &self.archive {
            for probe_type in archive.types()? {
                let is_admitted = match &self.admits {
                    Some(admits) => archive
                        .instances_of(&probe_type)?
                        .iter()
                        .any(|(node, instance)| admits(node, instance)),
                    None => true,
                };
                types.extend(is_admitted.then_some(probe_type));
            }
        }
        types.extend(self.admitted_logs().map(|known| known.log.probe_type().clone()));
        Ok(types)
    }

    /// Returns the instances that inputs match, in order.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn matches(&self, program: &Program) -> Result<Vec<Match>, ReadError> {
        let mut matches = Vec::new();
        for (at, input) in program.inputs.iter().enumerate() {
            let instances = self.instances_of(&input.probe_type)?.into_iter();
            let matching = instances.filter(|(node, instance)| input.matches(node, instance));
            matches.extend(matching.map(|names| (at, names)));
        }
        Ok(matches)
    }

    fn admitted_logs(&self) -> impl Iterator<Item = &KnownLog> {
        self.logs.iter().filter(|known| self.admits(&known.node, &known.instance))
    }

    fn admits(&self, node: &str, instance: &str) -> bool {
        self.admits.as_ref().is_none_or(|admits| admits(node, instance))
    }

    /// Returns all instances, in order.
    pub(crate) fn instances(&self) -> Result<Vec<(String, String)>, ReadError> {
        let stored = self.archive.as_ref().map(History::instances).transpose()?.unwrap_or_default();
        let live = self.logs.iter().map(|known| (known.node.to_string(), known.instance.to_string()));
        Ok(in_order(stored.into_iter().chain(live)))
    }

    /// Returns the instances that may be read and have or had a type of this name, in order.
    pub(crate) fn instances_of(&self, type_name: &str) -> Result<Vec<(String, String)>, ReadError> {
        let mut found = Vec::new();
        if let Some(archive) = &self.archive {
            for probe_type in archive.types()?.iter().filter(|known| known.name == type_name) {
                let stored = archive.instances_of(probe_type)?.into_iter();
                found.extend(stored.filter(|(node, instance)| self.admits(node, instance)));
            }
        }
        let live = self.admitted_logs().filter(|known| known.log.probe_type().name == type_name);
        found.extend(live.map(|known| (known.node.to_string(), known.instance.to_string())));
        Ok(in_order(found))
    }

    /// The instance with the measurements of a node's clock, if exactly one DAC counts.
    pub(crate) fn clock_of(&self, node: &str) -> Result<Option<(String, String)>, ReadError> {
        let name = clock_name(node);
        let by = match &self.clocks {
            Clocks::AsTheyAre => return Ok(None),
            Clocks::Measured => None,
            Clocks::MeasuredBy(by) => Some(by),
        };
        let stored = self.archive.as_ref().map(History::instances).transpose()?.unwrap_or_default();
        let live = self.logs.iter().filter(|known| known.log.probe_type().name == CLOCK_TYPE);
        let live = live.map(|known| (known.node.to_string(), known.instance.to_string()));
        let all = in_order(stored.into_iter().chain(live));
        let mut found = all.into_iter().filter(|(of, known)| *known == name && by.is_none_or(|by| by == of));
        Ok(found.next().filter(|_| found.next().is_none()))
    }

    /// Reads an instance from a time on.
    pub(crate) fn reader(&self, (node, instance): (&str, &str), span: Span) -> Reader {
        self.start(node, instance, Start::Time(span.from), span.until)
    }

    /// Reads the newest sample before a time.
    pub(crate) fn newest(&self, (node, instance): (&str, &str), until: Option<u64>) -> Reader {
        let newest = Newest::new(0..until.unwrap_or(u64::MAX), 1);
        self.start(node, instance, Start::Newest(newest), until)
    }

    fn start(&self, node: &str, instance: &str, start: Start, until: Option<u64>) -> Reader {
        let reader = Reader::new(node, instance, start).with_archive(self.archive.clone()).until(until);
        let known = self.logs.iter().find(|known| *known.node == *node && *known.instance == *instance);
        match known {
            Some(known) => reader.with_log(known.log.clone()),
            None => reader,
        }
    }

    pub(crate) fn flush(&self) {
        if let Some(flush) = &self.flush {
            flush();
        }
    }
}

fn in_order(names: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    names.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

impl fmt::Debug for Past {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let archive = if self.archive.is_some() { "archive and " } else { "" };
        write!(formatter, "Past({archive}{} topic logs)", self.logs.len())
    }
}
