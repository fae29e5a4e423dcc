//! Numbers of the publication beside ours.

use super::{
    super::declaration::Experiment,
    estimate::number,
    groups::{Group, Groups},
};
use serde::Serialize;
use std::collections::BTreeSet;

/// A number of the publication, for each server.
#[derive(Debug, Serialize)]
pub struct ComparedFact {
    /// Where it is printed.
    pub place: String,
    /// What was measured.
    pub what: String,
    /// One for each server that has a number there or here.
    pub rows: Vec<FactRow>,
}

/// One server.
#[derive(Debug, Serialize)]
pub struct FactRow {
    /// Its title.
    pub server: String,
    /// The number of the publication.
    pub paper: String,
    /// Ours, with its interval.
    pub ours: String,
}

/// Compares every number.
pub fn compare(experiment: &Experiment, groups: &Groups) -> Vec<ComparedFact> {
    let compared = experiment.facts.iter().map(|fact| {
        let measured: Vec<&Group> = groups.matching(&fact.filter).collect();
        let names: BTreeSet<&str> = fact
            .paper
            .keys()
            .map(|name| &**name)
            .chain(measured.iter().map(|group| &*group.cell.server))
            .collect();
        let row = |name: &str| FactRow {
            server: experiment.server(name).map_or(name.to_owned(), |server| server.title.clone()),
            paper: fact.paper.get(name).map_or("–".into(), |value| number(*value)),
            ours: ours(&measured, name, &fact.measure),
        };
        ComparedFact {
            place: fact.place.clone(),
            what: fact.what.clone(),
            rows: names.into_iter().map(row).collect(),
        }
    });
    compared.collect()
}

fn ours(measured: &[&Group], server: &str, measure: &str) -> String {
    let group = measured.iter().find(|group| group.cell.server == server);
    group.and_then(|group| group.estimate(measure)).map_or("–".into(), |estimate| estimate.to_string())
}
