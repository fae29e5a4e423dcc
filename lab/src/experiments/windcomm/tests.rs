use super::{WindComm, settings::Settings};
use crate::experiment::{Cell, Choice, Experiment, Method};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

fn experiment() -> Experiment {
    Experiment::parse(WindComm.declaration()).expect("the declaration")
}

fn cells(plan: &str, repeat: usize) -> Vec<Cell> {
    let choice = Choice { plan: plan.into(), set: BTreeMap::new(), only: BTreeMap::new(), repeat };
    choice.cells(&experiment()).expect("cells")
}

/// Returns the settings of the plan without flags.
pub fn settings(door: &str) -> Settings {
    let cell = cells("default", 1).into_iter().find(|cell| cell.server == door).expect("a cell");
    Settings::of(&cell).expect("settings")
}

#[test]
fn the_paper_has_36_runs_of_1200_readings() {
    let cells = cells("paper", 3);
    let of_the_paper = cells.iter().filter(|cell| cell.title == "One after another");
    assert_eq!(of_the_paper.count(), 36);
    assert!(cells.iter().all(|cell| Settings::of(cell).expect("settings").readings == 1_200));
}

#[test]
fn the_quick_plan_takes_less_than_five_minutes() {
    let cells = cells("quick", 1);
    let length: Duration = cells.iter().map(|cell| WindComm.expected(cell)).sum();
    assert!(length < Duration::from_secs(290), "{} cells, {length:?}", cells.len());
}

#[test]
fn every_figure_and_table_of_the_paper_is_in_the_index() {
    let numbers: BTreeSet<String> = experiment().figures.into_iter().map(|figure| figure.number).collect();
    for number in ["1", "2", "table 1"] {
        assert!(numbers.contains(number), "{number}");
    }
    // Table 1: four cities, three tests, three doors; mean, deviation and ratio.
    let facts = experiment().facts;
    let table: Vec<_> = facts.iter().filter(|fact| fact.place.starts_with("Table 1, ")).collect();
    let printed: usize = table.iter().map(|fact| fact.paper.len()).sum();
    assert_eq!((table.len(), printed), (36, 4 * 3 * (3 + 3 + 2)));
}
