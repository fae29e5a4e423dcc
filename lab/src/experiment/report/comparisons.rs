//! Tests whether the means of each two servers differ.

use super::{
    super::{
        declaration::{Comparison, Experiment, SERVER},
        value::{Value, Values},
    },
    figures::describe,
    groups::{Group, Groups},
};
use crate::{statistics::Sample, table::ratio};
use serde::Serialize;

/// A comparison of the report.
#[derive(Debug, Serialize)]
pub struct TestedMeans {
    /// Title of the comparison.
    pub title: String,
    /// One for each pair of servers of each repetition.
    pub rows: Vec<PairRow>,
}

/// Two servers.
#[derive(Debug, Serialize)]
pub struct PairRow {
    /// In which cells.
    pub cells: String,
    /// Their titles.
    pub pair: String,
    /// The mean of the second as a multiple of the first's.
    pub ratio: String,
    /// Verdict of the test.
    pub verdict: String,
}

/// Tests every pair of servers whose cells differ in nothing else.
pub fn test(experiment: &Experiment, groups: &Groups) -> Vec<TestedMeans> {
    let tested = experiment.comparisons.iter().map(|comparison| TestedMeans {
        title: comparison.title.clone(),
        rows: rows(experiment, groups, comparison),
    });
    tested.filter(|tested| !tested.rows.is_empty()).collect()
}

fn rows(experiment: &Experiment, groups: &Groups, comparison: &Comparison) -> Vec<PairRow> {
    let mut rows = Vec::new();
    for (index, one) in groups.0.iter().enumerate() {
        let others = groups.0[index + 1..].iter().filter(|other| other.cell.settings == one.cell.settings);
        for other in others {
            let repetitions = samples(one, comparison).into_iter().zip(samples(other, comparison));
            for (number, (first, second)) in repetitions.enumerate() {
                let Some(test) = first.welch(&second) else { continue };
                rows.push(PairRow {
                    cells: format!("{}, repetition {}", varied(experiment, groups, one), number + 1),
                    pair: format!("{} minus {}", title(experiment, one), title(experiment, other)),
                    ratio: ratio((first.mean > 0.0).then(|| second.mean / first.mean)),
                    verdict: test.to_string(),
                });
            }
        }
    }
    rows
}

/// Returns the sample of each repetition.
fn samples(group: &Group, comparison: &Comparison) -> Vec<Sample> {
    let of = |measures: &std::collections::BTreeMap<String, f64>| {
        let value = |name: &str| measures.get(name).copied();
        Some(Sample {
            mean: value(&comparison.mean)?,
            deviation: value(&comparison.deviation)?,
            count: value(&comparison.count)? as usize,
        })
    };
    group.measured().filter_map(|measured| of(&measured.measures)).collect()
}

fn title(experiment: &Experiment, group: &Group) -> String {
    describe(experiment, SERVER, &Value::Text(group.cell.server.clone()))
}

/// The values in which these cells differ from others.
fn varied(experiment: &Experiment, groups: &Groups, group: &Group) -> String {
    let is_varied = |name: &str| {
        let own: Option<&Value> = group.cell.settings.get(name);
        groups.0.iter().any(|other| other.cell.settings.get(name) != own)
    };
    let settings: &Values = &group.cell.settings;
    let values = settings.iter().filter(|(name, _)| is_varied(name));
    let said: Vec<_> = values.map(|(name, value)| describe(experiment, name, value)).collect();
    if said.is_empty() { group.cell.title.clone() } else { said.join(", ") }
}
