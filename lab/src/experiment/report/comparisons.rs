//! Tests whether the means of each two servers differ: ours, and those that the publication prints.

use super::{
    super::{
        declaration::{Comparison, Experiment, SERVER, Tally},
        value::{Lists, Value, Values},
    },
    figures::describe,
    groups::{Group, Groups, closest},
};
use crate::{
    statistics::{Sample, Welch},
    table::ratio,
};
use serde::Serialize;
use std::{cmp::Ordering, collections::BTreeMap};

/// A comparison of the report.
#[derive(Debug, Serialize)]
pub struct TestedMeans {
    /// Title of the comparison.
    pub title: String,
    /// One for each pair of servers of each repetition.
    pub rows: Vec<PairRow>,
    /// One for each pair of numbers that the publication prints.
    pub paper: Vec<PairRow>,
    /// Tallies of the publication, and what the tests count.
    pub tallies: Vec<TallyRow>,
}

/// Two servers.
#[derive(Debug, Clone, Serialize)]
pub struct PairRow {
    /// In which cells.
    pub cells: String,
    /// Their titles.
    pub pair: String,
    /// The mean of the second as a multiple of the first's.
    pub ratio: String,
    /// Verdict of the test.
    pub verdict: String,
    /// The test.
    #[serde(skip)]
    pub test: Welch,
    #[serde(skip)]
    servers: [String; 2],
}

/// A tally of the publication.
#[derive(Debug, Serialize)]
pub struct TallyRow {
    /// Place in the publication.
    pub place: String,
    /// Titles of the servers.
    pub pair: String,
    /// Counts of the publication: less, greater, equal.
    pub paper: String,
    /// The same counts from the numbers that it prints, tested one-sided at 99 %.
    pub printed: String,
    /// The same counts of these runs.
    pub ours: String,
}

/// Tests every pair of servers whose cells differ in nothing else.
pub fn test(experiment: &Experiment, groups: &Groups) -> Vec<TestedMeans> {
    let tested = experiment.comparisons.iter().map(|comparison| tested(experiment, groups, comparison));
    tested.filter(|tested| !tested.rows.is_empty()).collect()
}

/// Tests every pair of servers, and every pair of the numbers that the publication prints.
pub fn tested(experiment: &Experiment, groups: &Groups, comparison: &Comparison) -> TestedMeans {
    let (rows, paper) = (rows(experiment, groups, comparison), printed(experiment, comparison));
    let tallies =
        comparison.tallies.iter().map(|tally| tally_row(experiment, tally, &rows, &paper)).collect();
    TestedMeans { title: comparison.title.clone(), rows, paper, tallies }
}

/// Tests of the means and deviations that the publication prints.
fn printed(experiment: &Experiment, comparison: &Comparison) -> Vec<PairRow> {
    let facts = |measure: &str| {
        let of_measure = experiment.facts.iter().filter(move |fact| fact.against.is_none());
        of_measure.filter(|fact| fact.measure == measure).map(|fact| (&fact.filter, fact)).collect::<Vec<_>>()
    };
    let deviations: BTreeMap<_, _> = facts(&comparison.deviation).into_iter().collect();
    let mut rows = Vec::new();
    for (filter, means) in facts(&comparison.mean) {
        let Some(deviations) = deviations.get(filter) else { continue };
        let sample = |server: &str| {
            let (mean, deviation) = (*means.paper.get(server)?, *deviations.paper.get(server)?);
            Some(Sample { mean, deviation, count: comparison.paper_count })
        };
        let servers = experiment.servers.iter().map(|server| &*server.name);
        let samples: Vec<_> = servers.filter_map(|server| Some((server, sample(server)?))).collect();
        for (index, one) in samples.iter().enumerate() {
            let others = samples.iter().skip(index + 1);
            rows.extend(others.filter_map(|other| row(experiment, means.place.clone(), *one, *other)));
        }
    }
    rows
}

fn rows(experiment: &Experiment, groups: &Groups, comparison: &Comparison) -> Vec<PairRow> {
    let mut rows = Vec::new();
    let measured = groups.0.iter().filter(|group| !samples(group, comparison).is_empty());
    let groups = &closest(experiment, &Lists::new(), measured)[..];
    for (index, one) in groups.iter().enumerate() {
        let others = groups[index + 1..].iter().filter(|other| other.cell.settings == one.cell.settings);
        for other in others {
            let repetitions = samples(one, comparison).into_iter().zip(samples(other, comparison));
            for (number, (first, second)) in repetitions.enumerate() {
                let cells = format!("{}, repetition {}", varied(experiment, groups, one), number + 1);
                let (one, other) = ((&*one.cell.server, first), (&*other.cell.server, second));
                rows.extend(row(experiment, cells, one, other));
            }
        }
    }
    rows
}

fn row(
    experiment: &Experiment,
    cells: String,
    (one, first): (&str, Sample),
    (other, second): (&str, Sample),
) -> Option<PairRow> {
    let test: Welch = first.welch(&second)?;
    Some(PairRow {
        cells,
        pair: format!("{} minus {}", title(experiment, one), title(experiment, other)),
        ratio: ratio((first.mean > 0.0).then(|| second.mean / first.mean)),
        verdict: test.to_string(),
        test,
        servers: [one.to_owned(), other.to_owned()],
    })
}

fn tally_row(experiment: &Experiment, tally: &Tally, ours: &[PairRow], printed: &[PairRow]) -> TallyRow {
    let [one, other] = &tally.servers;
    let words = |[less, greater, equal]: [usize; 3]| format!("{less}, {greater}, {equal}");
    TallyRow {
        place: tally.place.clone(),
        pair: format!("{} less than {}, greater, equal", title(experiment, one), title(experiment, other)),
        paper: words([tally.less, tally.greater, tally.equal]),
        printed: words(counts(tally, printed)),
        ours: if ours.is_empty() { "–".into() } else { words(counts(tally, ours)) },
    }
}

/// Tests of the two servers by their result: less, greater, equal.
fn counts(tally: &Tally, rows: &[PairRow]) -> [usize; 3] {
    let [one, other] = &tally.servers;
    let order = |row: &PairRow| match &row.servers {
        [first, second] if (first, second) == (one, other) => Some(row.test.order()),
        [first, second] if (first, second) == (other, one) => Some(row.test.order().reverse()),
        _ => None,
    };
    [Ordering::Less, Ordering::Greater, Ordering::Equal]
        .map(|wanted| rows.iter().filter(|row| order(row) == Some(wanted)).count())
}

/// Returns the sample of each repetition.
fn samples(group: &Group, comparison: &Comparison) -> Vec<Sample> {
    let of = |measures: &BTreeMap<String, f64>| {
        let value = |name: &str| measures.get(name).copied();
        Some(Sample {
            mean: value(&comparison.mean)?,
            deviation: value(&comparison.deviation)?,
            count: value(&comparison.count)? as usize,
        })
    };
    group.measured().filter_map(|measured| of(&measured.measures)).collect()
}

fn title(experiment: &Experiment, server: &str) -> String {
    describe(experiment, SERVER, &Value::Text(server.to_owned()))
}

/// The values in which these cells differ from others.
fn varied(experiment: &Experiment, groups: &[&Group], group: &Group) -> String {
    let is_varied = |name: &str| {
        let own: Option<&Value> = group.cell.settings.get(name);
        groups.iter().any(|other| other.cell.settings.get(name) != own)
    };
    let settings: &Values = &group.cell.settings;
    let values = settings.iter().filter(|(name, _)| is_varied(name));
    let said: Vec<_> = values.map(|(name, value)| describe(experiment, name, value)).collect();
    if said.is_empty() { group.cell.title.clone() } else { said.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::EXPERIMENTS;

    #[test]
    fn the_numbers_that_windcomm_prints_lead_to_ten_one_and_one_of_twelve_tests() {
        let declared =
            EXPERIMENTS.iter().map(|method| Experiment::parse(method.declaration()).expect("a declaration"));
        let experiment = declared.into_iter().find(|known| known.name == "windcomm").expect("windcomm");
        let comparison = experiment.comparisons.first().expect("a comparison");
        let printed = printed(&experiment, comparison);
        assert_eq!(printed.len(), 36);
        let counts: Vec<_> = comparison.tallies.iter().map(|tally| counts(tally, &printed)).collect();
        assert_eq!(counts, [[10, 1, 1], [12, 0, 0], [11, 1, 0]]);
        // Section Results: the first test to Nagaoka tells long poll and poll apart at 99 %, one-sided.
        let is_wanted = |row: &&PairRow| {
            row.cells == "Table 1, Nagaoka, first test"
                && row.servers == ["longpoll", "poll"].map(str::to_owned)
        };
        let verdict = &printed.iter().find(is_wanted).expect("a test").verdict;
        assert!(
            verdict.contains("one-sided different at 99 %, p = 0.0054; two-sided different at 95 %"),
            "{verdict}"
        );
    }
}
