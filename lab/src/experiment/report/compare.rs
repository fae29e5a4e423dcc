//! Two runs side by side.

use super::{
    super::folder::RunFolder,
    estimate::number,
    groups::{Group, Groups},
};
use crate::table::{Table, ratio};
use std::slice;

/// Measures of every cell that both runs have, as Markdown: before, after, and their ratio.
pub fn compare(before: &RunFolder, after: &RunFolder) -> anyhow::Result<String> {
    let groups = [Groups::of(slice::from_ref(before))?, Groups::of(slice::from_ref(after))?];
    let [old, new] = &groups;
    let mut table = Table::new(["cell", "measure", "before", "after", "ratio"]);
    let mut compared = 0;
    for group in &old.0 {
        let Some(other) = new.0.iter().find(|other| other.cell.key() == group.cell.key()) else { continue };
        compared += 1;
        rows(&mut table, group, other);
    }
    let [name, other] = [before, after].map(|run| run.path().display());
    let alone = old.0.len() + new.0.len() - 2 * compared;
    Ok(format!("# {name} and {other}\n\n{table}\n{compared} cells compared, {alone} in one run only.\n"))
}

fn rows(table: &mut Table, before: &Group, after: &Group) {
    let measures = before.measured().next().map(|measured| measured.measures.keys());
    for measure in measures.into_iter().flatten() {
        let (Some(old), Some(new)) = (before.estimate(measure), after.estimate(measure)) else { continue };
        let change = (old.median != 0.0).then(|| new.median / old.median);
        let cell = before.cell.id.clone();
        table.row(vec![cell, measure.clone(), number(old.median), number(new.median), ratio(change)]);
    }
}
