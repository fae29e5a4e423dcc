//! Results of cells that differ in nothing but their repetition.

use super::{
    super::{
        declaration::Experiment,
        folder::RunFolder,
        outcome::{CellResult, Measured},
        plan::Cell,
        value::{Lists, Values},
    },
    coverage::changes_of,
    estimate::Estimate,
};

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
        let results = runs.iter().map(RunFolder::results).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self::of_results(results.into_iter().flatten()))
    }

    /// The groups of some results.
    pub fn of_results(results: impl IntoIterator<Item = CellResult>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for result in results {
            match groups.iter_mut().find(|group| group.cell.key() == result.cell.key()) {
                Some(group) => group.results.push(result),
                None => groups.push(Group { cell: result.cell.clone(), results: vec![result] }),
            }
        }
        Self(groups)
    }

    /// Groups that stand for these values.
    pub fn matching<'a>(&'a self, filter: &'a Values) -> impl Iterator<Item = &'a Group> {
        self.0.iter().filter(|group| group.cell.matches(filter))
    }
}

/// Keeps, of groups that stand for the same values of the same server, the one that is closest to the publication: a scaled cell is no repetition of one that has
/// the publication's values, and would be drawn, averaged and counted beside it. `points` are those of the figure.
pub fn closest<'a>(
    experiment: &Experiment,
    points: &Lists,
    groups: impl IntoIterator<Item = &'a Group>,
) -> Vec<&'a Group> {
    let mut kept: Vec<(&Group, usize)> = Vec::new();
    for group in groups {
        let changes = changes_of(experiment, points, group).len();
        let stands_for = |group: &'a Group| (&group.cell.server, &group.cell.stands_for);
        match kept.iter_mut().find(|(known, _)| stands_for(known) == stands_for(group)) {
            Some((known, fewest)) if changes < *fewest => (*known, *fewest) = (group, changes),
            Some(_) => {}
            None => kept.push((group, changes)),
        }
    }
    kept.into_iter().map(|(group, _)| group).collect()
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
}
