//! Chooses what each figure of the publication shows of these runs.

use super::{
    super::{
        declaration::{Experiment, Figure, SERVER},
        value::{Value, Values},
    },
    coverage::Coverage,
    curves::Content,
    estimate::number,
    groups::{Group, Groups, closest},
    plot::plot,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// Begins the reason of a figure of which nothing was measured.
pub const NO_CELL: &str = "no cell of these runs has";

/// A figure of the report.
#[derive(Debug, Serialize)]
pub struct DrawnFigure {
    /// Its number in the publication.
    pub number: String,
    /// Its subject.
    pub title: String,
    /// Whether it is reproduced, or why not.
    pub status: String,
    /// Whether it has every point of the publication's figure.
    pub is_whole: bool,
    /// Statement of the publication.
    pub paper: String,
    /// A remark.
    pub note: String,
    /// Its drawings.
    pub panels: Vec<Panel>,
}

/// A drawing.
#[derive(Debug, Serialize)]
pub struct Panel {
    /// Its file.
    pub file: String,
    /// Its subject.
    pub title: String,
    /// The drawing.
    pub svg: String,
}

impl DrawnFigure {
    /// Names and contents of its files.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.panels.iter().map(|panel| (&*panel.file, &*panel.svg))
    }
}

/// Draws every figure that has data.
pub fn draw(experiment: &Experiment, groups: &Groups) -> Vec<DrawnFigure> {
    experiment.figures.iter().map(|figure| drawn(experiment, groups, figure)).collect()
}

fn drawn(experiment: &Experiment, groups: &Groups, figure: &Figure) -> DrawnFigure {
    let content = Content::of(figure);
    let has = |group: &&Group| content.is_some_and(|content| content.is_in(group));
    let shown = closest(experiment, &figure.points, groups.matching(&figure.filter).filter(has));
    let wanted = wanted_panels(experiment, figure, &shown);
    let panels: Vec<Panel> =
        wanted.iter().filter_map(|value| panel(experiment, figure, value, &shown)).collect();
    let coverage = Coverage::of(experiment, figure, &shown);
    let status = match &figure.reason {
        Some(reason) => format!("not reproduced: {reason}"),
        None if panels.is_empty() => {
            format!("not reproduced: {NO_CELL} {}", said(experiment, &figure.filter))
        }
        None => coverage.status(),
    };
    DrawnFigure {
        number: figure.number.clone(),
        title: figure.title.clone(),
        is_whole: !panels.is_empty() && coverage.is_whole(),
        status,
        paper: figure.paper.clone(),
        note: figure.note.clone(),
        panels,
    }
}

/// The panels of the publication; for servers, those that were measured.
fn wanted_panels(experiment: &Experiment, figure: &Figure, shown: &[&Group]) -> BTreeSet<Value> {
    if !figure.panel_values.is_empty() {
        return figure.panel_values.iter().cloned().collect();
    }
    let measured = shown.iter().filter_map(|group| group.cell.value(&figure.panels));
    match experiment.variable(&figure.panels) {
        Ok(variable) => variable.paper.iter().cloned().chain(measured).collect(),
        Err(_) => measured.collect(),
    }
}

fn panel(experiment: &Experiment, figure: &Figure, value: &Value, shown: &[&Group]) -> Option<Panel> {
    let content = Content::of(figure)?;
    let is_in_panel = |group: &&&Group| group.cell.value(&figure.panels).as_ref() == Some(value);
    let groups: Vec<&Group> = shown.iter().filter(is_in_panel).copied().collect();
    let curves = content.curves(experiment, figure, &groups);
    if curves.is_empty() {
        return None;
    }
    let title = describe(experiment, &figure.panels, value);
    let svg = plot(&title, &content.axes(experiment), &curves).ok()?;
    let number = figure.number.replace(' ', "-");
    Some(Panel { file: format!("{number}-{value}.svg"), title, svg })
}

/// `20,000 connections`, `Tomcat 6`, `comet`.
pub fn describe(experiment: &Experiment, name: &str, value: &Value) -> String {
    if name == SERVER {
        let server = value.to_string();
        return experiment.server(&server).map_or(server.clone(), |known| known.title.clone());
    }
    let unit = experiment.variable(name).map_or("", |variable| &*variable.unit);
    match value {
        Value::Number(count) if !unit.is_empty() => format!("{} {unit}", number(*count as f64)),
        Value::Flag(flag) => format!("{name}={flag}"),
        other => other.to_string(),
    }
}

fn said(experiment: &Experiment, filter: &Values) -> String {
    join(filter.iter().map(|(name, value)| describe(experiment, name, value)))
}

fn join(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}
