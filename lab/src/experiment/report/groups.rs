//! Results of cells that differ in nothing but their repetition.

use super::{
    super::{
        folder::RunFolder,
        outcome::{CellResult, Measured},
        plan::Cell,
        value::Values,
    },
    estimate::Estimate,
};
use std::collections::BTreeMap;

/// All groups, in the order of their first cells.
#[derive(Debug)]
pub struct Groups(pub Vec<Group>);

/// Repetitions of one cell.
#[derive(Debug)]
pub struct Group {
    /// Its results, at least one.
    pub results: Vec<CellResult>,
    /// The cell of the first.
    pub cell: Cell,
}

impl Groups {
    /// The groups of some runs.
    pub fn of(runs: &[RunFolder]) -> anyhow::Result<Self> {
        let mut groups: Vec<Group> = Vec::new();
        for run in runs {
            for result in run.results()? {
                match groups.iter_mut().find(|group| group.cell.key() == result.cell.key()) {
                    Some(group) => group.results.push(result),
                    None => groups.push(Group { cell: result.cell.clone(), results: vec![result] }),
                }
            }
        }
        Ok(Self(groups))
    }

    /// Groups that stand for these values.
    pub fn matching<'a>(&'a self, filter: &'a Values) -> impl Iterator<Item = &'a Group> {
        self.0.iter().filter(|group| group.cell.matches(filter))
    }
}

impl Group {
    /// Returns the measurements of each repetition.
    pub fn measured(&self) -> impl Iterator<Item = &Measured> {
        self.results.iter().filter_map(CellResult::measured)
    }

    /// A measure over the repetitions.
    pub fn estimate(&self, measure: &str) -> Option<Estimate> {
        Estimate::of(
            &self
                .measured()
                .filter_map(|measured| measured.measures.get(measure).copied())
                .collect::<Vec<_>>(),
        )
    }

    /// Variables whose value is not the publication's: a plan has scaled them.
    pub fn scaled(&self) -> BTreeMap<&str, String> {
        let settings = self.cell.settings.iter();
        let changed = settings.filter(|(name, value)| self.cell.stands_for.get(*name) != Some(*value));
        changed.map(|(name, value)| (&**name, value.to_string())).collect()
    }
}
