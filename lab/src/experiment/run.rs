//! Runs the cells of a plan that have no result yet.

use super::{
    CellContext, Method,
    declaration::{Column, Experiment},
    folder::RunFolder,
    method::Readiness,
    outcome::{CellResult, Outcome},
    plan::Cell,
    progress::{Progress, span},
    record,
    report::number,
};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// Columns of the report in a line of progress.
const SAID: usize = 4;

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every cell has a result.
    Complete,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// The servers of some cells, each once.
pub fn servers(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(|cell| cell.server.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Says how much there is to do, and how long it will take.
pub fn announce(method: &dyn Method, folder: &RunFolder) -> anyhow::Result<()> {
    let due = due(folder)?;
    let length: Duration = due.iter().map(|cell| method.expected(cell)).sum();
    let (cells, all) = (due.len(), folder.record.cells.len());
    eprintln!("{cells} of {all} cells to run, about {}, into {}", span(length), folder.path().display());
    for (server, readiness) in &folder.record.servers {
        match readiness {
            Readiness::Ready(version) => eprintln!("  {server}: {version}"),
            Readiness::Absent(reason) => eprintln!("  {server}: absent: {reason}"),
        }
    }
    Ok(())
}

/// Runs what is due. A cell that was cut off by Ctrl-C has no result, and is run again when the run is resumed.
pub fn run(method: &dyn Method, folder: &RunFolder, context: &CellContext<'_>) -> anyhow::Result<Ending> {
    let (interrupt, experiment) = (context.interrupt, Experiment::parse(method.declaration())?);
    let due = due(folder)?;
    let mut progress = Progress::new(&due.iter().map(|cell| method.expected(cell)).collect::<Vec<_>>());
    for cell in due {
        if interrupt.is_set() {
            return Ok(Ending::Interrupted);
        }
        progress.begin(&cell.id);
        let (began, clock) = (record::now(), Instant::now());
        let outcome = outcome(method, folder, cell, context)?;
        if interrupt.is_set() && matches!(outcome, Outcome::Failed(_)) {
            return Ok(Ending::Interrupted);
        }
        let said = said(&experiment, &outcome);
        let result =
            CellResult { cell: cell.clone(), began, seconds: clock.elapsed().as_secs_f64(), outcome };
        folder.write_result(&result)?;
        progress.end(method.expected(cell), &said);
    }
    Ok(Ending::Complete)
}

fn outcome(
    method: &dyn Method,
    folder: &RunFolder,
    cell: &Cell,
    context: &CellContext<'_>,
) -> anyhow::Result<Outcome> {
    if let Some(Readiness::Absent(reason)) = folder.record.servers.get(&cell.server) {
        return Ok(Outcome::Absent(reason.clone()));
    }
    let scratch = folder.scratch(cell)?;
    Ok(match method.measure(cell, &scratch, context) {
        Ok(measured) => Outcome::Measured(measured),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    })
}

/// Cells without measurements: those that failed, or whose server was absent, are tried again.
fn due(folder: &RunFolder) -> anyhow::Result<Vec<&Cell>> {
    let mut due = Vec::new();
    for cell in &folder.record.cells {
        if folder.result(cell)?.is_none_or(|result| result.measured().is_none()) {
            due.push(cell);
        }
    }
    Ok(due)
}

/// A line on a cell: what the first columns of the report have.
fn said(experiment: &Experiment, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Absent(reason) => format!("absent: {reason}"),
        Outcome::Failed(error) => format!("failed: {error}"),
        Outcome::Measured(measured) => {
            let value = |column: &Column| {
                let value = measured.measures.get(&column.measure)?;
                Some(format!("{} {}", column.title, number(*value)))
            };
            let values: Vec<_> = experiment.columns.iter().filter_map(value).take(SAID).collect();
            values.join("; ")
        }
    }
}
