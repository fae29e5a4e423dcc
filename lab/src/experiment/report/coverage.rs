//! Compares the cells that a figure shows with those of the publication's figure.
//!
//! A figure is *reproduced* if each point of the publication was measured with the publication's values, *scaled* if some were measured with other values, and *partial*
//! if some points are missing.

use super::{
    super::{
        declaration::{Experiment, Figure, SERVER, Variable},
        value::{Lists, Value, combinations},
    },
    groups::Group,
};
use std::collections::BTreeSet;

/// Upper bound of missing values that a status names.
const MAX_NAMED_VALUES: usize = 5;

/// Comparison of a figure with that of the publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Points of the publication that were measured.
    pub measured: usize,
    /// Points of the publication.
    pub wanted: usize,
    /// Values of the publication that no cell has, by variable.
    missing: Vec<String>,
    /// Values that are not the publication's.
    changes: BTreeSet<String>,
}

impl Coverage {
    /// Compares the groups that a figure shows.
    pub fn of(experiment: &Experiment, figure: &Figure, shown: &[&Group]) -> Self {
        let dimensions = dimensions(experiment, figure);
        let wanted = combinations(&dimensions);
        let mut changes = BTreeSet::new();
        let mut measured = Vec::new();
        for point in &wanted {
            let of_point = shown.iter().filter(|group| group.cell.matches(point));
            let changed = of_point.map(|group| changes_of(experiment, &figure.points, group));
            // Several cells may be this point: the one that is closest to the publication stands for it.
            if let Some(fewest) = changed.min_by_key(BTreeSet::len) {
                changes.extend(fewest);
                measured.push(point);
            }
        }
        let missing = dimensions.iter().filter_map(|(name, values)| {
            let is_missing = |value: &&Value| measured.iter().all(|point| point.get(name) != Some(value));
            let missing: Vec<_> = values.iter().filter(is_missing).map(Value::to_string).collect();
            (!missing.is_empty()).then(|| format!("{name}={}", some(&missing)))
        });
        Self { measured: measured.len(), wanted: wanted.len(), missing: missing.collect(), changes }
    }

    /// Whether each point of the publication was measured, scaled or not.
    pub fn is_whole(&self) -> bool {
        self.measured == self.wanted
    }

    /// The status of the figure.
    pub fn status(&self) -> String {
        let scale = join(", ", &self.changes);
        match (self.is_whole(), scale.is_empty()) {
            (true, true) => "reproduced".into(),
            (true, false) => format!("scaled: {scale}"),
            (false, _) => {
                let missing = if self.missing.is_empty() {
                    String::new()
                } else {
                    format!(", without {}", join(", ", &self.missing))
                };
                let scale = if scale.is_empty() { String::new() } else { format!("; scaled: {scale}") };
                format!("partial: {} of {} points of the study{missing}{scale}", self.measured, self.wanted)
            }
        }
    }
}

/// The values that this group does not have in common with the publication: `SECONDS=8 for 60`.
pub fn changes_of(experiment: &Experiment, points: &Lists, group: &Group) -> BTreeSet<String> {
    let change = |variable: &Variable| {
        let (setting, of_paper) =
            (group.cell.settings.get(&variable.name)?, group.cell.stands_for.get(&variable.name)?);
        if !matters(variable, group) {
            return None;
        }
        if setting != of_paper {
            return Some(format!("{}={setting} for {of_paper}", variable.name));
        }
        let allowed = points.get(&variable.name).unwrap_or(&variable.paper);
        if allowed.is_empty() {
            return None;
        }
        let allowed_text: Vec<_> = allowed.iter().map(Value::to_string).collect();
        (!allowed.contains(setting))
            .then(|| format!("{}={setting} for {}", variable.name, some(&allowed_text)))
    };
    experiment.variables.iter().filter_map(change).collect()
}

fn matters(variable: &Variable, group: &Group) -> bool {
    let has = |(name, values): (&String, &Vec<Value>)| {
        group.cell.value(name).is_some_and(|value| values.contains(&value))
    };
    variable.matters_with.iter().all(has)
}

/// The values of the publication for what distinguishes panels, curves and points of a figure.
fn dimensions(experiment: &Experiment, figure: &Figure) -> Lists {
    let named = figure.curves.iter().chain(&figure.along).chain([&figure.panels]).chain(figure.points.keys());
    let values = |name: &String| {
        let of_figure = figure.points.get(name).cloned();
        let of_panels =
            (*name == figure.panels && !figure.panel_values.is_empty()).then(|| figure.panel_values.clone());
        of_figure.or(of_panels).unwrap_or_else(|| of_paper(experiment, name))
    };
    let free = named.filter(|name| !figure.filter.contains_key(*name));
    free.map(|name| (name.clone(), values(name))).filter(|(_, values)| !values.is_empty()).collect()
}

fn of_paper(experiment: &Experiment, name: &str) -> Vec<Value> {
    if name == SERVER {
        let servers = experiment.servers.iter().filter(|server| server.is_of_paper);
        return servers.map(|server| Value::Text(server.name.clone())).collect();
    }
    experiment.variable(name).map(|variable| variable.paper.clone()).unwrap_or_default()
}

/// The first of these words.
fn some(words: &[String]) -> String {
    let more = if words.len() > MAX_NAMED_VALUES { " and more" } else { "" };
    format!("{}{more}", join("/", words.iter().take(MAX_NAMED_VALUES)))
}

fn join<'a>(separator: &str, words: impl IntoIterator<Item = &'a String>) -> String {
    words.into_iter().map(String::as_str).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::{
                Choice, Experiment, Measured,
                outcome::{CellResult, Outcome},
                plan::Cell,
            },
            figures::{DrawnFigure, draw},
            groups::Groups,
        },
        *,
    };
    use crate::experiments::EXPERIMENTS;

    fn experiments() -> impl Iterator<Item = Experiment> {
        EXPERIMENTS.iter().map(|method| Experiment::parse(method.declaration()).expect("a declaration"))
    }

    fn cells(experiment: &Experiment, plan: &str) -> Vec<Cell> {
        let choice = Choice { plan: plan.into(), set: Lists::new(), only: Lists::new(), repeat: 1 };
        choice.cells(experiment).expect("cells")
    }

    /// The figures of cells that have everything that any figure draws.
    fn drawn(experiment: &Experiment, cells: Vec<Cell>) -> Vec<DrawnFigure> {
        let points = vec![(1.0, 2.0), (2.0, 3.0)];
        let mut measured = Measured::default();
        for figure in &experiment.figures {
            let measures = [&figure.measure, &figure.beside, &figure.along_measure].into_iter().flatten();
            measured.measures.extend(measures.map(|name| (name.clone(), 2.0)));
            let series = figure.series.iter().map(|name| (name.replace(".*", ".part"), points.clone()));
            measured.series.extend(series);
            measured
                .distributions
                .extend(figure.distribution.iter().map(|name| (name.clone(), points.clone())));
        }
        let results = cells.into_iter().map(|cell| CellResult {
            cell,
            began: "2026-11-23T22:00:00Z".into(),
            seconds: 1.0,
            outcome: Outcome::Measured(measured.clone()),
        });
        draw(experiment, &Groups::of_results(results))
    }

    fn numbers(figures: &[DrawnFigure]) -> BTreeSet<&str> {
        figures.iter().filter(|figure| figure.is_whole).map(|figure| &*figure.number).collect()
    }

    #[test]
    fn each_plan_completes_the_figures_that_it_names() {
        for experiment in experiments() {
            for plan in experiment.plans.iter().filter(|_| experiment.name != "million") {
                let figures = drawn(&experiment, cells(&experiment, &plan.name));
                let named: BTreeSet<&str> = plan.figures.iter().map(|number| &**number).collect();
                let status = |number: &str| {
                    let found = figures.iter().find(|figure| figure.number == number);
                    format!("{number}: {}", found.map_or("", |figure| &figure.status))
                };
                let differ: Vec<_> =
                    named.symmetric_difference(&numbers(&figures)).map(|number| status(number)).collect();
                assert!(differ.is_empty(), "{}, {}: {differ:#?}", experiment.name, plan.name);
            }
        }
    }

    #[test]
    fn all_cells_make_all_figures() {
        for experiment in experiments() {
            let all = experiment.plans.iter().flat_map(|plan| cells(&experiment, &plan.name));
            let figures = drawn(&experiment, all.collect());
            let wanted = experiment.figures.iter().filter(|figure| figure.reason.is_none());
            let missing: Vec<_> = wanted
                .map(|figure| &*figure.number)
                .filter(|number| !numbers(&figures).contains(number))
                .collect();
            assert!(missing.is_empty(), "{}: {missing:?}", experiment.name);
        }
    }

    /// Returns the status of a figure after a plan.
    fn status(experiment: &str, plan: &str, number: &str) -> String {
        let experiment = experiments().find(|known| known.name == experiment).expect("an experiment");
        let figures = drawn(&experiment, cells(&experiment, plan));
        figures.into_iter().find(|figure| figure.number == number).expect("a figure").status
    }

    #[test]
    fn a_figure_of_other_values_is_scaled_and_one_with_missing_points_is_partial() {
        assert_eq!(status("oasis-2013", "paper", "5.5"), "reproduced");
        assert_eq!(status("oasis-2013", "quick", "tables 5.1, 5.2"), "scaled: SECONDS=8 for 60");
        assert_eq!(
            status("oasis-2013", "quick", "5.5"),
            "partial: 2 of 20 points of the study, without RATE=100/200/300/400/500 and more; scaled: RATE=10000 for 1000"
        );
        assert_eq!(status("windcomm", "paper", "table 1"), "scaled: BROWSER=chromium for firefox");
        assert!(status("frizelle", "quick", "12").contains("NUMTHREADS=2000 for 20000"));
        assert!(status("frizelle", "default", "5").starts_with("not reproduced: no cell"));
    }

    #[test]
    fn a_figure_shows_no_scaled_cells_beside_those_of_the_publication() {
        let experiment = experiments().find(|known| known.name == "mueller").expect("an experiment");
        let figures = |plans: &[&str]| {
            let cells = plans.iter().flat_map(|plan| cells(&experiment, plan)).collect();
            let drawn = drawn(&experiment, cells);
            drawn.into_iter().find(|figure| figure.number == "connections-concurrent").expect("a figure")
        };
        let (of_paper, of_both) = (figures(&["paper"]), figures(&["quick", "paper"]));
        assert_eq!(of_both.status, of_paper.status);
        let drawings =
            |figure: &DrawnFigure| figure.panels.iter().map(|panel| panel.svg.clone()).collect::<Vec<_>>();
        assert!(!of_both.panels.is_empty());
        assert_eq!(drawings(&of_both), drawings(&of_paper));
    }

    #[test]
    fn a_figure_that_admits_any_value_says_that_cells_are_scaled() {
        assert_eq!(
            status("mueller", "quick", "connections-concurrent"),
            "scaled: HOLD=2 for 60, RAMP=8 for 150, RATE=224 for 56, SERVER_CORES=1 for 8, WORKERS=2 for 30"
        );
        assert_eq!(
            status("mueller", "paper", "connections-concurrent"),
            "scaled: SERVER_CORES=1 for 8, WORKERS=2 for 30"
        );
    }
}
