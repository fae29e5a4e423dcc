//! Statements of the papers, and how they are answered from numbers: those that the papers print, and ours.

use super::super::{
    declaration::{Experiment, Fact, Judgment},
    report::{
        coverage::changes_of,
        estimate::number,
        groups::{Group, Groups, closest},
    },
    value::{Lists, Values},
};
use crate::table::ratio;
use anyhow::Context;
use serde::Deserialize;
use std::{collections::BTreeSet, fmt};

/// Deviation from a paper's number within which a statement holds.
pub const TOLERANCE: f64 = 0.1;

/// All statements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statements {
    statement: Vec<Statement>,
}

/// A conclusion, hypothesis or question of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The experiment that repeats the paper.
    experiment: String,
    /// Place in the paper.
    pub place: String,
    /// In a line.
    pub says: String,
    /// The paper's number.
    paper: Option<f64>,
    /// Statistic of cells that is the number.
    of: Option<Statistic>,
    /// Deviation within which it holds, if not [`TOLERANCE`].
    #[serde(default)]
    within: Option<f64>,
    /// Which numbers of ours agree with the paper's.
    #[serde(default)]
    judgment: Judgment,
    /// Why it cannot be asked any more, or not here.
    reason: Option<String>,
    /// Its answer, where that is no number.
    answer: Option<String>,
    /// Why it does or does not hold.
    #[serde(default)]
    why: String,
}

/// A statistic over cells that differ in what `where` leaves open.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statistic {
    /// The measure of each cell.
    measure: String,
    /// Their server.
    server: String,
    /// The server whose measure divides each.
    by: Option<String>,
    /// Values of the cells.
    #[serde(default, rename = "where")]
    filter: Values,
    /// Which of them counts.
    statistic: Kind,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Mean,
    Lowest,
    Highest,
}

/// An answered statement.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The paper's number.
    pub paper: String,
    /// The number that the table of the paper leads to.
    pub printed: String,
    /// Ours.
    pub ours: String,
    /// Ours as a multiple of the paper's.
    pub ratio: String,
    /// Cells that are missing, and values in place of the paper's.
    pub notes: String,
    /// Verdict and reason.
    pub verdict: String,
}

/// Verdict of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Ours is close to the paper's.
    Holds,
    /// Ours is another one.
    DoesNotHold,
    /// There is no number of ours.
    NotMeasured,
    /// The paper has no number.
    HereOnly,
}

impl Verdict {
    /// The verdict of a paper's number and ours.
    pub fn of(paper: Option<f64>, ours: Option<f64>, within: f64, judgment: Judgment) -> Self {
        let Some(ours) = ours else { return Self::NotMeasured };
        let Some(paper) = paper else { return Self::HereOnly };
        let holds = match judgment {
            Judgment::Close => is_close(paper, ours, within),
            Judgment::AtMost => ours <= paper,
            Judgment::Share => is_close(paper, ours, within) && is_close(100.0 - paper, 100.0 - ours, within),
        };
        if holds { Self::Holds } else { Self::DoesNotHold }
    }
}

/// Whether a number deviates little. A zero holds as far as another number may deviate.
fn is_close(paper: f64, ours: f64, within: f64) -> bool {
    let deviation = if paper == 0.0 { ours } else { ours / paper - 1.0 };
    deviation.abs() <= within
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold here",
            Self::NotMeasured => "not measured yet",
            Self::HereOnly => "here only",
        })
    }
}

impl Statements {
    /// Reads `statements.toml`.
    pub fn declared() -> anyhow::Result<Self> {
        toml::from_str(include_str!("statements.toml")).context("the statements of the papers")
    }

    /// Statements that an experiment answers.
    pub fn of(&self, experiment: &str) -> impl Iterator<Item = &Statement> {
        self.statement.iter().filter(move |statement| statement.experiment == experiment)
    }
}

impl Statement {
    /// Answers it from these cells.
    pub fn answer(&self, experiment: &Experiment, groups: &Groups) -> Answer {
        let of = self.of.as_ref();
        let (all, measured) = (
            of.map(|of| of.printed(experiment)).unwrap_or_default(),
            of.map(|of| of.ours(experiment, groups)).unwrap_or_default(),
        );
        let values: Vec<f64> = measured.iter().map(|(_, value)| *value).collect();
        let (printed, ours) = (of.and_then(|of| of.kind(&all)), of.and_then(|of| of.kind(&values)));
        let mut notes: Vec<String> = Vec::new();
        if !values.is_empty() && values.len() < all.len() {
            notes.push(format!("{} of {} cells", values.len(), all.len()));
        }
        let changes = measured.iter().flat_map(|(group, _)| changes_of(experiment, &Lists::new(), group));
        notes.extend(changes.collect::<BTreeSet<_>>());
        let quotient = self.paper.zip(ours).map(|(paper, ours)| ours / paper);
        let text = |value: Option<f64>| value.map_or("–".into(), number);
        let verdict = match (&self.reason, &self.answer) {
            (Some(reason), _) => format!("cannot be asked: {reason}"),
            (None, Some(answer)) => answer.clone(),
            (None, None) => {
                Verdict::of(self.paper, ours, self.within.unwrap_or(TOLERANCE), self.judgment).to_string()
            }
        };
        Answer {
            paper: self.paper.map_or("–".into(), |paper| paper.to_string()),
            printed: text(printed),
            ours: text(ours),
            ratio: ratio(quotient),
            notes: notes.join(", "),
            verdict: if self.why.is_empty() || ours.is_none() {
                verdict
            } else {
                format!("{verdict}; {}", self.why)
            },
        }
    }
}

impl Statistic {
    /// The value of each cell that the paper prints.
    fn printed(&self, experiment: &Experiment) -> Vec<f64> {
        let is_meant = |fact: &&Fact| {
            let has = |(name, value): (&String, _)| fact.filter.get(name) == Some(value);
            fact.measure == self.measure && fact.against.is_none() && self.filter.iter().all(has)
        };
        let value = |fact: &Fact| self.quotient(|server| fact.paper.get(server).copied());
        experiment.facts.iter().filter(is_meant).filter_map(value).collect()
    }

    /// The median of each cell of ours that is closest to the paper's.
    fn ours<'a>(&'a self, experiment: &Experiment, groups: &'a Groups) -> Vec<(&'a Group, f64)> {
        let own = groups.matching(&self.filter).filter(|group| group.cell.server == self.server);
        let value = |group: &Group| {
            let of = |server: &str| {
                let is_beside = |other: &&Group| {
                    other.cell.server == server && other.cell.settings == group.cell.settings
                };
                groups.0.iter().find(is_beside)?.estimate(&self.measure).map(|estimate| estimate.median)
            };
            self.quotient(of)
        };
        let own = closest(experiment, &Lists::new(), own.filter(|group| value(group).is_some()));
        own.into_iter().filter_map(|group| Some((group, value(group)?))).collect()
    }

    fn quotient(&self, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let own = of(&self.server)?;
        match &self.by {
            Some(by) => of(by).map(|other| own / other),
            None => Some(own),
        }
    }

    fn kind(&self, values: &[f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        Some(match self.statistic {
            Kind::Mean => values.iter().sum::<f64>() / values.len() as f64,
            Kind::Lowest => values.iter().copied().fold(f64::INFINITY, f64::min),
            Kind::Highest => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{
            Choice,
            outcome::{CellResult, Measured, Outcome},
        },
        *,
    };
    use crate::experiments::EXPERIMENTS;
    use std::collections::BTreeMap;

    fn experiment(name: &str) -> Experiment {
        let mut declared =
            EXPERIMENTS.iter().map(|method| Experiment::parse(method.declaration()).expect("a declaration"));
        declared.find(|known| known.name == name).expect("an experiment")
    }

    #[test]
    fn each_statement_names_an_experiment_with_its_servers() {
        for statement in &Statements::declared().expect("the statements").statement {
            let experiment = experiment(&statement.experiment);
            for server in statement.of.iter().flat_map(|of| of.by.iter().chain([&of.server])) {
                assert!(experiment.server(server).is_ok(), "{server}");
            }
            let [reason, answer, of] =
                [statement.reason.is_some(), statement.answer.is_some(), statement.of.is_some()];
            assert!(!(reason && answer || of && (reason || answer)), "{statement:?}");
        }
    }

    #[test]
    fn the_numbers_of_windcomms_conclusion_follow_from_its_table() {
        let windcomm = experiment("windcomm");
        let statements = Statements::declared().expect("the statements");
        let mut count = 0;
        for statement in statements.of("windcomm").filter(|statement| statement.of.is_some()) {
            let of = statement.of.as_ref().expect("a statistic");
            // The table has no times of delivery.
            let (Some(paper), Some(printed)) = (statement.paper, of.kind(&of.printed(&windcomm))) else {
                continue;
            };
            assert!((printed / paper - 1.0).abs() < 0.03, "{}: {paper} and {printed}", statement.says);
            count += 1;
        }
        assert!(count >= 8, "{count}");
    }

    #[test]
    fn a_number_of_ours_decides_the_verdict() {
        let of = |paper, ours| Verdict::of(paper, ours, TOLERANCE, Judgment::Close);
        assert_eq!(of(Some(100.0), Some(109.0)), Verdict::Holds);
        assert_eq!(of(Some(100.0), Some(89.0)), Verdict::DoesNotHold);
        assert_eq!(
            (of(Some(0.0), Some(0.0)), of(Some(0.0), Some(78.0))),
            (Verdict::Holds, Verdict::DoesNotHold)
        );
        assert_eq!((of(Some(1.0), None), of(None, Some(1.0))), (Verdict::NotMeasured, Verdict::HereOnly));
    }

    /// Both plans of mueller, of which every cell has one value in a run and another one in the other.
    #[test]
    fn a_scaled_cell_does_not_count_beside_one_with_the_papers_values() {
        let mueller = experiment("mueller");
        let results = [("quick", 100.0), ("paper", 1.0)].into_iter().flat_map(|(plan, imbalance)| {
            let choice = Choice { plan: plan.into(), set: Lists::new(), only: Lists::new(), repeat: 1 };
            let measures = BTreeMap::from([("imbalance".to_owned(), imbalance)]);
            choice.cells(&mueller).expect("cells").into_iter().map(move |cell| CellResult {
                cell,
                began: String::new(),
                seconds: 1.0,
                outcome: Outcome::Measured(Measured { measures: measures.clone(), ..Measured::default() }),
            })
        });
        let groups = Groups::of_results(results);
        let statements = Statements::declared().expect("the statements");
        let is_meant =
            |statement: &&Statement| statement.of.as_ref().is_some_and(|of| of.measure == "imbalance");
        let statement = statements.of("mueller").find(is_meant).expect("a statement");
        let Answer { ours, notes, .. } = statement.answer(&mueller, &groups);
        assert_eq!(ours, "1");
        assert!(!notes.contains("RATE") && !notes.contains("HOLD"), "{notes}");
    }

    #[test]
    fn an_upper_bound_holds_below_it_only() {
        let of = |ours| Verdict::of(Some(301.0), Some(ours), TOLERANCE, Judgment::AtMost);
        assert_eq!([of(150.0), of(301.0)], [Verdict::Holds; 2]);
        assert_eq!(of(301.1), Verdict::DoesNotHold);
    }

    #[test]
    fn a_lag_holds_if_as_little_was_delivered() {
        let of = |paper, ours| Verdict::of(Some(paper), Some(ours), TOLERANCE, Judgment::Share);
        assert_eq!([of(99.18, 99.2), of(0.0, 0.05)], [Verdict::Holds; 2]);
        assert_eq!([of(99.18, 90.0), of(99.18, 98.0), of(0.0, 5.0)], [Verdict::DoesNotHold; 3]);
    }

    #[test]
    fn each_door_is_asked_whether_it_delivered_in_time() {
        let statements = Statements::declared().expect("the statements");
        let of_time = statements.of("windcomm").filter_map(|statement| {
            let of = statement.of.as_ref().filter(|of| of.measure == "delivered_after_s")?;
            assert_eq!((statement.judgment, statement.paper), (Judgment::AtMost, Some(301.0)));
            Some(&*of.server)
        });
        assert_eq!(of_time.collect::<BTreeSet<_>>(), BTreeSet::from(["longpoll", "poll", "websocket"]));
    }
}
