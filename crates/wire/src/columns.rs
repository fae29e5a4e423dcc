//! The columns of a table of samples, and their names (`docs/reference/tables.md`).

use crate::schema::{Metric, MetricType, ProbeType, SAMPLE_COLUMNS};
use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

/// Suffix of the second of several equal names.
const FIRST_SUFFIX: u64 = 2;

/// Used names, compared without case, with the next suffix of each.
#[derive(Debug, Clone, Default)]
pub struct Names(BTreeMap<String, u64>);

impl Names {
    /// Creates a set of used names.
    pub fn new<'a>(taken: impl IntoIterator<Item = &'a str>) -> Self {
        Self(taken.into_iter().map(|name| (name.to_lowercase(), FIRST_SUFFIX)).collect())
    }

    /// Returns the name; if it is used, with the lowest free suffix from `_2` on.
    pub fn unique(&mut self, name: &str) -> String {
        let lower = name.to_lowercase();
        let Some(next) = self.0.get(&lower).copied() else {
            self.0.insert(lower, FIRST_SUFFIX);
            return name.to_owned();
        };
        let numbered = (next..).map(|number| (number, format!("{name}_{number}")));
        let free = numbered.into_iter().find(|(_, name)| !self.0.contains_key(&name.to_lowercase()));
        let (number, free) = free.unwrap_or_default();
        self.0.insert(lower, number + 1);
        self.0.insert(free.to_lowercase(), FIRST_SUFFIX);
        free
    }
}

/// Calls `each` with the columns of a type, in order: the unique name, the indexes of the metric and of each member within, and what it is. A struct has
/// a column for each of its members.
pub fn visit(probe_type: &ProbeType, each: &mut dyn FnMut(String, &[usize], &Metric)) {
    let mut names = Names::new(SAMPLE_COLUMNS);
    for (at, metric) in probe_type.metrics.iter().enumerate() {
        visit_metric(metric, &metric.name, &mut [at].to_vec(), &mut |name, path, of| {
            each(names.unique(name), path, of);
        });
    }
}

fn visit_metric(
    metric: &Metric,
    name: &str,
    path: &mut Vec<usize>,
    each: &mut dyn FnMut(&str, &[usize], &Metric),
) {
    let MetricType::Struct(of) = &metric.kind else { return each(name, path, metric) };
    for (at, member) in of.members.iter().enumerate() {
        path.push(at);
        visit_metric(member, &member_name(name, member), path, each);
        path.pop();
    }
}

/// The name of a struct's member, before names are made unique.
pub fn member_name(name: &str, member: &Metric) -> String {
    let mut full = name.to_string();
    full.push('.');
    full.push_str(&member.name);
    full
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_are_unique(wanted in proptest::collection::vec("[aA]{1,2}(_2)?", 1..20)) {
            let mut names = Names::new(["a"]);
            let given: Vec<_> = wanted.iter().map(|name| names.unique(name).to_lowercase()).collect();
            let different: BTreeSet<_> = given.iter().cloned().collect();
            prop_assert_eq!(different.len(), given.len());
            prop_assert!(!different.contains("a"));
        }
    }
}
