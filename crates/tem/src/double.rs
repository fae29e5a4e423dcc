//! Nodes of one name that are connected to several DACs at once. Each DAC refuses a second node of a name, and knows nothing of those of the others.

use crate::{
    attachment::Attachment,
    kind::Kind,
    limits::{DOUBLE_AFTER, DOUBLE_SCAN_INTERVAL},
    member::{Liveness, Member},
    name::DacName,
};
use std::{collections::BTreeMap, time::Duration};

/// Different nodes that have one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Double {
    /// The name.
    pub node: String,
    /// The DACs that they are connected to, by name.
    pub dacs: Vec<DacName>,
}

/// The doubles among the nodes of a directory, and since when they are known.
#[derive(Debug, Default)]
pub(crate) struct Doubles {
    known: BTreeMap<String, (Duration, Vec<DacName>)>,
    /// Observed time of the last update.
    looked: Duration,
    /// Revision of the directory at the last update.
    revision: u64,
}

impl Doubles {
    /// Examines the nodes of all members again if something has changed.
    pub fn update<'a>(&mut self, members: impl Iterator<Item = &'a Member>, revision: u64, now: Duration) {
        if revision == self.revision || now.saturating_sub(self.looked) < DOUBLE_SCAN_INTERVAL {
            return;
        }
        (self.revision, self.looked) = (revision, now);
        let mut connections: BTreeMap<&str, Vec<(&DacName, Attachment)>> = BTreeMap::new();
        let live = members.filter(|member| member.liveness == Liveness::Live && member.kind == Kind::Dac);
        for member in live {
            for (node, &attachment) in member.attached() {
                connections.entry(node).or_default().push((&member.name, attachment));
            }
        }
        let mut before = std::mem::take(&mut self.known);
        for (node, connections) in connections {
            let dacs: Vec<DacName> = one_of_each_run(connections).into_iter().cloned().collect();
            if dacs.len() > 1 {
                let since = before.remove(node).map_or(now, |(since, _)| since);
                self.known.insert(node.to_owned(), (since, dacs));
            }
        }
    }

    /// Returns those that have lasted.
    pub fn lasting(&self, now: Duration) -> impl Iterator<Item = Double> {
        let is_lasting = move |since: Duration| now.saturating_sub(since) >= DOUBLE_AFTER;
        let lasting = self.known.iter().filter(move |(_, (since, _))| is_lasting(*since));
        lasting.map(|(node, (_, dacs))| Double { node: node.clone(), dacs: dacs.clone() })
    }
}

/// Returns of each run the DAC of its last connection: a node that has moved is still listed by the DAC before for a moment. More than one mean
/// different nodes.
pub fn one_of_each_run<T>(connections: impl IntoIterator<Item = (T, Attachment)>) -> Vec<T> {
    let mut last: Vec<(T, Attachment)> = Vec::new();
    for (dac, attachment) in connections {
        match last.iter_mut().find(|(_, known)| known.run == attachment.run) {
            None => last.push((dac, attachment)),
            Some(known) if attachment.is_after(&known.1) => *known = (dac, attachment),
            Some(_) => {}
        }
    }
    last.into_iter().map(|(dac, _)| dac).collect()
}
