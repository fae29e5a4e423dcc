//! Numbers of the publication beside ours.

use super::{
    super::declaration::Experiment,
    estimate::{Estimate, number},
    groups::{Group, Groups},
};
use crate::table::ratio;
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
    /// Ours as a multiple of the publication's.
    pub ratio: String,
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
        let row = |name: &str| {
            let (paper, ours) = (fact.paper.get(name), ours(&measured, name, &fact.measure));
            let quotient = paper.zip(ours).map(|(paper, ours)| ours.median / paper);
            FactRow {
                server: experiment.server(name).map_or(name.to_owned(), |server| server.title.clone()),
                paper: paper.map_or("–".into(), |value| number(*value)),
                ours: ours.map_or("–".into(), |estimate| estimate.to_string()),
                ratio: ratio(quotient.filter(|quotient| quotient.is_finite())),
            }
        };
        ComparedFact {
            place: fact.place.clone(),
            what: fact.what.clone(),
            rows: names.into_iter().map(row).collect(),
        }
    });
    compared.collect()
}

fn ours(measured: &[&Group], server: &str, measure: &str) -> Option<Estimate> {
    measured.iter().find(|group| group.cell.server == server)?.estimate(measure)
}
