//! Everything that the templates show.

use super::{
    super::{
        declaration::{Column, Experiment, SERVER, Variable},
        folder::RunFolder,
        method::Readiness,
        outcome::{CellResult, Outcome},
        record::RunRecord,
        value::Value,
    },
    comparisons::{self, TestedMeans},
    facts::{self, ComparedFact},
    figures::{self, DrawnFigure},
    groups::{Group, Groups},
};
use crate::table::Table;
use serde::Serialize;
use std::collections::BTreeSet;

/// A report.
#[derive(Debug, Serialize)]
pub struct View {
    name: String,
    title: String,
    source: String,
    runs: Vec<RunView>,
    variables: Vec<VariableView>,
    figures: Vec<DrawnFigure>,
    facts: Vec<ComparedFact>,
    comparisons: Vec<TestedMeans>,
    headings: Vec<String>,
    cells: Vec<Vec<String>>,
    cells_table: String,
    problems: Vec<String>,
    differences: Vec<String>,
    data: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RunView {
    folder: String,
    #[serde(flatten)]
    record: RunRecord,
    measured: usize,
    planned: usize,
    servers: Vec<String>,
}

#[derive(Debug, Serialize)]
struct VariableView {
    name: String,
    meaning: String,
    paper: String,
    here: String,
}

impl View {
    /// The report of some runs.
    pub fn new(
        experiment: &Experiment,
        runs: &[RunFolder],
        groups: &Groups,
        figures: Vec<DrawnFigure>,
        data: Vec<String>,
    ) -> Self {
        let headings = headings(experiment, groups);
        let cells: Vec<Vec<String>> = groups.0.iter().map(|group| row(experiment, groups, group)).collect();
        let mut table = Table::new(headings.clone());
        cells.iter().for_each(|row| table.row(row.clone()));
        Self {
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            source: experiment.source.clone(),
            runs: runs.iter().map(|run| run_view(run, groups)).collect(),
            variables: variables(experiment, groups),
            figures,
            facts: facts::compare(experiment, groups),
            comparisons: comparisons::test(experiment, groups),
            headings,
            cells,
            cells_table: table.to_string(),
            problems: problems(groups),
            differences: experiment.method.differences.clone(),
            data,
        }
    }
}

fn run_view(run: &RunFolder, groups: &Groups) -> RunView {
    let is_of = |result: &&CellResult| result.measured().is_some() && run.record.cells.contains(&result.cell);
    let servers = run.record.servers.iter().map(|(name, readiness)| match readiness {
        Readiness::Ready(version) => format!("{name}: {version}"),
        Readiness::Absent(reason) => format!("{name}: absent: {reason}"),
    });
    RunView {
        folder: run.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        measured: groups.0.iter().flat_map(|group| &group.results).filter(is_of).count(),
        planned: run.record.cells.len(),
        servers: servers.collect(),
        record: run.record.clone(),
    }
}

fn variables(experiment: &Experiment, groups: &Groups) -> Vec<VariableView> {
    let of = |variable: &Variable| {
        let here = groups.0.iter().filter_map(|group| group.cell.settings.get(&variable.name));
        let here: BTreeSet<&Value> = here.collect();
        let unit = if variable.unit.is_empty() { String::new() } else { format!(" ({})", variable.unit) };
        VariableView {
            name: variable.name.clone(),
            meaning: format!(
                "{}{unit}{}",
                variable.meaning,
                if variable.is_own { "; the lab's own" } else { "" }
            ),
            paper: joined(&variable.paper),
            here: joined(here),
        }
    };
    experiment.variables.iter().map(of).collect()
}

fn joined<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// The columns that have a value in some cell.
fn columns<'a>(experiment: &'a Experiment, groups: &Groups) -> impl Iterator<Item = &'a Column> {
    let has_values =
        |column: &&Column| groups.0.iter().any(|group| group.estimate(&column.measure).is_some());
    experiment.columns.iter().filter(has_values)
}

fn headings(experiment: &Experiment, groups: &Groups) -> Vec<String> {
    let columns = columns(experiment, groups).map(|column| column.title.clone());
    ["cell".into(), "server".into(), "runs".into(), "begun, UTC".into()].into_iter().chain(columns).collect()
}

fn row(experiment: &Experiment, groups: &Groups, group: &Group) -> Vec<String> {
    let server = figures::describe(experiment, SERVER, &Value::Text(group.cell.server.clone()));
    let measured = group.measured().count();
    let runs = if measured == group.results.len() {
        measured.to_string()
    } else {
        format!("{measured} of {}", group.results.len())
    };
    let measures = columns(experiment, groups)
        .map(|column| group.estimate(&column.measure).map_or("–".into(), |estimate| estimate.to_string()));
    let begun = group.results.iter().map(|result| time_of_day(&result.began)).collect::<Vec<_>>().join(", ");
    [describe(experiment, groups, group), server, runs, begun].into_iter().chain(measures).collect()
}

/// Hours and minutes of a time as RFC 3339 has it.
fn time_of_day(time: &str) -> &str {
    time.split_once('T').and_then(|(_, time)| time.get(..5)).unwrap_or(time)
}

/// The title of the block, and the values in which this cell differs from others.
fn describe(experiment: &Experiment, groups: &Groups, group: &Group) -> String {
    let is_varied = |name: &str| {
        let values = groups.0.iter().filter_map(|group| group.cell.settings.get(name));
        values.collect::<BTreeSet<_>>().len() > 1
    };
    let varied =
        experiment.variables.iter().filter(|variable| is_varied(&variable.name)).filter_map(|variable| {
            let value = group.cell.settings.get(&variable.name)?;
            Some(figures::describe(experiment, &variable.name, value))
        });
    let values = varied.collect::<Vec<_>>().join(", ");
    if values.is_empty() { group.cell.title.clone() } else { format!("{}: {values}", group.cell.title) }
}

/// Cells that were not measured, and what is to be known of the others: the same once, however many cells say it.
fn problems(groups: &Groups) -> Vec<String> {
    let mut problems: Vec<(String, Vec<&str>)> = Vec::new();
    let mut add = |problem: String, id| match problems.iter_mut().find(|(known, _)| *known == problem) {
        Some((_, ids)) => ids.push(id),
        None => problems.push((problem, vec![id])),
    };
    for result in groups.0.iter().flat_map(|group| &group.results) {
        let id = &*result.cell.id;
        match &result.outcome {
            Outcome::Absent(reason) => add(format!("absent: {reason}"), id),
            Outcome::Failed(error) => add(format!("failed: {error}"), id),
            Outcome::Measured(measured) => measured.notes.iter().for_each(|note| add(note.clone(), id)),
        }
    }
    let said = problems.into_iter().map(|(problem, ids)| match &ids[..] {
        [id] => format!("{id}: {problem}"),
        [first, .., last] => format!("{} cells, {first} to {last}: {problem}", ids.len()),
        [] => problem,
    });
    said.collect()
}
