//! Numbers of the publication beside ours.

use super::{
    super::{
        declaration::{Experiment, Fact, Judgment},
        value::Lists,
    },
    coverage::changes_of,
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
    /// Which numbers of ours agree with the publication's.
    #[serde(skip)]
    pub judgment: Judgment,
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
    /// The values with which ours was measured in place of the publication's.
    pub changes: String,
    /// The number of the publication, and the median of ours.
    #[serde(skip)]
    pub values: (Option<f64>, Option<f64>),
}

/// Compares every number.
pub fn compare(experiment: &Experiment, groups: &Groups) -> Vec<ComparedFact> {
    let compared = experiment.facts.iter().map(|fact| {
        let mut measured: Vec<&Group> = groups.matching(&fact.filter).collect();
        // Cells with the publication's values go before those that are scaled.
        measured.sort_by_key(|group| changes_of(experiment, &Lists::new(), group).len());
        let known = fact.paper.keys().map(|name| &**name);
        let names: BTreeSet<&str> = known
            .chain(measured.iter().map(|group| &*group.cell.server))
            .filter(|name| fact.against.as_ref().is_none_or(|against| against.server != *name))
            .collect();
        let row = |name: &str| {
            let (paper, ours) = (fact.paper.get(name), compared(fact, &measured, name));
            let changes = group(fact, &measured, name).filter(|_| ours.is_some());
            let changes =
                changes.map(|group| changes_of(experiment, &Lists::new(), group)).unwrap_or_default();
            let quotient = paper.zip(ours).map(|(paper, ours)| ours.median / paper);
            let quotient = quotient.filter(|quotient| quotient.is_finite());
            (paper.is_some() || ours.is_some()).then(|| FactRow {
                server: experiment.server(name).map_or(name.to_owned(), |server| server.title.clone()),
                paper: paper.map_or("–".into(), |value| number(*value)),
                ours: ours.map_or("–".into(), |estimate| {
                    format!("{estimate}{}", delivered(fact, &measured, name).unwrap_or_default())
                }),
                ratio: ratio(quotient) + &paper.zip(ours).map(ratios).unwrap_or_default(),
                values: (paper.copied(), ours.map(|ours| ours.median)),
                changes: changes.into_iter().collect::<Vec<_>>().join(", "),
            })
        };
        ComparedFact {
            place: fact.place.clone(),
            what: fact.what.clone(),
            rows: names.into_iter().filter_map(row).collect(),
            judgment: fact.judgment,
        }
    });
    compared.collect()
}

/// The interval of ours as multiples of the publication's; empty with few repetitions.
fn ratios((paper, ours): (&f64, Estimate)) -> String {
    let Some((low, high)) = ours.interval.filter(|_| *paper != 0.0) else { return String::new() };
    format!(" ({} to {})", ratio(Some(low / paper)), ratio(Some(high / paper)))
}

/// Our number for a server: its measure, or the difference of that to another server's in a cell that differs in nothing else.
fn compared(fact: &Fact, measured: &[&Group], server: &str) -> Option<Estimate> {
    let group = group(fact, measured, server)?;
    let own = group.estimate(&fact.measure)?;
    let Some(against) = &fact.against else { return Some(own) };
    let other = beside(measured, group, &against.server)?.estimate(&fact.measure)?;
    let median = against.difference.between(other.median, own.median);
    median.is_finite().then_some(Estimate { median, interval: None })
}

/// Samples that a server delivered, and the one with which it is compared: a total says little without them.
fn delivered(fact: &Fact, measured: &[&Group], server: &str) -> Option<String> {
    let [part, whole] = fact.delivered.as_ref()?;
    let of = |group: &Group| {
        let (part, whole) = (group.estimate(part)?, group.estimate(whole)?);
        Some(format!("{} of {}", number(part.median), number(whole.median)))
    };
    let group = group(fact, measured, server)?;
    let other = fact.against.as_ref().and_then(|against| beside(measured, group, &against.server));
    let own = of(group)?;
    Some(match other.and_then(of) {
        Some(other) => format!("; delivered {own}, the other {other}"),
        None => format!("; delivered {own}"),
    })
}

/// The first group of a server that has the measure, and a group beside it if that is compared.
fn group<'a>(fact: &Fact, measured: &[&'a Group], server: &str) -> Option<&'a Group> {
    let has = |group: &Group| group.estimate(&fact.measure).is_some();
    let is_comparable = |group: &Group| match &fact.against {
        Some(against) => beside(measured, group, &against.server).is_some_and(has),
        None => true,
    };
    let mut own = measured.iter().filter(|group| group.cell.server == server && has(group));
    own.find(|group| is_comparable(group)).copied()
}

/// The group of another server with the same settings.
fn beside<'a>(measured: &[&'a Group], group: &Group, server: &str) -> Option<&'a Group> {
    let is_beside =
        |other: &&&Group| other.cell.server == server && other.cell.settings == group.cell.settings;
    measured.iter().find(is_beside).copied()
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{
            Choice,
            declaration::{Difference, Experiment},
            outcome::{CellResult, Measured, Outcome},
            value::Lists,
        },
        *,
    };
    use crate::experiments::EXPERIMENTS;

    /// The rows of a fact after the bytes of the short plan: AJAX delivered 171 of 1,000 samples.
    #[test]
    fn bytes_are_compared_by_received_sample_and_a_total_says_what_it_delivered() {
        let mut declared =
            EXPERIMENTS.iter().map(|method| Experiment::parse(method.declaration()).expect("a declaration"));
        let experiment = declared.find(|known| known.name == "oasis-2013").expect("oasis-2013");
        let choice = Choice { plan: "quick".into(), set: Lists::new(), only: Lists::new(), repeat: 1 };
        let results = choice.cells(&experiment).expect("cells").into_iter().map(|cell| {
            let (bytes, received) =
                if cell.server == "ajax-file" { (300_000.0, 171.0) } else { (225_000.0, 1_000.0) };
            let measures = [
                ("wire_bytes", bytes),
                ("received", received),
                ("sent", 1_000.0),
                ("wire_bytes_per_sample", bytes / received),
            ];
            let measures = measures.map(|(name, value)| (name.to_owned(), value)).into();
            let outcome = Outcome::Measured(Measured { measures, ..Measured::default() });
            CellResult { cell, began: String::new(), seconds: 1.0, outcome }
        });
        let facts = compare(&experiment, &Groups::of_results(results));
        let ours = |what: &str| {
            let fact = facts.iter().find(|fact| fact.what.starts_with(what)).expect("a fact");
            let row = fact.rows.iter().find(|row| row.server == "WebSocket of 2012").expect("a row");
            row.ours.clone()
        };
        assert_eq!(ours("Less bytes of a received sample than AJAX"), "87.2");
        assert_eq!(
            ours("Less bytes on the wire than AJAX in all"),
            "25; delivered 1,000 of 1,000, the other 171 of 1,000"
        );
    }

    #[test]
    fn differences_are_those_of_the_publications() {
        // The thesis, section 5.3.2: 376 bytes of WebSockets beside 1,186 of AJAX.
        assert!((Difference::MoreFit.between(1_186.0, 376.0) - 215.43).abs() < 0.01);
        assert_eq!(Difference::Less.between(200.0, 100.0), 50.0);
        assert_eq!(Difference::Times.between(40.0, 150.0), 3.75);
    }
}
