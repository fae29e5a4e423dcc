//! Numbers of the publication beside ours.

use super::{
    super::declaration::{Experiment, Fact},
    estimate::{Estimate, number},
    groups::{Group, Groups},
};
use crate::table::ratio;
use serde::Serialize;
use std::collections::BTreeSet;

/// A number of the publication, for each server.
#[derive(Debug, Serialize)]
pub struct ComparedFact {
    /// Place in the publication.
    pub place: String,
    /// Measured quantity.
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
        let known = fact.paper.keys().map(|name| &**name);
        let names: BTreeSet<&str> = known
            .chain(measured.iter().map(|group| &*group.cell.server))
            .filter(|name| fact.against.as_ref().is_none_or(|against| against.server != *name))
            .collect();
        let row = |name: &str| {
            let (paper, ours) = (fact.paper.get(name), compared(fact, &measured, name));
            let quotient = paper.zip(ours).map(|(paper, ours)| ours.median / paper);
            (paper.is_some() || ours.is_some()).then(|| FactRow {
                server: experiment.server(name).map_or(name.to_owned(), |server| server.title.clone()),
                paper: paper.map_or("–".into(), |value| number(*value)),
                ours: ours.map_or("–".into(), |estimate| estimate.to_string()),
                ratio: ratio(quotient.filter(|quotient| quotient.is_finite())),
            })
        };
        ComparedFact {
            place: fact.place.clone(),
            what: fact.what.clone(),
            rows: names.into_iter().filter_map(row).collect(),
        }
    });
    compared.collect()
}

/// Our number for a server: its measure, or the difference of that to another server's.
fn compared(fact: &Fact, measured: &[&Group], server: &str) -> Option<Estimate> {
    let own = ours(measured, server, &fact.measure)?;
    let Some(against) = &fact.against else { return Some(own) };
    let other = ours(measured, &against.server, &fact.measure)?;
    let median = against.difference.between(other.median, own.median);
    median.is_finite().then_some(Estimate { median, interval: None })
}

fn ours(measured: &[&Group], server: &str, measure: &str) -> Option<Estimate> {
    measured.iter().find(|group| group.cell.server == server)?.estimate(measure)
}

#[cfg(test)]
mod tests {
    use super::super::super::declaration::Difference;

    #[test]
    fn differences_are_those_of_the_publications() {
        // The thesis, section 5.3.2: 376 bytes of WebSockets beside 1,186 of AJAX.
        assert!((Difference::MoreFit.between(1_186.0, 376.0) - 215.43).abs() < 0.01);
        assert_eq!(Difference::Less.between(200.0, 100.0), 50.0);
        assert_eq!(Difference::Times.between(40.0, 150.0), 3.75);
    }
}
