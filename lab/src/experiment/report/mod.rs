//! The report of runs: what was found, drawn beside what the publication reports.
//!
//! Results with the same values are [`groups`]. [`figures`] chooses what a figure shows, [`coverage`] says how much of the publication's figure that is, [`curves`] are its lines, with [`laws`] that fit them, [`plot`] draws it, [`facts`] compares numbers, [`comparisons`] servers. All of it is one [`view`],
//! which two templates turn into HTML and Markdown; [`data`] writes every value for other programs. [`compare()`] is a report of its own.

mod compare;
pub mod comparisons;
pub mod coverage;
mod curves;
mod data;
pub mod estimate;
pub mod facts;
pub mod figures;
pub mod groups;
mod laws;
mod plot;
mod view;

pub use compare::compare;
pub use estimate::number;

use super::{declaration::Experiment, folder::RunFolder};
use anyhow::Context;
use groups::Groups;
use minijinja::{Environment, syntax::SyntaxConfig, value::Serde};
use std::{
    fs,
    path::{Path, PathBuf},
};
use view::View;

/// Writes the report of some runs into a folder, and returns the path of its page.
pub fn write(experiment: &Experiment, runs: &[RunFolder], to: &Path) -> anyhow::Result<PathBuf> {
    let groups = Groups::of(runs)?;
    let figures = figures::draw(experiment, &groups);
    for (name, svg) in figures.iter().flat_map(|figure| figure.files()) {
        write_file(&to.join("figures").join(name), svg)?;
    }
    let data = data::write(&to.join("data"), &groups)?;
    let view = View::new(experiment, runs, &groups, figures, data);
    let mut templates = Environment::new();
    templates.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    templates.add_template("report.html", include_str!("report.html.jinja"))?;
    templates.add_template("report.md", include_str!("report.md.jinja"))?;
    for name in ["report.md", "report.html"] {
        write_file(&to.join(name), &templates.get_template(name)?.render(Serde(&view))?)?;
    }
    Ok(to.join("report.html"))
}

fn write_file(path: &Path, content: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}
